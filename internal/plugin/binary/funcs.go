package binary

import (
	"bytes"
	"encoding/binary"
	"math"
	"path"
)

// funcTable gives access to the functions of the program. They are read where
// they lie, in the order of their addresses.
type funcTable struct {
	im   *image
	m    *module
	data []byte // entries, then the functions' records
	name []byte
	pct  []byte
}

// fn is one function.
type fn struct {
	entry, end uint64
	record     []byte // the runtime's _func and what follows
}

func newFuncTable(im *image, m *module) *funcTable {
	return &funcTable{
		im: im, m: m,
		data: im.at(m.funcs.addr, m.funcs.size),
		name: im.at(m.names.addr, m.names.size),
		pct:  im.at(m.pctab.addr, m.pctab.size),
	}
}

func (t *funcTable) len() int { return int(t.m.nfunc) }

// entry returns the address of function i; i may be len, which is the end of
// the last one.
func (t *funcTable) entry(i int) uint64 {
	return t.m.text + uint64(binary.LittleEndian.Uint32(t.data[8*i:]))
}

// get returns function i; ok is false for one whose record makes no sense.
func (t *funcTable) get(i int) (f fn, ok bool) {
	f.entry, f.end = t.entry(i), t.entry(i+1)
	off := uint64(binary.LittleEndian.Uint32(t.data[8*i+4:]))
	if f.end < f.entry || f.end > t.m.etext || off >= uint64(len(t.data)) {
		return f, false
	}
	f.record = t.data[off:]
	return f, len(f.record) >= 44
}

// code returns the function's instructions, until buf is used again; nil if they
// cannot be read.
func (t *funcTable) code(f fn, buf *[]byte) []byte { return t.im.readCode(f.entry, f.end-f.entry, buf) }

// nameAt returns the name at an offset of the table of names.
func (t *funcTable) nameAt(off uint32) []byte {
	if uint64(off) >= uint64(len(t.name)) {
		return nil
	}
	b := t.name[off:]
	return b[:max(0, bytes.IndexByte(b, 0))]
}

// nameOffset is where the function's name is.
func (t *funcTable) nameOffset(f fn) uint32 { return binary.LittleEndian.Uint32(f.record[4:]) }

func (t *funcTable) funcName(i int) string {
	f, ok := t.get(i)
	if !ok {
		return ""
	}
	return string(t.nameAt(t.nameOffset(f)))
}

// Numbers of the runtime's tables per function.
const (
	pcdataInlTree   = 2
	funcdataInlTree = 3
)

// fields is the number of 4 byte fields of a record.
func (t *funcTable) fields() uint64 {
	if t.m.go120 {
		return 11
	}
	return 10
}

// pcdata returns the offset in pctab of one of the function's tables, 0 if it
// has none.
func (t *funcTable) pcdata(f fn, n uint64) uint32 {
	if uint64(binary.LittleEndian.Uint32(f.record[28:])) <= n {
		return 0
	}
	at := 4 * (t.fields() + n)
	if uint64(len(f.record)) < at+4 {
		return 0
	}
	return binary.LittleEndian.Uint32(f.record[at:])
}

// funcdata returns the address of one of the function's data, 0 if it has none.
func (t *funcTable) funcdata(f fn, n uint64) uint64 {
	npcdata, nfuncdata := uint64(binary.LittleEndian.Uint32(f.record[28:])), uint64(f.record[4*t.fields()-1])
	at := 4 * (t.fields() + npcdata + n)
	if nfuncdata <= n || npcdata > 1<<16 || uint64(len(f.record)) < at+4 {
		return 0
	}
	off := binary.LittleEndian.Uint32(f.record[at:])
	if off == math.MaxUint32 {
		return 0
	}
	return t.m.gofunc + uint64(off)
}

// walk calls visit with each run of addresses that has one value, until visit
// returns false. Addresses are offsets from the function's entry.
func (t *funcTable) walk(table uint32, visit func(end uint64, value int32) bool) {
	if table == 0 || uint64(table) >= uint64(len(t.pct)) {
		return
	}
	quantum := uint64(1)
	if t.im.machineIsARM() {
		quantum = 4
	}
	p := t.pct[table:]
	value, pc := int32(-1), uint64(0)
	for first := true; ; first = false {
		delta, n := uvarint32(p)
		if n == 0 || delta == 0 && !first {
			return
		}
		p = p[n:]
		// The sign is in the lowest bit.
		if delta&1 != 0 {
			delta = ^(delta >> 1)
		} else {
			delta >>= 1
		}
		value += int32(delta)
		step, n := uvarint32(p)
		if n == 0 {
			return
		}
		p = p[n:]
		pc += uint64(step) * quantum
		if !visit(pc, value) {
			return
		}
	}
}

// value returns the value of a table at an offset from the function's entry,
// -1 if there is none.
func (t *funcTable) value(table uint32, off uint64) int32 {
	found := int32(-1)
	t.walk(table, func(end uint64, value int32) bool {
		if off >= end {
			return true
		}
		found = value
		return false
	})
	return found
}

func uvarint32(p []byte) (v uint32, n int) {
	for i := 0; i < len(p) && i < 5; i++ {
		v |= uint32(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// fileLine returns the source position of an offset from the function's entry,
// which for inlined code is a position in the inlined function.
func (t *funcTable) fileLine(f fn, off uint64) (string, int) {
	file := t.value(binary.LittleEndian.Uint32(f.record[20:]), off)
	line := t.value(binary.LittleEndian.Uint32(f.record[24:]), off)
	if file < 0 || line <= 0 {
		return "", 0
	}
	unit := uint64(binary.LittleEndian.Uint32(f.record[32:])) + uint64(file)
	if unit >= t.m.cutab.size {
		return "", 0
	}
	at := uint64(t.im.half(t.m.cutab.addr + 4*unit))
	if at >= t.m.files.size {
		return "", 0
	}
	b := t.im.at(t.m.files.addr+at, t.m.files.size-at)
	end := bytes.IndexByte(b, 0)
	if end <= 0 {
		return "", 0
	}
	return path.Clean(string(b[:end])), int(line)
}
