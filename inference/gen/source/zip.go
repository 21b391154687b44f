package source

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
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
	z := &zipped{
		dirs:  map[string][]*zip.File{"": nil},
		below: map[string][]string{},
		mark:  dirMark + name + "!",
		trees: map[string][]Entry{},
		blobs: map[string]*zip.File{},
	}
	seen := map[string]bool{}
	for _, f := range archive.File {
		_, version, _ := strings.Cut(f.Name, "@")
		_, inside, _ := strings.Cut(version, "/")
		if !fs.ValidPath(inside) || inside == "." {
			return nil, fmt.Errorf("%s: %q is no file of a module: want MODULE@VERSION/FILE", name, f.Name)
		}
		if !seen[inside] {
			seen[inside] = true
			z.add(f, inside)
		}
	}
	return &Tree{store: z, root: z.mark}, nil
}

// zipped is a zip file as a store. The hash of a file is the one git would give
// it; the hash of a directory is its path, with a mark.
type zipped struct {
	dirs  map[string][]*zip.File // the files of each directory
	below map[string][]string    // the names of the directories in each
	mark  string
	trees map[string][]Entry
	blobs map[string]*zip.File
}

func (z *zipped) add(f *zip.File, name string) {
	dir := parent(name)
	_, known := z.dirs[dir]
	z.dirs[dir] = append(z.dirs[dir], f)
	for !known {
		above := parent(dir)
		z.below[above] = append(z.below[above], path.Base(dir))
		dir = above
		if _, known = z.dirs[dir]; !known {
			z.dirs[dir] = nil
		}
	}
}

// parent is the directory of a file, "" for the top.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

func (z *zipped) Tree(hash string) ([]Entry, error) {
	if known, ok := z.trees[hash]; ok {
		return known, nil
	}
	dir, ok := strings.CutPrefix(hash, z.mark)
	files, known := z.dirs[dir]
	if !ok || !known {
		return nil, fmt.Errorf("%s: %w", hash, gitrepo.ErrMissing)
	}
	var out []Entry
	for _, name := range z.below[dir] {
		out = append(out, Entry{Name: name, Hash: z.mark + path.Join(dir, name), Dir: true})
	}
	for _, f := range files {
		data, err := readFile(f)
		if err != nil {
			return nil, err
		}
		hash := blobHash(data)
		z.blobs[hash] = f
		out = append(out, Entry{Name: path.Base(f.Name), Hash: hash})
	}
	z.trees[hash] = out
	return out, nil
}

func (z *zipped) Blob(hash string) ([]byte, error) {
	f, ok := z.blobs[hash]
	if !ok {
		return nil, fmt.Errorf("%s: %w", hash, gitrepo.ErrMissing)
	}
	return readFile(f)
}

func readFile(f *zip.File) ([]byte, error) {
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
