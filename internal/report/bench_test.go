package report

import (
	"io"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// BenchmarkMatrix is the cost of making the whole matrix and of writing it.
func BenchmarkMatrix(b *testing.B) {
	t := inference.Builtin()
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			NewMatrixByLine(Head{}, t, capability.All(), nil)
		}
	})
	m := NewMatrixByLine(Head{}, t, capability.All(), nil)
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			if err := m.Text(io.Discard, Style{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
