package kubelet

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// code is the Go source of some directories. It is parsed, not type-checked:
// what Kubernetes imports is not at hand. A name is known by the import that it
// is qualified with, a function by its name.
type code struct {
	fset  *token.FileSet
	files []*file
	// every are all functions, funcs the same by name.
	every []*fn
	funcs map[string][]*fn
	// found are the directories that the release has.
	found []string
	// unread are files that could not be read or parsed.
	unread []string
}

// file is a parsed file with its imports, by the name they have in it.
type file struct {
	*ast.File
	imports map[string]string
}

// fn is a function or a method.
type fn struct {
	*ast.FuncDecl
	in *file
}

// place is a directory with the files that count in it, all if none is named.
type place struct {
	dir   string
	files []string
}

// load reads the Go files of some places, without tests and stand-ins. A place
// that the release does not have is left out.
func load(t *source.Tree, places ...place) (*code, error) {
	c := &code{fset: token.NewFileSet(), funcs: map[string][]*fn{}}
	for _, p := range places {
		entries, err := t.List(p.dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.found = append(c.found, p.dir)
		for _, e := range entries {
			if e.Dir || !counts(e.Name) || len(p.files) > 0 && !slices.Contains(p.files, e.Name) {
				continue
			}
			if err := c.add(t, path.Join(p.dir, e.Name)); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// counts tells whether a file is part of the kubelet: a stub of the device
// plugin or of a manager does for tests what the real one does.
func counts(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "stub") && !strings.HasPrefix(name, "fake_")
}

func (c *code) add(t *source.Tree, name string) error {
	data, err := t.Read(name)
	if errors.Is(err, gitrepo.ErrMissing) {
		c.unread = append(c.unread, t.Path(name))
		return nil
	}
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(c.fset, t.Path(name), data, parser.SkipObjectResolution)
	if err != nil {
		c.unread = append(c.unread, t.Path(name))
		return nil
	}
	f := &file{parsed, map[string]string{}}
	for _, s := range parsed.Imports {
		imported, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue // the parser takes no such import
		}
		local := path.Base(imported)
		if s.Name != nil {
			local = s.Name.Name
		}
		f.imports[local] = imported
	}
	c.files = append(c.files, f)
	for _, d := range parsed.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			known := &fn{d, f}
			c.every = append(c.every, known)
			c.funcs[d.Name.Name] = append(c.funcs[d.Name.Name], known)
		}
	}
	return nil
}

// has tells whether the release has a directory.
func (c *code) has(dir string) bool { return slices.Contains(c.found, dir) }

// line is a position as "file:line".
func (c *code) line(n ast.Node) string {
	at := c.fset.Position(n.Pos())
	return at.Filename + ":" + strconv.Itoa(at.Line)
}

// broken says that files are missing from the code, if any are.
func (c *code) broken() (verdict, bool) {
	if len(c.unread) == 0 {
		return verdict{}, false
	}
	return unclear("%s cannot be read or parsed", strings.Join(c.unread, ", ")), true
}

// from is the import path of the package that qualifies a selector, such as
// that of api in api.Version; empty if a value does.
func (f *file) from(e ast.Expr) string {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return f.imports[id.Name]
}

// each calls a function for every node of a file.
func (c *code) each(visit func(f *file, n ast.Node)) {
	for _, f := range c.files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			if n != nil {
				visit(f, n)
			}
			return n != nil
		})
	}
}

// qualified finds the places where a name of an imported package is used. The
// package is known by the end of its path.
func (c *code) qualified(pkg, name string) []ast.Node {
	var out []ast.Node
	c.each(func(f *file, n ast.Node) {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == name && within(f.from(s), pkg) {
			out = append(out, s)
		}
	})
	return out
}

// within tells whether a path is, or ends with, other path elements.
func within(importPath, end string) bool {
	return importPath == end || strings.HasSuffix(importPath, "/"+end)
}

// structType returns the declaration of a struct, nil if there is none.
func (c *code) structType(name string) *ast.StructType {
	s, _ := c.typeOf(name).(*ast.StructType)
	return s
}

// typeOf returns what a type is declared as, nil if it is not.
func (c *code) typeOf(name string) (out ast.Expr) {
	c.each(func(_ *file, n ast.Node) {
		if s, ok := n.(*ast.TypeSpec); ok && s.Name.Name == name {
			out = s.Type
		}
	})
	return out
}

// constant returns the value of a constant that is declared as a literal.
func (c *code) constant(name string) (value string, at ast.Node) {
	c.each(func(_ *file, n ast.Node) {
		s, ok := n.(*ast.ValueSpec)
		if !ok {
			return
		}
		for i, id := range s.Names {
			if id.Name == name && i < len(s.Values) {
				if lit, ok := s.Values[i].(*ast.BasicLit); ok {
					value, at = literal(lit), id
				}
			}
		}
	})
	return value, at
}

// literal is the value of a literal, without its quotes.
func literal(lit *ast.BasicLit) string {
	if lit.Kind == token.STRING {
		if s, err := strconv.Unquote(lit.Value); err == nil {
			return s
		}
	}
	return lit.Value
}
