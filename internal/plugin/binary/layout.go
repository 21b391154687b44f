package binary

import (
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// access is what lies at an offset of an object: which fields of messages it is
// part of, and the type at exactly that place.
type access struct {
	// fields are the message fields that are touched, outermost first.
	fields []messageField
	// typ is the type of the innermost field, and rest the offset into it.
	typ  rtype
	rest uint64
}

type messageField struct{ message, field string }

type accessKey struct {
	typ rtype
	off int64
}

// layout answers questions about what lies where in an object.
type layout struct {
	ts    *types
	api   apiTypes
	cache map[accessKey]access
	// answers are those of leadsIn: for each place where a type can be, two bits
	// for each depth, of which one says that it is known and one what it is.
	answers []byte
}

func newLayout(ts *types, api apiTypes) *layout {
	return &layout{ts: ts, api: api, cache: map[accessKey]access{}, answers: make([]byte, len(ts.data)/4+1)}
}

// maxCache bounds what is remembered; real programs need a fraction.
const maxCache = 1 << 17

// at returns what lies at an offset of an object of type t.
func (l *layout) at(t rtype, off int64) access {
	if off < 0 {
		return access{}
	}
	key := accessKey{t, off}
	if a, ok := l.cache[key]; ok {
		return a
	}
	a := l.lookup(t, uint64(off))
	if len(l.cache) < maxCache {
		l.cache[key] = a
	}
	return a
}

func (l *layout) lookup(t rtype, off uint64) access {
	a := access{typ: t, rest: off}
	// A type cannot be nested deeper than this and be written by a person.
	for range 16 {
		switch l.ts.kind(a.typ) {
		case kindStruct:
			f, ok := fieldAt(l.ts.fields(a.typ), a.rest, l.ts.size(a.typ))
			if !ok {
				return access{fields: a.fields}
			}
			if m := l.api.names[a.typ]; m != "" && exported(f.name) {
				a.fields = append(a.fields, messageField{m, f.name})
			}
			a.typ, a.rest = f.typ, a.rest-f.off
		case kindArray:
			elem := l.ts.elem(a.typ)
			size := l.ts.size(elem)
			if elem == 0 || size == 0 || a.rest >= l.ts.size(a.typ) {
				return access{fields: a.fields}
			}
			a.typ, a.rest = elem, a.rest%size
		default:
			return a
		}
	}
	return access{fields: a.fields}
}

func fieldAt(fs []field, off, size uint64) (field, bool) {
	if off >= size {
		return field{}, false
	}
	for i := len(fs) - 1; i >= 0; i-- {
		if fs[i].off <= off {
			return fs[i], true
		}
	}
	return field{}, false
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// maxDepth is how many fields and pointers lead to a message at most; answers
// has no room for more than 4.
const maxDepth = 4

// leads tells whether an object of type t is a message, or reaches one by a
// few fields and pointers; only such objects are followed.
func (l *layout) leads(t rtype) bool { return l.leadsIn(t, maxDepth) }

func (l *layout) leadsIn(t rtype, depth int) bool {
	t = l.ts.innermost(t)
	kind := l.ts.kind(t)
	if kind != kindStruct && kind != kindInterface || depth == 0 {
		return false
	}
	answer := &l.answers[(uint64(t)-l.ts.m.types)/4]
	known, yes := byte(1)<<(2*(depth-1)), byte(2)<<(2*(depth-1))
	if *answer&known == 0 {
		*answer |= known
		if l.leadsBy(t, kind, depth) {
			*answer |= yes
		}
	}
	return *answer&yes != 0
}

func (l *layout) leadsBy(t rtype, kind, depth int) bool {
	if l.api.names[t] != "" {
		return true
	}
	if kind == kindInterface {
		return l.leadsByMethods(t)
	}
	if standard(l.ts.pkgBytes(t)) {
		return false
	}
	for f := range l.ts.eachField(t) {
		if l.leadsIn(f.typ, depth-1) {
			return true
		}
	}
	return false
}

// leadsSignature tells whether a function type has a parameter or result that
// leads to a message.
func (l *layout) leadsSignature(sig rtype) bool {
	if l.ts.kind(sig) != kindFunc {
		return false
	}
	// Its place among the answers is free: leadsIn is for other kinds.
	const known, yes = 1, 2
	answer := &l.answers[(uint64(sig)-l.ts.m.types)/4]
	if *answer&known == 0 {
		*answer |= known
		if l.ts.anyInSignature(sig, l.leads) {
			*answer |= yes
		}
	}
	return *answer&yes != 0
}

// leadsByMethods tells whether a method of an interface hands out a message, or
// takes one as the stub does.
func (l *layout) leadsByMethods(t rtype) bool {
	for sig := range l.ts.imethodTypes(t) {
		if l.ts.anyInSignature(sig, func(x rtype) bool { return l.api.names[l.ts.innermost(x)] != "" }) {
			return true
		}
	}
	return false
}

// typed returns the value that a word of type t holds whose offset in t is rest.
func (l *layout) typed(t rtype, rest uint64, from origin) value {
	if rest != 0 || t == 0 {
		return value{}
	}
	switch l.ts.kind(t) {
	case kindPointer:
		if e := l.ts.elem(t); l.leads(e) {
			return value{kind: pointer, typ: e, origin: from}
		}
	case kindSlice:
		if e := l.ts.elem(t); l.leads(e) {
			return value{kind: elements, typ: e, origin: from}
		}
	case kindInterface:
		if l.leads(t) && len(l.ts.imethods(t)) > 0 {
			return value{kind: methods, typ: t}
		}
	}
	return value{}
}

// registers returns what registers hold the parameters or results of the given
// types, by Go's calling convention on n registers. A parameter that does not
// fit goes to the stack.
func (l *layout) registers(params []rtype, n int) []value {
	regs := make([]value, n)
	next := 0
	for _, t := range params {
		words, ok := l.words(t, nil, 0)
		if !ok || next+len(words) > n {
			continue
		}
		copy(regs[next:], words)
		next += len(words)
	}
	return regs
}

// words splits a value of type t into the integer registers it takes; false if
// it does not go into registers.
func (l *layout) words(t rtype, out []value, depth int) ([]value, bool) {
	if depth > 8 || len(out) > 16 {
		return nil, false
	}
	switch k := l.ts.kind(t); k {
	case 0:
		return nil, false
	case kindFloat32, kindFloat32 + 1, kindFloat32 + 2, kindComplex128:
		return out, true // other registers
	case kindInterface:
		return append(out, l.typed(t, 0, 0), value{}), true
	case kindString:
		return append(out, value{}, value{}), true
	case kindSlice:
		return append(out, l.typed(t, 0, 0), value{}, value{}), true
	case kindStruct:
		ok := true
		for _, f := range l.ts.fields(t) {
			if out, ok = l.words(f.typ, out, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	case kindArray:
		switch l.ts.im.word(uint64(t) + 64) {
		case 0:
			return out, true
		case 1:
			return l.words(l.ts.elem(t), out, depth+1)
		}
		return nil, false
	default:
		return append(out, l.typed(t, 0, 0)), true
	}
}

// contextOf returns the context of an object that is read from a field of a
// message; ok is false if the field has no say and the message's own counts.
func contextOf(message string) (symbols.Context, bool) {
	switch message {
	case "Container", "LinuxContainer":
		return symbols.OfContainer, true
	case "PodSandbox", "LinuxPodSandbox":
		return symbols.OfPod, true
	case "UpdateContainerRequest":
		return symbols.OfUpdateRequest, true
	case "UpdatePodSandboxRequest":
		return symbols.OfPodUpdate, true
	case "ContainerAdjustment", "LinuxContainerAdjustment":
		return symbols.OfAdjustment, true
	case "ContainerUpdate", "LinuxContainerUpdate":
		return symbols.OfUpdate, true
	}
	return symbols.Unclear, false
}
