package binary

import (
	"bytes"
	"encoding/binary"
)

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
	data    []byte // what lies from m.types to m.etypes
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
	return &types{im: im, m: m, data: im.at(m.types, m.etypes-m.types), structs: map[rtype][]field{}}
}

// valid tells whether t can be a type at all.
func (ts *types) valid(t rtype) bool {
	return uint64(t) >= ts.m.types && uint64(t) < ts.m.etypes && t%4 == 0
}

// head is the part of a type's description that all kinds have, nil for what is
// no type.
func (ts *types) head(t rtype) []byte {
	const size = 48
	off := uint64(t) - ts.m.types
	if t%4 != 0 || off >= uint64(len(ts.data)) || uint64(len(ts.data))-off < size {
		return nil
	}
	return ts.data[off : off+size]
}

func (ts *types) size(t rtype) uint64 { return ts.word(t, 0) }

func (ts *types) kind(t rtype) int {
	if h := ts.head(t); h != nil {
		return int(h[23] & 31)
	}
	return 0
}

// elem is the element of an array, pointer or slice, 0 for other kinds.
func (ts *types) elem(t rtype) rtype {
	switch ts.kind(t) {
	case kindArray, kindPointer, kindSlice:
		return ts.sane(ts.word(t, 48))
	}
	return 0
}

// mapElem is the element of a map, 0 for other kinds.
func (ts *types) mapElem(t rtype) rtype {
	if ts.kind(t) != kindMap {
		return 0
	}
	return ts.sane(ts.word(t, 56))
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
	if h := ts.head(t); h != nil {
		return h[20]
	}
	return 0
}

// word is the word at an offset of a type's description.
func (ts *types) word(t rtype, off uint64) uint64 {
	if at := uint64(t) - ts.m.types + off; at < uint64(len(ts.data)) && uint64(len(ts.data))-at >= 8 {
		return binary.LittleEndian.Uint64(ts.data[at:])
	}
	return ts.im.word(uint64(t) + off)
}

// Flags of a type.
const (
	flagUncommon  = 1 // a package path and methods follow
	flagExtraStar = 2 // its name is stored with a "*" in front
)

// name is the type as Go prints it: "api.Container", "*api.Container".
func (ts *types) name(t rtype) string { return string(ts.nameBytes(t)) }

func (ts *types) nameBytes(t rtype) []byte {
	h := ts.head(t)
	if h == nil {
		return nil
	}
	s := ts.text(ts.m.types + uint64(binary.LittleEndian.Uint32(h[40:])))
	if h[20]&flagExtraStar != 0 {
		s = bytes.TrimPrefix(s, []byte("*"))
	}
	return s
}

// text reads a name: a byte of flags, a length, the characters.
func (ts *types) text(a uint64) []byte {
	var b []byte
	if off := a - ts.m.types; off < uint64(len(ts.data)) {
		b = ts.data[off:]
	} else {
		b = ts.im.from(a)
	}
	if len(b) < 2 {
		return nil
	}
	n, skip := uvarint32(b[1:])
	if skip == 0 || n > maxName || uint64(len(b)-1-skip) < uint64(n) {
		return nil
	}
	return b[1+skip : 1+skip+int(n)]
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
func (ts *types) pkg(t rtype) string { return string(ts.pkgBytes(t)) }

func (ts *types) pkgBytes(t rtype) []byte {
	u := ts.uncommon(t)
	if u == 0 {
		return nil
	}
	off := ts.word(rtype(u), 0) & 0xffffffff
	if off == 0 {
		return nil
	}
	return ts.text(ts.m.types + off)
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
