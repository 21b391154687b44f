// Package source presents the files of one release, wherever they are: in a
// git repository, or in an extracted Go module. Directories and files are
// known by hashes of their content, so that what is the same in two releases
// is read and parsed once.
package source

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
)

// Entry is a file or a directory of a release.
type Entry = gitrepo.Entry

// store holds blobs and trees by hash.
type store interface {
	Tree(hash string) ([]Entry, error)
	Blob(hash string) ([]byte, error)
}

// Tree is a directory of a release with everything below it.
type Tree struct {
	store store
	root  string
	// prefix stands before each path in evidence.
	prefix string
}

// Git returns the tree of a tag, branch or commit of a repository.
func Git(repo *gitrepo.Repo, rev string) (*Tree, error) {
	root, err := repo.Root(rev)
	if err != nil {
		return nil, err
	}
	return &Tree{store: repo, root: root}, nil
}

// Dir returns the tree of a directory on disk, such as an extracted module.
func Dir(dir string) (*Tree, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	top, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := &disk{trees: map[string][]Entry{}, files: map[string]string{}}
	return &Tree{store: d, root: dirMark + top}, nil
}

// WithPrefix returns the same tree, with another prefix in evidence.
func (t *Tree) WithPrefix(prefix string) *Tree {
	out := *t
	out.prefix = prefix
	return &out
}

// Sub returns the tree below a directory; its evidence has paths of t. The
// error is [fs.ErrNotExist] if there is no such directory.
func (t *Tree) Sub(dir string) (*Tree, error) {
	e, err := t.find(dir)
	if err != nil {
		return nil, err
	}
	if !e.Dir {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	return &Tree{t.store, e.Hash, t.Path(dir) + "/"}, nil
}

// Path is how a file is named in evidence.
func (t *Tree) Path(name string) string { return t.prefix + name }

// List returns the entries of a directory, "" for the top.
func (t *Tree) List(dir string) ([]Entry, error) {
	e, err := t.find(dir)
	if err != nil {
		return nil, err
	}
	if !e.Dir {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	return t.store.Tree(e.Hash)
}

// Hash names the content of a directory or file.
func (t *Tree) Hash(name string) (string, error) {
	e, err := t.find(name)
	return e.Hash, err
}

// Read returns a file. The error is [fs.ErrNotExist] if the release has none,
// [gitrepo.ErrMissing] if it has one whose content is not there.
func (t *Tree) Read(name string) ([]byte, error) {
	e, err := t.find(name)
	if err != nil {
		return nil, err
	}
	if e.Dir {
		return nil, fmt.Errorf("%s is a directory", name)
	}
	return t.store.Blob(e.Hash)
}

// Exists tells whether the release has the file or directory.
func (t *Tree) Exists(name string) (bool, error) {
	_, err := t.find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (t *Tree) find(name string) (Entry, error) {
	at := Entry{Hash: t.root, Dir: true}
	if name == "" || name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if !at.Dir {
			return at, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		entries, err := t.store.Tree(at.Hash)
		if err != nil {
			return at, err
		}
		found := false
		for _, e := range entries {
			if e.Name == part {
				at, found = e, true
				break
			}
		}
		if !found {
			return at, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
	}
	return at, nil
}

// disk is a directory as a store. The hash of a file is the one git would
// give it; the hash of a directory is its path, with a mark.
type disk struct {
	trees map[string][]Entry
	files map[string]string // where a blob can be read
}

const dirMark = "dir:"

func (d *disk) Tree(hash string) ([]Entry, error) {
	if known, ok := d.trees[hash]; ok {
		return known, nil
	}
	dir := strings.TrimPrefix(hash, dirMark)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			out = append(out, Entry{Name: e.Name(), Hash: dirMark + name, Dir: true})
		case e.Type().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			hash := blobHash(data)
			d.files[hash] = name
			out = append(out, Entry{Name: e.Name(), Hash: hash})
		}
	}
	d.trees[hash] = out
	return out, nil
}

func (d *disk) Blob(hash string) ([]byte, error) {
	name, ok := d.files[hash]
	if !ok {
		return nil, fmt.Errorf("%s: %w", hash, gitrepo.ErrMissing)
	}
	return os.ReadFile(name)
}

func blobHash(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
