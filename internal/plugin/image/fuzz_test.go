package image

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"
	"testing"
)

// FuzzLayer: whatever a layer holds, reading it ends, and every file it adds
// has a clean absolute path under which it is found again.
func FuzzLayer(f *testing.F) {
	f.Add(archiveOf(f, "a/b", elf, "c -> a", "", "c/d", elf, "e => a/b", "", "a/.wh.b", "", "a/.wh..wh..opq", ""))
	f.Add(archiveOf(f, "../../x", elf, "y -> ../../..", "", "y/y/z", elf, "-nri-compat.yaml", "x"))
	f.Add(archiveOf(f, ".wh.", "", ".wh...", "", "./", "", "/", "", "a/", "", "a", elf, "a/b", elf))
	f.Add(gzipped(f, archiveOf(f, "a", elf)))
	f.Add(zstded(f, archiveOf(f, "a", elf)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree := newTree()
		// The same layer twice: the second time everything is there already.
		for tree.layer = range 2 {
			l := layer{size: int64(len(data)), open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(data)), nil
			}}
			budget := &budget{16 << 20}
			_ = l.read(context.Background(), &meter{}, budget, true, func(e entry) (bool, error) { return true, tree.add(e) })
		}
		tree.each(func(name string, file *file) {
			if name != path.Clean(name) || !strings.HasPrefix(name, "/") || strings.Contains(name+"/", "/../") {
				t.Errorf("path %q", name)
			}
			if n, real := tree.lookup(name); n == nil || n.file != file || real != name {
				t.Errorf("%q is not found again", name)
			}
		})
	})
}
