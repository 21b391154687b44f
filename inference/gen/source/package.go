package source

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
)

// Package is a Go package of a release as it is built for linux/amd64,
// without its tests.
type Package struct {
	Fset  *token.FileSet
	Files []*ast.File
	// Types and Info tell what names mean, as far as that can be said without
	// the packages that were not given to [Load]. What depends on those has no
	// type.
	Types *types.Package
	Info  *types.Info
	// Unread are the files that could not be read or parsed; what they would
	// have said is not known.
	Unread []string
}

// Line returns the line of a position as "file:line", the file relative to
// the tree the package was loaded from.
func (p *Package) Line(pos token.Pos) string {
	at := p.Fset.Position(pos)
	return at.Filename + ":" + strconv.Itoa(at.Line)
}

// Selection says which files make up a package.
type Selection struct {
	// Dir is the directory of the package.
	Dir string
	// Only are the files to read, all if empty.
	Only []string
	// Skip are parts of names of files that are not read.
	Skip []string
}

// names returns the files of the selection, sorted, with their hashes.
func (s Selection) names(t *Tree) (map[string]string, error) {
	list, err := t.List(s.Dir)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, e := range list {
		skipped := slices.ContainsFunc(s.Skip, func(part string) bool { return strings.Contains(e.Name, part) })
		if e.Dir || skipped || !strings.HasSuffix(e.Name, ".go") || strings.HasSuffix(e.Name, "_test.go") {
			continue
		}
		if len(s.Only) > 0 && !slices.Contains(s.Only, e.Name) {
			continue
		}
		out[path.Join(s.Dir, e.Name)] = e.Hash
	}
	return out, nil
}

// Key names the content of the selected files: it is the same in two trees in
// which they are.
func (s Selection) Key(t *Tree) (string, error) {
	names, err := s.names(t)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b.WriteString(name + " " + names[name] + "\n")
	}
	return b.String(), nil
}

// Importer finds the packages that a package may look into; nil for those it
// has to do without.
type Importer func(importPath string) *types.Package

// Import implements [types.Importer]: packages that are not known are empty.
func (f Importer) Import(importPath string) (*types.Package, error) {
	if f != nil {
		if p := f(importPath); p != nil {
			return p, nil
		}
	}
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p, nil
}

// Load reads, parses and checks a package. The error is [fs.ErrNotExist] if
// the release has no such directory; a file that cannot be read or parsed is
// no error, see [Package.Unread].
func Load(t *Tree, s Selection, importPath string, imports Importer) (*Package, error) {
	names, err := s.names(t)
	if err != nil {
		return nil, err
	}
	p := &Package{Fset: token.NewFileSet()}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		data, err := t.store.Blob(names[name])
		switch {
		case errors.Is(err, gitrepo.ErrMissing):
			p.Unread = append(p.Unread, name)
			continue
		case err != nil:
			return nil, err
		}
		if !built(path.Base(name), data) {
			continue
		}
		file, err := parser.ParseFile(p.Fset, name, data, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			p.Unread = append(p.Unread, name)
			continue
		}
		p.Files = append(p.Files, file)
	}
	p.Info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Uses:       map[*ast.Ident]types.Object{},
		Defs:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{
		Importer:                 imports,
		Error:                    func(error) {}, // what is unresolved simply has no type
		DisableUnusedImportCheck: true,
	}
	p.Types, _ = config.Check(importPath, p.Fset, p.Files, p.Info)
	return p, nil
}

// built tells whether a file belongs to a build for linux/amd64.
func built(name string, data []byte) bool {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", true
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	ok, err := ctx.MatchFile("/", name)
	return ok || err != nil // a file that cannot be judged is parsed, which finds out
}

// FirstDir returns the first of the directories that the release has, ""
// if it has none.
func (t *Tree) FirstDir(dirs ...string) (string, error) {
	for _, dir := range dirs {
		_, err := t.List(dir)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}
