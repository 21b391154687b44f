package source

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// handlers is what the types handed to the stub, or registered as a service,
// tell.
type handlers struct {
	funcs    []*function // methods that the runtime calls
	reqs     []capability.Requirement
	warnings []string
	gaps     []string
	// services tells that a service of the protocol is registered directly.
	services bool
	seen     bool // anything was handed over at all
}

// handlers looks at what the functions in scope hand to the stub.
func (p *program) handlers(scope []*function, in map[string]bool) handlers {
	var h handlers
	for _, f := range scope {
		for _, g := range f.given {
			h.seen = true
			types := p.concrete(f, g.expr, in, maxTrace)
			if len(types) == 0 {
				h.gaps = append(h.gaps, fmt.Sprintf("the type of the plugin handed over at %s is not known, and so are its handlers", p.shown(f, g.expr.Pos())))
			}
			for _, t := range types {
				if g.service {
					h.service(p, t)
				} else {
					h.stub(p, f, t)
				}
			}
		}
	}
	return h
}

// concrete returns the types that an expression can have: its own, or if that
// is an interface, those that the callers hand over and, failing that, all
// walked types that implement it and have a handler.
func (p *program) concrete(f *function, e ast.Expr, in map[string]bool, depth int) []types.Type {
	t := f.pkg.TypesInfo.TypeOf(e)
	if t == nil || depth == 0 {
		return nil
	}
	if !types.IsInterface(t) {
		return []types.Type{t}
	}
	var out []types.Type
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		obj := f.pkg.TypesInfo.ObjectOf(id)
		for _, rhs := range f.defs[obj] {
			out = append(out, p.concrete(f, rhs, in, depth-1)...)
		}
		if v, ok := obj.(*types.Var); ok {
			if n := parameter(f, v); n >= 0 {
				for _, site := range p.calls[f.obj] {
					if in[site.in.pkg.PkgPath] && n < len(site.expr.Args) {
						out = append(out, p.concrete(site.in, site.expr.Args[n], in, depth-1)...)
					}
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	iface, _ := t.Underlying().(*types.Interface)
	for _, n := range p.named {
		ptr := types.NewPointer(n)
		if n.TypeParams().Len() == 0 && in[n.Obj().Pkg().Path()] && types.Implements(ptr, iface) && p.hasHandler(ptr) {
			out = append(out, ptr)
		}
	}
	return out
}

// hasHandler tells whether a type has a method with a handler's exact signature.
func (p *program) hasHandler(t types.Type) bool {
	for _, h := range symbols.Handlers() {
		fn := method(t, h.Name)
		if fn == nil {
			continue
		}
		for _, s := range h.Stub {
			if s.Equal(p.signature(fn)) {
				return true
			}
		}
	}
	return false
}

// method returns the exported method of a type, nil if its method set has none
// of that name.
func method(t types.Type, name string) *types.Func {
	sel := types.NewMethodSet(t).Lookup(nil, name)
	if sel == nil {
		return nil
	}
	fn, _ := sel.Obj().(*types.Func)
	return fn
}

// signature writes a method's signature in the way of package symbols.
func (p *program) signature(fn *types.Func) symbols.Signature {
	list := func(tuple *types.Tuple) []string {
		var out []string
		for v := range tuple.Variables() {
			out = append(out, types.TypeString(types.Unalias(v.Type()), func(pkg *types.Package) string {
				if p.api[pkg] {
					return ""
				}
				return pkg.Path()
			}))
		}
		return out
	}
	return symbols.Signature{In: list(fn.Signature().Params()), Out: list(fn.Signature().Results())}
}

// stub looks for the handlers as the stub does: by the interfaces it has.
func (h *handlers) stub(p *program, f *function, t types.Type) {
	pkg := p.stubOf(f)
	any := false
	for _, known := range symbols.Handlers() {
		fn := method(t, known.Name)
		if fn == nil || known.Interface == "" {
			continue
		}
		iface := stubInterface(pkg, known.Interface)
		have := p.signature(fn)
		if iface != nil && types.Implements(t, iface) {
			any = true
			h.add(p, known, fn)
			continue
		}
		// An own stub without the interfaces by name is judged by the signature.
		if pkg == nil && slices.ContainsFunc(known.Stub, have.Equal) {
			any = true
			h.add(p, known, fn)
			continue
		}
		h.warnings = append(h.warnings, p.ignored(fn, t, known, iface, have))
	}
	if !any {
		h.warnings = append(h.warnings, fmt.Sprintf("%s, which is handed to the stub, has no handler", typeName(t)))
	}
}

// add notes one handler.
func (h *handlers) add(p *program, known symbols.Handler, fn *types.Func) {
	ev := capability.Evidence{Function: fn.FullName()}
	if f := p.funcs[fn.Origin()]; f != nil {
		ev = p.evidence(f, fn.Pos())
		h.funcs = append(h.funcs, f)
	}
	h.reqs = append(h.reqs, symbols.HandlerRequirements(known, capability.FromSource, ev)...)
}

// service notes a type that is registered as the service of the protocol. It
// must have all methods, so that having one is no proof of its event.
func (h *handlers) service(p *program, t types.Type) {
	h.services = true
	for _, known := range symbols.Handlers() {
		fn := method(t, known.Name)
		if fn == nil || p.funcs[fn.Origin()] == nil || !known.Service.Equal(p.signature(fn)) {
			continue
		}
		reqs := symbols.HandlerRequirements(known, capability.FromSource, p.evidence(p.funcs[fn.Origin()], fn.Pos()))
		for _, r := range reqs {
			r.Unproven = r.Level == capability.Requires
			if r.Evidence[0].Symbol == "" {
				r.Evidence[0].Symbol = "api.PluginService"
			}
			h.reqs = append(h.reqs, r)
		}
	}
	for m := range types.NewMethodSet(t).Methods() {
		if fn, ok := m.Obj().(*types.Func); ok && p.funcs[fn.Origin()] != nil && fn.Exported() {
			h.funcs = append(h.funcs, p.funcs[fn.Origin()])
		}
	}
}

// ignored says why the stub does not call a method with a handler's name.
func (p *program) ignored(fn *types.Func, t types.Type, known symbols.Handler, iface *types.Interface, have symbols.Signature) string {
	place := ""
	if f := p.funcs[fn.Origin()]; f != nil {
		place = " at " + p.shown(f, fn.Pos())
	}
	name := typeName(t) + "." + fn.Name()
	if iface == nil {
		return fmt.Sprintf("%s%s is never called: the stub of this NRI version does not know %s, which came with NRI %s",
			name, place, fn.Name(), known.Stub[len(known.Stub)-1].Since)
	}
	want := ""
	for m := range iface.Methods() {
		want = show(p.signature(m))
	}
	return fmt.Sprintf("%s%s is never called: the stub ignores it without a word, because its signature is func%s and not func%s",
		name, place, show(have), want)
}

func show(s symbols.Signature) string {
	text := "(" + strings.Join(s.In, ", ") + ")"
	switch len(s.Out) {
	case 0:
		return text
	case 1:
		return text + " " + s.Out[0]
	}
	return text + " (" + strings.Join(s.Out, ", ") + ")"
}

// typeName writes a type as in a stack trace: "main.(*plugin)".
func typeName(t types.Type) string {
	n := namedOf(t)
	if n == nil || n.Obj().Pkg() == nil {
		return types.TypeString(t, nil)
	}
	prefix := n.Obj().Pkg().Path() + "."
	if n.Obj().Pkg().Name() == "main" {
		prefix = "main."
	}
	if _, ok := types.Unalias(t).(*types.Pointer); ok {
		return prefix + "(*" + n.Obj().Name() + ")"
	}
	return prefix + n.Obj().Name()
}

// stubOf returns the stub package that a function uses, nil if none.
func (p *program) stubOf(f *function) *types.Package {
	for _, pkg := range f.pkg.Types.Imports() {
		if p.stubs[pkg] {
			return pkg
		}
	}
	return nil
}

// stubInterface returns one of the stub's interfaces, nil if this version of
// the stub does not have it.
func stubInterface(pkg *types.Package, name string) *types.Interface {
	if pkg == nil {
		return nil
	}
	tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return nil
	}
	i, _ := tn.Type().Underlying().(*types.Interface)
	return i
}

// events returns the events that a plugin which registers the service itself
// subscribes to, as far as it names them.
func events(scope []*function) []capability.Requirement {
	var reqs []capability.Requirement
	for _, f := range scope {
		for _, e := range f.subscribed {
			if known, ok := symbols.LookupHandler(e.handler); ok {
				reqs = append(reqs, symbols.HandlerRequirements(known, capability.FromSource, e.Evidence)...)
			}
		}
	}
	return reqs
}
