package probe

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"io/fs"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// The packages of the NRI library, relative to the module.
const (
	apiDir        = "pkg/api"
	adaptationDir = "pkg/adaptation"
	generateDir   = "pkg/runtime-tools/generate"
)

const nriModule = "github.com/containerd/nri"

// library is the part of the NRI library that a runtime runs.
type library struct {
	api, adaptation, generate *code
}

// Library is what was found out about one version of the NRI library. It
// holds no syntax any more.
type Library struct {
	// verdicts are those of adjustments, and of what else the library alone decides.
	verdicts map[capability.ID]Verdict
	// facts are the answers to other questions, by name.
	facts map[string]Verdict
	// events are the values of the events, by name such as "RUN_POD_SANDBOX".
	events map[string]Verdict
	// inputs are the fields that FromOCILinuxResources fills in.
	inputs map[string]Verdict
	// toOCI and toCRI are the fields of resources that the library's own
	// conversions for updates read.
	toOCI, toCRI map[string]Verdict
	// fromCRI are the fields that the library's own conversion of a CRI update
	// request fills in.
	fromCRI map[string]Verdict

	apiTypes, adaptationTypes *types.Package
}

// LibraryKey names the content of everything that [ReadLibrary] reads.
func LibraryKey(t *source.Tree) (string, error) {
	var key strings.Builder
	for _, s := range librarySelections() {
		k, err := s.Key(t)
		if err != nil {
			return "", err
		}
		key.WriteString(k)
	}
	return key.String(), nil
}

func librarySelections() []source.Selection {
	return []source.Selection{
		// What was generated for WebAssembly and for a faster encoding has no
		// part in what becomes of a capability, and is the greater part.
		{Dir: apiDir, Skip: []string{"_vtproto.pb.go", "_host.pb.go", "_plugin.pb.go", "_options.pb.go"}},
		{Dir: adaptationDir},
		{Dir: generateDir},
	}
}

// ReadLibrary reads the NRI library in a tree whose top is its module. The
// error is [fs.ErrNotExist] if it is no NRI with a socket.
func ReadLibrary(t *source.Tree) (*Library, error) {
	s := librarySelections()
	api, err := source.Load(t, s[0], nriModule+"/"+apiDir, nil)
	if err != nil {
		return nil, fmt.Errorf("NRI library: %w", err)
	}
	imports := func(path string) *types.Package {
		if path == nriModule+"/"+apiDir {
			return api.Types
		}
		return nil
	}
	adaptation, err := source.Load(t, s[1], nriModule+"/"+adaptationDir, imports)
	if err != nil {
		return nil, fmt.Errorf("NRI library: %w", err)
	}
	generate, err := source.Load(t, s[2], nriModule+"/"+generateDir, imports)
	if err != nil {
		return nil, fmt.Errorf("NRI library: %w", err)
	}
	l := &library{newCode(api), newCode(adaptation), newCode(generate)}
	return &Library{
		verdicts:        marked(merge(l.adjusts(), l.protocol())),
		facts:           marked(l.updates()),
		events:          marked(l.events()),
		inputs:          marked(l.fills("FromOCILinuxResources")),
		fromCRI:         marked(l.fills("FromCRILinuxResources")),
		toOCI:           marked(l.converts("LinuxResources.ToOCI")),
		toCRI:           marked(l.converts("LinuxResources.ToCRI")),
		apiTypes:        api.Types,
		adaptationTypes: adaptation.Types,
	}, nil
}

// libraryMark stands before evidence in the library until it is known where
// the library lies in a release.
const libraryMark = "lib:"

func marked[K comparable](verdicts map[K]Verdict) map[K]Verdict {
	for _, v := range verdicts {
		for i, f := range v.Files {
			if !strings.HasPrefix(f, libraryMark) {
				v.Files[i] = libraryMark + f
			}
		}
	}
	return verdicts
}

func merge(maps ...map[capability.ID]Verdict) map[capability.ID]Verdict {
	out := map[capability.ID]Verdict{}
	for _, m := range maps {
		for id, v := range m {
			out[id] = v
		}
	}
	return out
}

// IsAbsent tells whether an error means that there is no such library.
func IsAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// events returns the events that a plugin may subscribe to. The adaptation
// refuses bits of others.
func (l *library) events() map[string]Verdict {
	scope := l.api.Types.Scope()
	value := func(name string) (int64, ast.Node, bool) {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok {
			return 0, nil, false
		}
		n, exact := constant.Int64Val(c.Val())
		return n, posNode(c.Pos()), exact
	}
	last, lastAt, ok := value("Event_LAST")
	out := map[string]Verdict{}
	for _, name := range []string{"UPDATE_POD_SANDBOX", "POST_UPDATE_POD_SANDBOX", "VALIDATE_CONTAINER_ADJUSTMENT", "RUN_POD_SANDBOX"} {
		n, at, known := value("Event_" + name)
		switch {
		case !ok:
			out[name] = unknown("there is no constant Event_LAST, which says where the events end")
		case known && n < last:
			out[name] = yes("const Event_"+name, l.api.where(at))
		default:
			out[name] = l.api.absent("const Event_LAST", lastAt)
		}
	}
	return out
}

// fills returns the fields of messages that a conversion gives a value.
func (l *library) fills(function string) map[string]Verdict {
	return fieldsFilled(l.api.method(function))
}

// fieldsFilled returns the fields that a function or one that it calls writes,
// nil if there is no such function.
func fieldsFilled(f *fn, others ...*code) map[string]Verdict {
	if f == nil {
		return nil
	}
	out := map[string]Verdict{"": no(f.name, f.where())}
	for _, g := range f.reach(others...) {
		for _, u := range g.uses {
			if _, known := out[u.field]; u.write && !known {
				out[u.field] = yes(g.name, g.code.where(u.node))
			}
		}
	}
	return out
}

// converts returns the fields of its receiver that a conversion reads.
func (l *library) converts(function string) map[string]Verdict {
	f := l.api.method(function)
	if f == nil {
		return nil
	}
	return fieldsRead(f, []int{-1})
}

func fieldsRead(f *fn, params []int, others ...*code) map[string]Verdict {
	w := follow(f, params, others...)
	out := map[string]Verdict{"": no(f.name, f.where())}
	for _, g := range f.reach(others...) {
		for name, at := range assigned(g) {
			if _, known := out["="+name]; !known {
				out["="+name] = yes(g.name, g.code.where(at))
			}
		}
	}
	for i, u := range w.reads {
		if _, known := out[u.field]; !known {
			out[u.field] = yes(w.by[i].name, w.by[i].code.where(u.node))
		}
	}
	return out
}

// pick returns the verdict on a field of a map made by fieldsFilled or
// fieldsRead. A map that is nil stands for a function that was not found.
func pick(fields map[string]Verdict, field, what string) Verdict {
	if fields == nil {
		return unknown("%s is not where it used to be", what)
	}
	if v, ok := fields[field]; ok {
		return v
	}
	return fields[""]
}

// assigned returns the names of the fields that a function gives a value,
// whatever type they belong to.
func assigned(f *fn) map[string]ast.Node {
	out := map[string]ast.Node{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if s, ok := l.(*ast.SelectorExpr); ok {
					out[s.Sel.Name] = n
				}
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				out[id.Name] = n
			}
		}
		return true
	})
	return out
}
