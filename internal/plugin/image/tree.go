package image

import (
	"archive/tar"
	"fmt"
	"io"
	"path"
	"strings"
)

const (
	maxLinks     = 40 // symbolic links followed for one path, as in Linux
	maxPath      = 4096
	maxDepth     = 1024 // directories below each other
	whiteout     = ".wh."
	opaqueMarker = ".wh..wh..opq"
)

// tree is the file system that the layers add up to, as far as it matters here:
// directories, symbolic links, files that can be executed and manifests.
type tree struct {
	root  *node
	layer int // the layer that is being added
	names int // added so far, directories that had to be made included
}

// node is a directory if children is not nil, a symbolic link if target is not
// empty, and a file otherwise.
type node struct {
	layer    int
	children map[string]*node
	target   string
	file     *file
}

// file is the content behind one or more names.
type file struct {
	layer, number int // where the content is
	size          int64
	executable    bool
	content       []byte // of a manifest only
}

func newTree() *tree { return &tree{root: &node{children: map[string]*node{}}} }

// add applies one entry of a layer, in the way a runtime unpacks it.
func (t *tree) add(e entry) error {
	if err := t.count(); err != nil {
		return err
	}
	if n := max(len(e.header.Name), len(e.header.Linkname)); n > maxPath {
		return fmt.Errorf("a name of %d bytes, more than the %d that Linux takes", n, maxPath)
	}
	name := path.Clean("/" + e.header.Name)
	dir, base := path.Split(name)
	if strings.HasPrefix(base, whiteout) {
		t.whiteout(dir, base)
		return nil
	}
	if name == "/" {
		return nil
	}
	n, err := t.newNode(e, base)
	if err != nil {
		return err
	}
	parent, _ := t.lookup(dir)
	if n == nil && (parent == nil || parent.children == nil) {
		return nil // nothing to store and nothing to replace
	}
	if parent, err = t.makeDir(dir); err != nil {
		return err
	}
	t.put(parent, base, n, e.header.Typeflag)
	return nil
}

func (t *tree) put(parent *node, base string, n *node, kind byte) {
	old := parent.children[base]
	switch {
	case kind == tar.TypeDir && old != nil && old.children != nil:
		old.layer = t.layer // a directory that is there stays, with what is in it
	case n == nil:
		delete(parent.children, base)
	default:
		parent.children[base] = n
	}
}

// newNode makes the node for an entry; nil if it need not be stored.
func (t *tree) newNode(e entry, base string) (*node, error) {
	switch e.header.Typeflag {
	case tar.TypeSymlink:
		if e.header.Linkname == "" {
			return nil, nil
		}
		return &node{layer: t.layer, target: e.header.Linkname}, nil
	case tar.TypeLink:
		if old := t.find(path.Clean("/" + e.header.Linkname)); old != nil && old.children == nil {
			return &node{layer: t.layer, file: old.file, target: old.target}, nil
		}
	case tar.TypeReg, tar.TypeGNUSparse:
		f := &file{layer: t.layer, number: e.number, size: e.header.Size, executable: e.header.Mode&0o111 != 0}
		if base == ManifestName {
			var err error
			if f.content, err = io.ReadAll(io.LimitReader(e, maxManifest)); err != nil {
				return nil, err
			}
		}
		if f.executable || f.content != nil {
			return &node{layer: t.layer, file: f}, nil
		}
	}
	return nil, nil
}

// whiteout removes what lower layers have: one name, or all that is in a
// directory. What the same layer adds stays, in whatever order it comes.
func (t *tree) whiteout(dir, base string) {
	parent, _ := t.lookup(dir)
	if parent == nil || parent.children == nil {
		return
	}
	if base == opaqueMarker {
		t.prune(parent)
		return
	}
	name := strings.TrimPrefix(base, whiteout)
	if n := parent.children[name]; n != nil && t.prune(n) {
		delete(parent.children, name)
	}
}

// prune removes what is from lower layers and tells whether n itself can go.
func (t *tree) prune(n *node) bool {
	for name, child := range n.children {
		if t.prune(child) {
			delete(n.children, name)
		}
	}
	return n.layer < t.layer && len(n.children) == 0
}

// find returns the node with the given name itself: links in the directories
// are followed, a link at the end is not.
func (t *tree) find(name string) *node {
	dir, base := path.Split(name)
	if base == "" {
		return t.root
	}
	if parent, _ := t.lookup(dir); parent != nil {
		return parent.children[base]
	}
	return nil
}

// lookup returns what is at a path after following links, and its path without
// links; nil if nothing is there.
func (t *tree) lookup(name string) (*node, string) {
	n, real, err := t.walk(name, false)
	if err != nil {
		return nil, ""
	}
	return n, real
}

// makeDir returns the directory at a path and makes it where it is not there.
func (t *tree) makeDir(name string) (*node, error) {
	n, _, err := t.walk(name, true)
	return n, err
}

// count counts one more name.
func (t *tree) count() error {
	if t.names++; t.names > maxNames {
		return limitError(fmt.Sprintf("more than %d names in its layers: not read further", maxNames))
	}
	return nil
}

// walk follows a path from the root, links included, as inside a container: no
// link and no ".." leads out. It returns the node, nil if it is not there, and
// its path without links.
func (t *tree) walk(name string, create bool) (*node, string, error) {
	type step struct {
		*node
		name string
	}
	at := []step{{t.root, ""}}
	todo := strings.Split(name, "/")
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			at = at[:max(1, len(at)-1)]
			continue
		}
		dir := at[len(at)-1].node
		n := dir.children[part]
		if n != nil && n.target != "" {
			if links++; links > maxLinks {
				return nil, "", fmt.Errorf("%.100q: more than %d symbolic links in its path", name, maxLinks)
			}
			if strings.HasPrefix(n.target, "/") {
				at = at[:1]
			}
			todo = append(strings.Split(n.target, "/"), todo...)
			continue
		}
		if create && (n == nil || n.children == nil) {
			if err := t.count(); err != nil {
				return nil, "", err
			}
			if len(at) > maxDepth {
				return nil, "", limitError(fmt.Sprintf("directories more than %d deep: not read further", maxDepth))
			}
			n = &node{layer: t.layer, children: map[string]*node{}}
			dir.children[part] = n
		}
		if n == nil {
			return nil, "", nil
		}
		at = append(at, step{n, part})
	}
	var b strings.Builder
	for _, s := range at[1:] {
		b.WriteString("/" + s.name)
	}
	return at[len(at)-1].node, b.String(), nil
}

// each calls visit for every name of every file.
func (t *tree) each(visit func(name string, f *file)) {
	var in func(name string, n *node)
	in = func(name string, n *node) {
		if n.file != nil {
			visit(name, n.file)
		}
		for child, c := range n.children {
			in(name+"/"+child, c)
		}
	}
	in("", t.root)
}
