package source

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
)

// zipOf writes a zip file with some files, each below a prefix.
func zipOf(t testing.TB, prefix string, files map[string]string) (name string) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for file, text := range files {
		out, err := w.Create(prefix + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(t.TempDir(), "module.zip")
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestZipErrors: what is no zip file of a module is said so in one line.
func TestZipErrors(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.zip")
	text := filepath.Join(t.TempDir(), "text.zip")
	if err := os.WriteFile(text, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		none: "no such file",
		text: "not a valid zip file",
		zipOf(t, "", map[string]string{"a.go": "package a"}):                     `"a.go" is no file of a module: want MODULE@VERSION/FILE`,
		zipOf(t, "example.com/a@v1.0.0", map[string]string{"": "package"}):       `is no file of a module`,
		zipOf(t, "example.com/a@v1.0.0/", map[string]string{"/a.go": "package"}): `is no file of a module`,
	} {
		if _, err := Zip(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestZipLies: a file that is larger than its archive says is an error, not a part
// of the file.
func TestZipLies(t *testing.T) {
	var packed, b bytes.Buffer
	deflate, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deflate.Write(make([]byte, maxFile+2)); err != nil {
		t.Fatal(err)
	}
	if err := deflate.Close(); err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(&b)
	out, err := w.CreateRaw(&zip.FileHeader{Name: "m@v1.0.0/a.go", Method: zip.Deflate, CompressedSize64: uint64(packed.Len()), UncompressedSize64: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "module.zip")
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := Zip(name)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := tree.Read("a.go"); err == nil {
		t.Errorf("%d bytes of it were read", len(data))
	}
}

// FuzzZip: whatever a file has, all that is listed is a file or a directory, and
// walking it ends.
func FuzzZip(f *testing.F) {
	data, err := os.ReadFile(zipOf(f, "example.com/m@v1.0.0/", map[string]string{"p/a.go": "package p", "q/r/b.go": "package r", "go.mod": "module m"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "module.zip")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := Zip(name)
		if err != nil {
			return
		}
		var walk func(hash string, depth int)
		walk = func(hash string, depth int) {
			if depth > len(data) {
				t.Fatal("the directories have no end")
			}
			entries, err := tree.store.Tree(hash)
			if errors.Is(err, gitrepo.ErrMissing) {
				t.Fatalf("%q is listed but not there: %v", hash, err)
			}
			for _, e := range entries {
				if e.Dir {
					walk(e.Hash, depth+1)
				} else if _, err := tree.store.Blob(e.Hash); err != nil {
					t.Fatalf("%q is listed but cannot be read: %v", e.Name, err)
				}
			}
		}
		walk(tree.root, 0)
	})
}
