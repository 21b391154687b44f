package binary

import "strings"

// Kinds of Go types, as the runtime numbers them.
const (
	kindFloat32    = 13
	kindComplex128 = 16
	kindArray      = 17
	kindFunc       = 19
	kindInterface  = 20
	kindMap        = 21
	kindPointer    = 22
	kindSlice      = 23
	kindString     = 24
	kindStruct     = 25
)

// Bounds on what a sane program has.
const (
	maxFields  = 4096
	maxMethods = 8192
	maxName    = 4096
)

// rtype is the address of a type's description in the program; 0 is no type.
// Two types are the same exactly if their addresses are.
type rtype uint64

// types reads the runtime's descriptions of types.
type types struct {
	im      *image
	m       *module
	structs map[rtype][]field
}

type field struct {
	name string
	off  uint64
	typ  rtype
}

// method is a method of a type: its signature and code; both are 0 where the
// linker found it unused.
type method struct {
	name string
	sig  rtype
	code uint64
}

func newTypes(im *image, m *module) *types {
	return &types{im: im, m: m, structs: map[rtype][]field{}}
}

// valid tells whether t can be a type at all.
func (ts *types) valid(t rtype) bool {
	return uint64(t) >= ts.m.types && uint64(t) < ts.m.etypes && t%4 == 0
}

func (ts *types) size(t rtype) uint64 { return ts.im.word(uint64(t)) }

func (ts *types) kind(t rtype) int {
	if !ts.valid(t) {
		return 0
	}
	if b := ts.im.at(uint64(t)+23, 1); b != nil {
		return int(b[0] & 31)
	}
	return 0
}

// elem is the element of an array, pointer or slice, 0 for other kinds.
func (ts *types) elem(t rtype) rtype {
	switch ts.kind(t) {
	case kindArray, kindPointer, kindSlice:
		return ts.sane(ts.im.word(uint64(t) + 48))
	}
	return 0
}

// mapElem is the element of a map, 0 for other kinds.
func (ts *types) mapElem(t rtype) rtype {
	if ts.kind(t) != kindMap {
		return 0
	}
	return ts.sane(ts.im.word(uint64(t) + 56))
}

// innermost goes through pointers, lists and maps to what they hold in the end.
func (ts *types) innermost(t rtype) rtype {
	for range 8 { // a type can lead to itself
		e := ts.elem(t)
		if e == 0 {
			e = ts.mapElem(t)
		}
		if e == 0 {
			break
		}
		t = e
	}
	return t
}

func (ts *types) sane(a uint64) rtype {
	if t := rtype(a); ts.valid(t) {
		return t
	}
	return 0
}

func (ts *types) flags(t rtype) byte {
	if b := ts.im.at(uint64(t)+20, 1); b != nil {
		return b[0]
	}
	return 0
}

// Flags of a type.
const (
	flagUncommon  = 1 // a package path and methods follow
	flagExtraStar = 2 // its name is stored with a "*" in front
)

// name is the type as Go prints it: "api.Container", "*api.Container".
func (ts *types) name(t rtype) string {
	if !ts.valid(t) {
		return ""
	}
	s := ts.text(ts.m.types + uint64(ts.im.half(uint64(t)+40)))
	if ts.flags(t)&flagExtraStar != 0 {
		s = strings.TrimPrefix(s, "*")
	}
	return s
}

// text reads a name: a byte of flags, a length, the characters.
func (ts *types) text(a uint64) string {
	b := ts.im.from(a)
	if len(b) < 2 {
		return ""
	}
	n, skip := uvarint32(b[1:])
	if skip == 0 || n > maxName || uint64(len(b)-1-skip) < uint64(n) {
		return ""
	}
	return string(b[1+skip : 1+skip+int(n)])
}

// uncommon is where the package path and the methods are, 0 for a type that
// has neither.
func (ts *types) uncommon(t rtype) uint64 {
	if !ts.valid(t) || ts.flags(t)&flagUncommon == 0 {
		return 0
	}
	switch ts.kind(t) {
	case kindStruct, kindInterface:
		return uint64(t) + 80
	case kindPointer, kindSlice, kindFunc:
		return uint64(t) + 56
	case kindArray:
		return uint64(t) + 72
	case kindMap:
		return 0 // its place differs between releases, and nobody asks
	case 18: // channel
		return uint64(t) + 64
	}
	return uint64(t) + 48
}

// pkg is the import path of the package that defines a named type.
func (ts *types) pkg(t rtype) string {
	u := ts.uncommon(t)
	if u == 0 {
		return ""
	}
	off := ts.im.half(u)
	if off == 0 {
		return ""
	}
	return ts.text(ts.m.types + uint64(off))
}

// methods lists the methods of a type, exported or not.
func (ts *types) methods(t rtype) []method {
	var list []method
	ts.eachMethod(t, func(m method, name uint64) {
		m.name = ts.text(name)
		list = append(list, m)
	})
	return list
}

// eachMethod calls f with the methods of a type, without their names but with
// the address of each name.
func (ts *types) eachMethod(t rtype, f func(m method, name uint64)) {
	u := ts.uncommon(t)
	head := ts.im.at(u, 16)
	if u == 0 || head == nil {
		return
	}
	n := uint64(ts.im.order.Uint16(head[4:]))
	table := ts.im.at(u+uint64(ts.im.order.Uint32(head[8:])), n*16)
	if n > maxMethods || table == nil {
		return
	}
	for ; len(table) >= 16; table = table[16:] {
		var m method
		if off := ts.im.order.Uint32(table[4:]); present(off) {
			m.sig = ts.sane(ts.m.types + uint64(off))
		}
		if off := ts.im.order.Uint32(table[12:]); present(off) {
			m.code = ts.m.text + uint64(off)
		}
		f(m, ts.m.types+uint64(ts.im.order.Uint32(table)))
	}
}

// present tells a used method from one that the linker dropped.
func present(off uint32) bool { return off != 0 && off != 0xffffffff }

// imethods lists the methods of an interface type, in the order of its method
// table.
func (ts *types) imethods(t rtype) []method {
	if ts.kind(t) != kindInterface {
		return nil
	}
	n := ts.im.word(uint64(t) + 64)
	if n > maxMethods {
		return nil
	}
	table := ts.im.at(ts.im.word(uint64(t)+56), n*8)
	if table == nil {
		return nil
	}
	list := make([]method, 0, n)
	for ; len(table) >= 8; table = table[8:] {
		list = append(list, method{
			name: ts.text(ts.m.types + uint64(ts.im.order.Uint32(table))),
			sig:  ts.sane(ts.m.types + uint64(ts.im.order.Uint32(table[4:]))),
		})
	}
	return list
}

// fields lists the fields of a struct type by offset.
func (ts *types) fields(t rtype) []field {
	if ts.kind(t) != kindStruct {
		return nil
	}
	if fs, ok := ts.structs[t]; ok {
		return fs
	}
	n := ts.im.word(uint64(t) + 64)
	var fs []field
	if n <= maxFields {
		if table := ts.im.at(ts.im.word(uint64(t)+56), n*24); table != nil {
			fs = make([]field, 0, n)
			for ; len(table) >= 24; table = table[24:] {
				f := field{name: ts.text(ts.im.order.Uint64(table)), typ: ts.sane(ts.im.order.Uint64(table[8:])), off: ts.im.order.Uint64(table[16:])}
				if len(fs) > 0 && f.off < fs[len(fs)-1].off {
					break
				}
				fs = append(fs, f)
			}
		}
	}
	ts.structs[t] = fs
	return fs
}

// signature returns the parameter and result types of a function type.
func (ts *types) signature(t rtype) (in, out []rtype) {
	if ts.kind(t) != kindFunc {
		return nil, nil
	}
	head := ts.im.at(uint64(t)+48, 4)
	if head == nil {
		return nil, nil
	}
	nin := int(ts.im.order.Uint16(head))
	nout := int(ts.im.order.Uint16(head[2:]) &^ (1 << 15)) // the top bit marks "..."
	at := uint64(t) + 56
	if ts.flags(t)&flagUncommon != 0 {
		at += 16
	}
	if nin+nout > 256 {
		return nil, nil
	}
	table := ts.im.at(at, uint64(nin+nout)*8)
	if table == nil {
		return nil, nil
	}
	for i := 0; i < nin+nout; i++ {
		p := ts.sane(ts.im.order.Uint64(table[8*i:]))
		if i < nin {
			in = append(in, p)
		} else {
			out = append(out, p)
		}
	}
	return in, out
}

// all calls f with every type of the list that the runtime keeps; it holds
// every pointer to a named type.
func (ts *types) all(f func(rtype)) {
	for i := uint64(0); i < ts.m.typelinkCount; i++ {
		if t := ts.sane(ts.m.types + uint64(ts.im.half(ts.m.typelinks+4*i))); t != 0 {
			f(t)
		}
	}
}

// itab is one method table: which concrete type stands behind which interface.
type itab struct {
	addr        uint64
	inter, conc rtype
}

// itabs lists the method tables that the compiler made.
func (ts *types) itabs() []itab {
	list := make([]itab, 0, min(ts.m.itablinkCount, 1<<16))
	for i := uint64(0); i < ts.m.itablinkCount; i++ {
		a := ts.im.word(ts.m.itablinks + 8*i)
		it := itab{addr: a, inter: ts.sane(ts.im.word(a)), conc: ts.sane(ts.im.word(a + 8))}
		if it.inter != 0 && it.conc != 0 {
			list = append(list, it)
		}
	}
	return list
}
