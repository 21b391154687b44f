package source

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
)

// maxFile is the largest file of a module that is read.
const maxFile = 64 << 20

// Zip returns the tree of a module as the Go client fetches it: a zip file in
// which every name begins with MODULE@VERSION/.
func Zip(name string) (*Tree, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	z := &zipped{trees: map[string][]Entry{"": nil}, files: map[string]*zip.File{}}
	for _, f := range archive.File {
		at := strings.Index(f.Name, "@")
		slash := strings.Index(f.Name[max(at, 0):], "/")
		if at < 0 || slash < 0 || strings.HasSuffix(f.Name, "/") {
			return nil, fmt.Errorf("%s: %q is no file of a module: want MODULE@VERSION/FILE", name, f.Name)
		}
		z.add(f, path.Clean(f.Name[at+slash+1:]))
	}
	return &Tree{store: z}, nil
}

// zipped is a zip file as a store. The hash of a directory is its path, that of
// a file its path with a mark.
type zipped struct {
	trees map[string][]Entry
	files map[string]*zip.File
}

const fileMark = "file:"

func (z *zipped) add(f *zip.File, name string) {
	hash := fileMark + name
	if z.files[hash] != nil {
		return
	}
	z.files[hash] = f
	entry := Entry{Name: path.Base(name), Hash: hash}
	for {
		dir := path.Dir(name)
		if dir == "." {
			dir = ""
		}
		_, known := z.trees[dir]
		z.trees[dir] = append(z.trees[dir], entry)
		if known {
			return
		}
		name, entry = dir, Entry{Name: path.Base(dir), Hash: dir, Dir: true}
	}
}

func (z *zipped) Tree(hash string) ([]Entry, error) {
	entries, ok := z.trees[hash]
	if !ok {
		return nil, fmt.Errorf("%s: %w", hash, gitrepo.ErrMissing)
	}
	return entries, nil
}

func (z *zipped) Blob(hash string) ([]byte, error) {
	f, ok := z.files[hash]
	if !ok {
		return nil, fmt.Errorf("%s: %w", hash, gitrepo.ErrMissing)
	}
	if f.UncompressedSize64 > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", f.Name, maxFile)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return data, nil
}
