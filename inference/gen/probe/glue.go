package probe

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// glue is the part of a runtime that stands between its CRI service and the
// NRI library. Both runtimes have the same two layers: a package nri, which
// knows the library, and below it the code that knows the runtime's own pods
// and containers.
type glue struct {
	domain *code // package nri: API, local, the conversions to messages
	cri    *code // the wrappers of the runtime's pods and containers
	// wrapped is the package of the type that the wrapper of pods embeds, nil
	// if there is none. Its methods are the wrapper's too.
	wrapped *code
	lib     *Library
	places  places
}

// places are the directories of a runtime in which the glue lies.
type places struct {
	runtime string
	domain  source.Selection
	cri     source.Selection
	wrapped source.Selection
	server  string   // the CRI service
	config  []string // packages with default configurations
	options string   // package with WithResources; containerd only
}

// findPlaces looks for the glue of a runtime. Without a directory of package
// nri there is no NRI in the release.
func findPlaces(t *source.Tree, runtime string) (p places, err error) {
	first := func(dirs ...string) string {
		if err != nil {
			return ""
		}
		var dir string
		dir, err = t.FirstDir(dirs...)
		return dir
	}
	p.runtime = runtime
	p.domain.Dir = first("internal/nri", "pkg/nri")
	if runtime == "cri-o" {
		p.cri = source.Selection{Dir: first("server"), Only: []string{"nri-api.go"}}
		p.server = p.cri.Dir
		p.config = []string{first("internal/config/nri"), first("pkg/config")}
		p.wrapped.Dir = first("internal/lib/sandbox")
		return p, err
	}
	p.server = first("internal/cri/server", "pkg/cri/server")
	p.cri.Dir = first("internal/cri/nri", "pkg/cri/nri")
	if p.cri.Dir == "" && p.server != "" {
		p.cri = source.Selection{Dir: p.server, Only: []string{"nri-api.go"}}
	}
	p.config = []string{p.domain.Dir, first("internal/cri/config", "pkg/cri/config")}
	p.options = first("internal/cri/opts", "pkg/cri/opts")
	p.wrapped.Dir = first("internal/cri/store/sandbox", "pkg/cri/store/sandbox")
	return p, err
}

// readGlue reads both layers.
func readGlue(t *source.Tree, p places, lib *Library) (*glue, error) {
	library := func(path string) *types.Package {
		switch path {
		case nriModule + "/" + apiDir:
			return lib.apiTypes
		case nriModule + "/" + adaptationDir:
			return lib.adaptationTypes
		}
		return nil
	}
	domain, err := source.Load(t, p.domain, "runtime/nri", library)
	if err != nil {
		return nil, err
	}
	cri, err := source.Load(t, p.cri, "runtime/cri", func(path string) *types.Package {
		if strings.HasSuffix(path, "/"+p.domain.Dir) {
			return domain.Types
		}
		return library(path)
	})
	if err != nil {
		return nil, err
	}
	g := &glue{domain: newCode(domain), cri: newCode(cri), lib: lib, places: p}
	if p.wrapped.Dir != "" {
		wrapped, err := source.Load(t, p.wrapped, "runtime/wrapped", library)
		if err != nil {
			return nil, err
		}
		g.wrapped = newCode(wrapped)
	}
	return g, nil
}

// relays returns which methods of the CRI layer relay which call of the
// adaptation, such as RunPodSandbox. A method that relays several stands under
// each of them in the second result. Both are nil if no layer is understood.
func (g *glue) relays() (one, several map[string][]string) {
	below := map[string][]string{} // by method of package nri's API
	for _, m := range g.domain.methods("local") {
		below[m.decl.Name.Name] = relayed(m, func(call *types.Func) []string {
			if call.Pkg() == g.lib.adaptationTypes && receiver(call) == "Adaptation" {
				return []string{call.Name()}
			}
			return nil
		})
	}
	one, several = map[string][]string{}, map[string][]string{}
	for _, api := range []string{"API", "nriAPI"} {
		for _, m := range g.cri.methods(api) {
			events := relayed(m, func(call *types.Func) []string {
				if call.Pkg() == g.domain.Types && receiver(call) == "API" {
					return below[call.Name()]
				}
				return nil
			})
			for _, event := range events {
				into := several
				if len(events) == 1 {
					into = one
				}
				into[event] = append(into[event], m.decl.Name.Name)
			}
		}
	}
	if len(one) == 0 {
		return nil, nil
	}
	return one, several
}

// relayed returns the calls that a method comes to in the end. One that has
// the method's own name is what it is for; others then only undo it.
func relayed(m *fn, meaning func(*types.Func) []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, f := range m.reach() {
		for _, call := range f.calls {
			for _, event := range meaning(call) {
				if strings.EqualFold(event, m.decl.Name.Name) {
					return []string{event}
				}
				if !seen[event] {
					seen[event] = true
					out = append(out, event)
				}
			}
		}
	}
	return out
}

// receiver returns the name of the type a method belongs to.
func receiver(f *types.Func) string {
	sig, ok := f.Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return ""
	}
	return namedOf(sig.Recv().Type())
}

// field returns the verdict on a field of a message that the runtime fills in
// for plugins: whether it is set, and whether what it is set from has a value.
func (g *glue) field(field string) Verdict {
	if v := g.known(field); v.State != capability.Yes {
		return v
	}
	u, f, ok := find(g.functions(), field, true)
	if !ok {
		message, _, _ := strings.Cut(field, ".")
		for _, f := range g.functions() {
			if lits := literals(f.decl.Body, message); len(lits) > 0 {
				return g.domain.absent(f.name, lits[0])
			}
		}
		return unknown("package nri makes no %s", message)
	}
	at := yes(f.name, f.code.where(u.node))
	var value ast.Node = u.node
	if kv, ok := u.node.(*ast.KeyValueExpr); ok {
		value = kv.Value
	}
	return all(at, g.source(f, value))
}

// known is no if the library has no such field.
func (g *glue) known(field string) Verdict {
	message, name, _ := strings.Cut(field, ".")
	lib := &code{Package: &source.Package{Types: g.lib.apiTypes}}
	if _, ok := lib.hasField(message, name); ok {
		return yes("")
	}
	return no("type " + message)
}

func (g *glue) functions() []*fn {
	var out []*fn
	for _, f := range g.domain.byName {
		out = append(out, f)
	}
	sortFuncs(out)
	return out
}

// source looks at what gives a field its value: a getter of the CRI layer, or
// a field of the container's status.
func (g *glue) source(f *fn, value ast.Node) Verdict {
	out := yes("")
	ast.Inspect(value, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || out.State != capability.Yes {
			return true
		}
		if field := fieldOf(f.code.Info, s); strings.HasPrefix(field, "ContainerStatus.") {
			out = g.status(field)
			return true
		}
		if fun, ok := f.code.Info.Uses[s.Sel].(*types.Func); ok && fun.Pkg() == g.domain.Types && receiver(fun) != "" {
			out = g.getter(fun)
		}
		return true
	})
	return out
}

// status tells whether the CRI layer sets a field of the status.
func (g *glue) status(field string) Verdict {
	get := g.cri.method("criContainer.GetStatus")
	if get == nil {
		return unknown("criContainer.GetStatus is not where it used to be")
	}
	if u, f, ok := find(get.reach(), field, true); ok {
		return yes(f.name, f.code.where(u.node))
	}
	return g.cri.absent(get.name, get.decl)
}

// getter finds the method behind a getter of the interfaces of package nri.
func (g *glue) getter(fun *types.Func) Verdict {
	f := g.implementation(fun)
	if f == nil {
		return unknown("%s.%s is implemented by nothing that was found", receiver(fun), fun.Name())
	}
	return yesIf(!nilReturns(f), f.name, f.where())
}

// implementation returns the method of the CRI layer for one of an interface
// of package nri.
func (g *glue) implementation(fun *types.Func) *fn {
	if !strings.Contains(receiver(fun), "Pod") {
		return g.cri.method("criContainer." + fun.Name())
	}
	f := g.cri.method("criPodSandbox." + fun.Name())
	if f == nil && g.embedsSandbox() {
		f = g.wrapped.method("Sandbox." + fun.Name())
	}
	return f
}

// embedsSandbox tells whether the wrapper of pods embeds the runtime's own
// type for them.
func (g *glue) embedsSandbox() bool {
	found := false
	for _, file := range g.cri.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "criPodSandbox" {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					if len(f.Names) == 0 && typeName(f.Type) == "Sandbox" {
						found = true
					}
				}
			}
			return false
		})
	}
	return found
}

// declaration is where package nri declares what the CRI layer can relay.
func (g *glue) declaration() string {
	if api := g.domain.Types.Scope().Lookup("API"); api != nil {
		return g.domain.Line(api.Pos())
	}
	return g.places.domain.Dir
}
