package binary

import (
	"encoding/binary"
	"iter"
)

// What types consist of: methods, fields, parameters and results.

// methods lists the methods of a type, exported or not.
func (ts *types) methods(t rtype) []method {
	var list []method
	ts.eachMethod(t, func(m method, name uint64) {
		m.name = string(ts.text(name))
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
	n := uint64(binary.LittleEndian.Uint16(head[4:]))
	table := ts.im.at(u+uint64(binary.LittleEndian.Uint32(head[8:])), n*16)
	if n > maxMethods || table == nil {
		return
	}
	for ; len(table) >= 16; table = table[16:] {
		var m method
		if off := binary.LittleEndian.Uint32(table[4:]); present(off) {
			m.sig = ts.sane(ts.m.types + uint64(off))
		}
		if off := binary.LittleEndian.Uint32(table[12:]); present(off) {
			m.code = ts.m.text + uint64(off)
		}
		f(m, ts.m.types+uint64(binary.LittleEndian.Uint32(table)))
	}
}

// present tells a used method from one that the linker dropped.
func present(off uint32) bool { return off != 0 && off != 0xffffffff }

// imethodTable is the list of an interface's methods as it lies in the program:
// of each 4 bytes for the name, 4 for the type.
func (ts *types) imethodTable(t rtype) []byte {
	if ts.kind(t) != kindInterface {
		return nil
	}
	n := ts.word(t, 64)
	if n > maxMethods {
		return nil
	}
	return ts.im.at(ts.word(t, 56), n*8)
}

// imethods lists the methods of an interface type, in the order of its method
// table.
func (ts *types) imethods(t rtype) []method {
	var list []method
	for table := ts.imethodTable(t); len(table) >= 8; table = table[8:] {
		list = append(list, method{
			name: string(ts.text(ts.m.types + uint64(binary.LittleEndian.Uint32(table)))),
			sig:  ts.sane(ts.m.types + uint64(binary.LittleEndian.Uint32(table[4:]))),
		})
	}
	return list
}

// imethodTypes yields the types of an interface's methods.
func (ts *types) imethodTypes(t rtype) iter.Seq[rtype] {
	return func(yield func(rtype) bool) {
		for table := ts.imethodTable(t); len(table) >= 8; table = table[8:] {
			if !yield(ts.sane(ts.m.types + uint64(binary.LittleEndian.Uint32(table[4:])))) {
				return
			}
		}
	}
}

// eachField yields the fields of a struct type by offset: the address of the
// name, the type and the offset.
func (ts *types) eachField(t rtype) iter.Seq[rawField] {
	return func(yield func(rawField) bool) {
		if ts.kind(t) != kindStruct {
			return
		}
		n := ts.word(t, 64)
		if n > maxFields {
			return
		}
		last := uint64(0)
		for table := ts.im.at(ts.word(t, 56), n*24); len(table) >= 24; table = table[24:] {
			f := rawField{binary.LittleEndian.Uint64(table), ts.sane(binary.LittleEndian.Uint64(table[8:])), binary.LittleEndian.Uint64(table[16:])}
			if f.off < last || !yield(f) {
				return
			}
			last = f.off
		}
	}
}

type rawField struct {
	name uint64
	typ  rtype
	off  uint64
}

// fields lists the fields of a struct type by offset.
func (ts *types) fields(t rtype) []field {
	if ts.kind(t) != kindStruct {
		return nil
	}
	if fs, ok := ts.structs[t]; ok {
		return fs
	}
	var fs []field
	for f := range ts.eachField(t) {
		fs = append(fs, field{name: string(ts.text(f.name)), typ: f.typ, off: f.off})
	}
	ts.structs[t] = fs
	return fs
}

// signatureTable is the list of the types of a function type's parameters and
// results as it lies in the program, and the number of parameters.
func (ts *types) signatureTable(t rtype) (table []byte, nin int) {
	if ts.kind(t) != kindFunc {
		return nil, 0
	}
	head := ts.word(t, 48)
	nin = int(uint16(head))
	nout := int(uint16(head>>16) &^ (1 << 15)) // the top bit marks "..."
	at := uint64(t) + 56
	if ts.flags(t)&flagUncommon != 0 {
		at += 16
	}
	if nin+nout > 256 {
		return nil, 0
	}
	return ts.im.at(at, uint64(nin+nout)*8), nin
}

// signature returns the parameter and result types of a function type.
func (ts *types) signature(t rtype) (in, out []rtype) {
	table, nin := ts.signatureTable(t)
	for i := 0; len(table) >= 8; i, table = i+1, table[8:] {
		p := ts.sane(binary.LittleEndian.Uint64(table))
		if i < nin {
			in = append(in, p)
		} else {
			out = append(out, p)
		}
	}
	return in, out
}

// anyInSignature tells whether f is true of the type of a parameter or result.
func (ts *types) anyInSignature(t rtype, f func(rtype) bool) bool {
	for table, _ := ts.signatureTable(t); len(table) >= 8; table = table[8:] {
		if f(ts.sane(binary.LittleEndian.Uint64(table))) {
			return true
		}
	}
	return false
}
