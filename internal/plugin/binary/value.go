package binary

import "slices"

// What the analysis of data flow knows of a register or stack slot.
type valueKind uint8

const (
	unknown  valueKind = iota
	pointer            // to an object of type typ, off bytes into it
	elements           // into an array whose elements have type typ
	methods            // the method table of interface type typ
	constant           // an address in the program
	frame              // the address of the stack slot at off
	stacked            // of an object on a caller's stack: a record, off bytes into it
	zero               // 0
	other              // of a stack slot: something was stored there
)

type value struct {
	kind   valueKind
	origin origin
	// typ is the type, or for a constant the address, or for an object on a
	// caller's stack the number of its record.
	typ rtype
	off int64
}

func constantAt(a uint64) value { return value{kind: constant, typ: rtype(a)} }

// addr is the address that a constant is, or the number of a record.
func (v value) addr() uint64 { return uint64(v.typ) }

// maxRegs is one more than the highest number of a register.
const maxRegs = 33

// slot is what is known of 8 bytes of the stack frame.
type slot struct {
	off int64
	val value
}

// state is what is known at one point of a function.
type state struct {
	regs  [maxRegs]value
	stack []slot // sorted by offset from the stack pointer
	// copied is the stack slot that a vector register was loaded from last.
	copied value
	// rest is the place of the word that a copy of many words has left over.
	rest value
}

func (s *state) clone() *state {
	c := *s
	c.stack = slices.Clone(s.stack)
	return &c
}

// set makes s a copy of o, in the memory that s has.
func (s *state) set(o *state) {
	s.regs, s.copied, s.rest = o.regs, o.copied, o.rest
	s.stack = append(s.stack[:0], o.stack...)
}

func (s *state) reg(r reg) value {
	if r < maxRegs {
		return s.regs[r]
	}
	return value{}
}

func (s *state) setReg(r reg, v value) {
	if r < maxRegs {
		s.regs[r] = v
	}
}

func (s *state) findSlot(off int64) (int, bool) {
	return slices.BinarySearchFunc(s.stack, off, func(s slot, off int64) int {
		switch {
		case s.off < off:
			return -1
		case s.off > off:
			return 1
		}
		return 0
	})
}

// slot is the value of a stack slot as a load gets it.
func (s *state) slot(off int64) value {
	if v := s.stored(off); v.kind != other {
		return v
	}
	return value{}
}

// stored is the same, but tells a slot in which something was stored from one
// of which nothing is known.
func (s *state) stored(off int64) value {
	if i, ok := s.findSlot(off); ok {
		return s.stack[i].val
	}
	return value{}
}

// maxSlots bounds what is kept of one stack frame.
const maxSlots = 256

// setSlot notes a store of width bytes; whatever it overlaps is forgotten.
func (s *state) setSlot(off, width int64, v value) {
	from, _ := s.findSlot(off - 7)
	to, _ := s.findSlot(off + width)
	s.stack = slices.Delete(s.stack, from, max(from, to))
	if v.kind == unknown || v.kind != zero && width != 8 {
		v = value{kind: other}
	}
	for ; width > 0 && len(s.stack) < maxSlots; width -= 8 {
		s.stack = slices.Insert(s.stack, from, slot{off, v})
		off, from = off+8, from+1
	}
}

// meet leaves in s what holds both in s and in o, and tells whether s changed.
// The origins of one object on two ways are joined by join.
func (s *state) meet(o *state, join func(loc int64, a, b origin) origin) bool {
	changed := false
	both := func(loc int64, a, b value) value {
		if a == b || a.kind == unknown {
			return a
		}
		m := value{}
		switch {
		case a.kind == zero && (b.kind == pointer || b.kind == elements):
			m = b // nil on one way: what is done with it is done on the other
		case b.kind == zero && (a.kind == pointer || a.kind == elements):
			return a
		case a.kind == b.kind && a.typ == b.typ && a.off == b.off:
			m = a
			m.origin = join(loc, a.origin, b.origin)
		case loc >= maxRegs && b.kind != unknown:
			m.kind = other
		}
		changed = changed || m != a
		return m
	}
	for i := range s.regs {
		s.regs[i] = both(int64(i), s.regs[i], o.regs[i])
	}
	if s.copied != o.copied {
		s.copied = value{}
	}
	if s.rest != o.rest {
		s.rest = value{}
	}
	// Both stacks are sorted.
	kept, rest := s.stack[:0], o.stack
	for _, sl := range s.stack {
		for len(rest) > 0 && rest[0].off < sl.off {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].off != sl.off {
			continue
		}
		if v := both(maxRegs+sl.off, sl.val, rest[0].val); v.kind != unknown {
			kept = append(kept, slot{sl.off, v})
		}
	}
	changed = changed || len(kept) != len(s.stack)
	s.stack = kept
	return changed
}
