package binary

import (
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// stubWants reads from the stub in the program which methods it looks for: its
// code refers to an interface type for each.
func (p *program) stubWants() map[string][]rtype {
	w := stubVisitor{p: p, wants: map[string][]rtype{}}
	var buf []byte
	for i, c := range p.classes {
		if c != nriOther {
			continue
		}
		f, ok := p.funcs.get(i)
		if pkg, _ := splitName(p.funcs.nameAt(p.funcs.nameOffset(f))); !ok || !strings.HasSuffix(unescape(pkg), "/stub") {
			continue
		}
		if code := p.funcs.code(f, &buf); code != nil {
			p.scanCode(code, f.entry, &p.entries.entrySet, &w)
		}
	}
	return w.wants
}

type stubVisitor struct {
	p     *program
	wants map[string][]rtype
}

func (w *stubVisitor) call(uint64, uint64) {}

// address takes an interface type, or since Go 1.22 a description of a type
// assertion, whose second word is the interface type.
func (w *stubVisitor) address(_, a uint64) {
	ts := w.p.types
	t := rtype(a)
	if ts.kind(t) != kindInterface {
		t = ts.sane(w.p.im.word(a + 8))
	}
	if ts.kind(t) != kindInterface || !strings.HasSuffix(ts.name(t), "Interface") || !slices.Contains(w.p.class.nri, ts.pkg(t)) {
		return
	}
	for _, m := range ts.imethods(t) {
		if h, ok := symbols.LookupHandler(m.name); ok && h.Interface == bareType(ts.name(t)) && m.sig != 0 && !slices.Contains(w.wants[m.name], m.sig) {
			w.wants[m.name] = append(w.wants[m.name], m.sig)
		}
	}
}

// signatureIs tells whether a function type is what a signature says.
func (p *program) signatureIs(t rtype, want symbols.Signature) bool {
	if p.types.kind(t) != kindFunc {
		return false
	}
	in, out := p.types.signature(t)
	return slices.Equal(p.typeTexts(in), append([]string{}, want.In...)) && slices.Equal(p.typeTexts(out), append([]string{}, want.Out...))
}

func (p *program) signatureText(t rtype) string {
	in, out := p.types.signature(t)
	s := "func(" + strings.Join(p.typeTexts(in), ", ") + ")"
	switch r := p.typeTexts(out); len(r) {
	case 0:
		return s
	case 1:
		return s + " " + r[0]
	default:
		return s + " (" + strings.Join(r, ", ") + ")"
	}
}

// typeTexts writes types as [symbols.Signature] does: those of the API without
// a package.
func (p *program) typeTexts(list []rtype) []string {
	texts := make([]string, 0, len(list))
	for _, t := range list {
		prefix := ""
		for range 2 { // through a slice and a pointer
			switch p.types.kind(t) {
			case kindSlice:
				prefix, t = prefix+"[]", p.types.elem(t)
			case kindPointer:
				prefix, t = prefix+"*", p.types.elem(t)
			}
		}
		name := p.types.name(t)
		if slices.Contains(p.class.api, p.types.pkg(t)) {
			name = bareType(name)
		}
		texts = append(texts, prefix+name)
	}
	return texts
}

// qualified is the type with its whole import path: "main.(*plugin)".
func (p *program) qualified(t rtype) string {
	if e := p.types.elem(t); e != 0 && p.types.kind(t) == kindPointer {
		return p.types.pkg(e) + ".(*" + bareType(p.types.name(e)) + ")"
	}
	return p.types.pkg(t) + "." + bareType(p.types.name(t))
}
