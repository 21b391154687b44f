package gomod

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// File is a go.mod file. It never changes; what would change it returns a
// [Plan].
type File struct {
	name string
	data []byte
}

// Plan is a changed go.mod file, and what is changed in it.
type Plan struct {
	// Changes are in the order of their modules, those of require lines first.
	Changes []Change
	// Foreign are modules that somebody replaced by something else than
	// themselves, sorted. They are left as they are.
	Foreign []string
	// Data is the whole changed file; the file itself if nothing changes.
	Data []byte
}

// Change is one directive that is added, changed or dropped.
type Change struct {
	Directive string // "require" or "replace"
	Module    string
	// From and To are the versions before and after; From is empty for a
	// directive that is added, To for one that is dropped.
	From, To string
}

// Parse reads a go.mod file. The name is for errors, which say the line.
func Parse(name string, data []byte) (*File, error) {
	f := &File{name, data}
	if _, err := f.parse(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) parse() (*modfile.File, error) {
	m, err := modfile.Parse(f.name, f.data, nil)
	if err != nil {
		return nil, err
	}
	if m.Module == nil {
		return nil, fmt.Errorf("%s: no module directive: it is no go.mod of a module", f.name)
	}
	return m, nil
}

// mod returns the file as a tree of its own, to be changed.
func (f *File) mod() *modfile.File {
	m, err := f.parse()
	if err != nil {
		// Parse did the same with the same bytes.
		panic(fmt.Sprintf("gomod: %v", err))
	}
	return m
}

// Go is the version of the go directive; empty if there is none.
func (f *File) Go() string {
	if m := f.mod(); m.Go != nil {
		return m.Go.Version
	}
	return ""
}

// Version is the version of a module that the file names: the one it is
// replaced by, else the one it requires. It is empty if the file does not
// require the module, or if it is replaced by something else.
func (f *File) Version(path string) string {
	m := f.mod()
	r := replacement(m, path)
	for _, req := range m.Require {
		if req.Mod.Path == path && !r.foreign {
			return cmp.Or(r.version, req.Mod.Version)
		}
	}
	return ""
}

// Requires tells whether the file requires a module.
func (f *File) Requires(path string) bool {
	return slices.ContainsFunc(f.mod().Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
}

// Pins returns the staging modules that the file replaces by a version of
// themselves, sorted.
func (f *File) Pins() []string {
	m := f.mod()
	var pins []string
	for _, path := range everStaging() {
		if r := replacement(m, path); r.version != "" && !r.foreign {
			pins = append(pins, path)
		}
	}
	return pins
}

// Diff returns the changes as a unified diff, empty if there are none.
func (f *File) Diff(p Plan) []byte {
	return diff.Diff(f.name, f.data, f.name, p.Data)
}

// plan formats what was made of the file.
func (f *File) plan(m *modfile.File, p Plan) (Plan, error) {
	p.Data = f.data
	if len(p.Changes) > 0 {
		gather(m.Syntax, f.mod().Syntax)
		m.Cleanup()
		data, err := m.Format()
		if err != nil {
			return Plan{}, fmt.Errorf("%s: %w", f.name, err)
		}
		p.Data = data
	}
	slices.SortStableFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Directive, a.Directive), cmp.Compare(a.Module, b.Module))
	})
	return p, nil
}

// replaced is what the replace directives of a file make of a module.
type replaced struct {
	version string // of the module itself; empty if there is no directive
	foreign bool   // by a directory, or another module
	exact   bool   // one directive, for every version
}

func replacement(m *modfile.File, path string) replaced {
	var r replaced
	n := 0
	for _, rep := range m.Replace {
		if rep.Old.Path != path {
			continue
		}
		n++
		r.foreign = r.foreign || rep.New.Path != path
		r.exact = n == 1 && rep.Old.Version == ""
		if r.version == "" || semver.Compare(rep.New.Version, r.version) > 0 {
			r.version = rep.New.Version
		}
	}
	return r
}

// gather puts the replace directives that were appended to a file one by one
// into its last block of them, or into a block of their own.
func gather(now, before *modfile.FileSyntax) {
	var block *modfile.LineBlock
	old := map[modfile.Position]bool{}
	for _, stmt := range before.Stmt {
		start, _ := stmt.Span()
		old[start] = true
	}
	var rest []modfile.Expr
	var lines []*modfile.Line
	for _, stmt := range now.Stmt {
		start, _ := stmt.Span()
		switch s := stmt.(type) {
		case *modfile.LineBlock:
			if slices.Equal(s.Token, []string{"replace"}) {
				block = s
			}
		case *modfile.Line:
			if len(s.Token) > 1 && s.Token[0] == "replace" && !old[start] {
				s.Token, s.InBlock = s.Token[1:], true
				lines = append(lines, s)
				continue
			}
		}
		rest = append(rest, stmt)
	}
	if len(lines) == 0 {
		return
	}
	if block == nil {
		block = &modfile.LineBlock{Token: []string{"replace"}}
		rest = append(rest, block)
	}
	block.Line = append(block.Line, lines...)
	now.Stmt = rest
}
