package binary

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// handlerSet is what was found out about the handlers.
type handlerSet struct {
	reqs     []capability.Requirement
	warnings []string
	gaps     []string
	// entries are the handler methods' functions, and called those of the
	// handlers that the stub calls.
	entries []int
	called  []calledHandler
}

// calledHandler is a handler that the stub calls.
type calledHandler struct {
	symbols.Handler
	fn       int
	evidence capability.Evidence
	unproven bool // the type may not be the plugin's
}

// findHandlers looks at the types handed to stub.New, or at those that
// implement the raw protocol service.
func (p *program) findHandlers(fl *flow) handlerSet {
	h := handlerFinder{p: p, wants: p.stubWants()}
	linked := len(p.known.stubNew) > 0
	plugins := fl.plugins()
	switch {
	case len(plugins) > 0 && plugins[0] != 0:
		for _, t := range plugins {
			h.plugin(t, false)
		}
	case linked:
		h.candidates(plugins)
	}
	services := p.services()
	for _, t := range services {
		h.service(t)
	}
	if len(h.set.entries) == 0 {
		switch {
		case !linked && len(services) == 0:
			h.set.gaps = append(h.set.gaps, "neither stub.New nor a service of the NRI protocol is in the program: it may be no plugin, or register in a way that is not understood")
		default:
			h.set.gaps = append(h.set.gaps, "no event handler was found, although a plugin must have one")
		}
	}
	slices.Sort(h.set.warnings)
	h.set.warnings = slices.Compact(h.set.warnings)
	return h.set
}

// plugins are the types handed to stub.New, sorted; the first is 0 if one of
// them could not be told.
func (fl *flow) plugins() []rtype {
	var list []rtype
	for _, ip := range fl.found {
		list = append(list, ip.plugins...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

type handlerFinder struct {
	p *program
	// wants are the method types that the stub in the program looks for, by
	// handler; empty if it could not be read.
	wants map[string][]rtype
	set   handlerSet
}

// plugin takes the handlers of one type that is handed to stub.New. Unproven
// is set for a type of which that is not certain.
func (h *handlerFinder) plugin(t rtype, unproven bool) int {
	n := 0
	configure := false
	var reqs []capability.Requirement
	for _, m := range h.p.types.methods(t) {
		want, ok := symbols.LookupHandler(m.name)
		if !ok || len(want.Stub) == 0 {
			continue
		}
		if !h.fits(want, m) {
			if !unproven {
				h.wrong(want, t, m)
			}
			continue
		}
		n++
		configure = configure || m.name == "Configure"
		ev := h.evidence(t, m)
		reqs = append(reqs, symbols.HandlerRequirements(want, capability.FromBinary, ev)...)
		if i := h.p.entryAt(m.code); i >= 0 {
			h.set.entries = append(h.set.entries, i)
			h.set.called = append(h.set.called, calledHandler{want, i, ev, unproven})
		}
	}
	for i := range reqs {
		reqs[i].Unproven = unproven
		if configure && reqs[i].Note == "" {
			reqs[i].Note = "the Configure handler may narrow the subscription when the plugin runs"
		}
	}
	h.set.reqs = append(h.set.reqs, reqs...)
	return n
}

// candidates takes every type with a handler, where it could not be followed
// which one is handed to stub.New.
func (h *handlerFinder) candidates(plugins []rtype) {
	var list []rtype
	h.p.types.all(func(t rtype) {
		if h.p.types.kind(t) != kindPointer || h.p.types.uncommon(t) == 0 {
			return
		}
		if pkg := h.p.types.pkg(h.p.types.elem(t)); pkg == "" || slices.Contains(h.p.class.nri, pkg) || slices.Contains(h.p.class.api, pkg) {
			return
		}
		if slices.ContainsFunc(h.p.types.methods(t), func(m method) bool {
			want, ok := symbols.LookupHandler(m.name)
			return ok && len(want.Requires) > 0 && h.fits(want, m)
		}) {
			list = append(list, t)
		}
	})
	certain := len(list) == 1
	for _, t := range list {
		h.plugin(t, !certain && !slices.Contains(plugins, t))
	}
	if !certain {
		h.set.gaps = append(h.set.gaps, fmt.Sprintf("the type handed to stub.New could not be told among %d with handlers", len(list)))
	}
}

// services are the types that implement the raw protocol service.
func (p *program) services() []rtype {
	var list []rtype
	for _, it := range p.types.itabs() {
		if !strings.HasSuffix(p.types.name(it.inter), ".PluginService") || !slices.Contains(p.class.api, p.types.pkg(it.inter)) {
			continue
		}
		pkg := p.types.pkg(it.conc)
		if e := p.types.elem(it.conc); e != 0 {
			pkg = p.types.pkg(e)
		}
		if !slices.Contains(p.class.nri, pkg) && !slices.Contains(p.class.api, pkg) && !slices.Contains(list, it.conc) {
			list = append(list, it.conc)
		}
	}
	return list
}

// service takes the methods of a type that implements the protocol itself. It
// has every method, so that what it subscribes to is not known.
func (h *handlerFinder) service(t rtype) {
	for _, m := range h.p.types.methods(t) {
		want, ok := symbols.LookupHandler(m.name)
		if !ok || !h.p.signatureIs(m.sig, want.Service) {
			continue
		}
		if i := h.p.entryAt(m.code); i >= 0 {
			h.set.entries = append(h.set.entries, i)
		}
		for _, r := range symbols.HandlerRequirements(want, capability.FromBinary, h.evidence(t, m)) {
			r.Unproven, r.Note = true, "implements the protocol's service itself, which must have every call: what it subscribes to is decided when it runs"
			h.set.reqs = append(h.set.reqs, r)
		}
	}
}

// fits tells whether a method is what the stub looks for.
func (h *handlerFinder) fits(want symbols.Handler, m method) bool {
	if m.sig == 0 {
		return false // dropped by the linker, because nobody looks for it
	}
	if len(h.wants) > 0 {
		return slices.Contains(h.wants[want.Name], m.sig)
	}
	return slices.ContainsFunc(want.Stub, func(s symbols.Signature) bool { return h.p.signatureIs(m.sig, s) })
}

// wrong warns of a method that has a handler's name and is not called.
func (h *handlerFinder) wrong(want symbols.Handler, t rtype, m method) {
	name := h.p.qualified(t) + "." + m.name
	switch list := h.wants[want.Name]; {
	case len(h.wants) > 0 && len(list) == 0:
		h.set.warnings = append(h.set.warnings, fmt.Sprintf("%s is never called: the stub of this NRI version knows no such handler", name))
	case len(list) > 0:
		h.set.warnings = append(h.set.warnings, fmt.Sprintf("%s is never called: the stub ignores it, because its signature is not %s", name, h.p.signatureText(list[0])))
	default:
		s := want.Stub[0]
		h.set.warnings = append(h.set.warnings, fmt.Sprintf("%s is never called: the stub ignores it, because its signature is not func(%s) (%s)", name, strings.Join(s.In, ", "), strings.Join(s.Out, ", ")))
	}
}

func (h *handlerFinder) evidence(t rtype, m method) capability.Evidence {
	ev := capability.Evidence{Function: h.p.qualified(t) + "." + m.name}
	i := h.p.entryAt(m.code)
	if i < 0 {
		return ev
	}
	at := h.p.declared(i, m.name)
	if at.file != "" {
		ev.Function, ev.File, ev.Line = at.function, at.file, at.line
	}
	return ev
}

// declared is where a method is written. One that is promoted from an embedded
// type or has a value as receiver is reached through a function that the
// compiler makes, which calls it or has it inlined.
func (p *program) declared(i int, name string) place {
	f, ok := p.funcs.get(i)
	if !ok {
		return place{}
	}
	at, _ := p.place(f, 0)
	if at.file != "" && at.file[0] != '<' {
		return at
	}
	suffix := []byte("." + name)
	tree := p.funcs.inlineTree(f)
	var found place
	p.funcs.walk(tree.table, func(end uint64, node int32) bool {
		if in, ok := tree.get(node); ok && bytes.HasSuffix(p.funcs.nameAt(in.nameOff), suffix) {
			found, _ = p.place(f, end-1)
			return false
		}
		return true
	})
	if found.file != "" {
		return found
	}
	v := calleeVisitor{p: p, self: i, suffix: suffix, callee: -1}
	p.scanCode(p.funcs.code(f, new([]byte)), f.entry, &p.entries.entrySet, &v)
	if v.callee >= 0 {
		if g, ok := p.funcs.get(v.callee); ok {
			if at, _ := p.place(g, 0); at.file != "" && at.file[0] != '<' {
				return at
			}
		}
	}
	return place{}
}

// calleeVisitor finds the function of a given last name that code calls.
type calleeVisitor struct {
	p      *program
	self   int
	suffix []byte
	callee int
}

func (v *calleeVisitor) address(uint64, uint64) {}

func (v *calleeVisitor) call(_, a uint64) {
	if i := v.p.entryAt(a); i >= 0 && i != v.self && bytes.HasSuffix([]byte(v.p.funcs.funcName(i)), v.suffix) {
		v.callee = i
	}
}
