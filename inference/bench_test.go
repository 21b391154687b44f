package inference

import (
	"sync"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// BenchmarkDecode is the cost of reading all ranges of the table, and of one.
func BenchmarkDecode(b *testing.B) {
	_, lines, _ := splitRanges(builtinJSON)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			t := textRanges{lines, new(sync.Map)}
			for _, id := range capability.All() {
				for _, name := range Runtimes() {
					t.ranges(id, name, "")
				}
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			textRanges{lines, new(sync.Map)}.ranges(capability.AdjustCDIDevices, Containerd, "2.1")
		}
	})
}
