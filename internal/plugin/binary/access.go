package binary

import "github.com/nri-compat/nri-compat/internal/plugin/symbols"

// What instructions that touch memory mean: which fields of messages are read
// and written, and what is put into what.

// address is the value of base + index + disp.
func (ip *interp) address(s *state, m mem) value {
	v := s.reg(m.base)
	if m.base == ip.fl.m.stack && m.index == noReg {
		return value{kind: frame, off: m.disp}
	}
	switch v.kind {
	case pointer, frame, stacked:
		if m.index != noReg {
			return value{}
		}
		v.off += m.disp
		return v
	case elements:
		return v
	case constant:
		if m.index == noReg {
			v.typ += rtype(m.disp)
			return v
		}
	}
	// The array may stand in the place of the index.
	if x := s.reg(m.index); x.kind == elements && m.index != noReg {
		return x
	}
	return value{}
}

// load is the value at a memory operand; it notes which fields are read.
func (ip *interp) load(s *state, m mem, width uint8) value {
	if m.base == ip.fl.m.stack && m.index == noReg {
		return s.slot(m.disp)
	}
	base := s.reg(m.base)
	if base.kind != elements && m.index != noReg {
		if x := s.reg(m.index); x.kind == elements {
			base, m.index = x, noReg
		}
	}
	switch base.kind {
	case frame:
		if m.index == noReg {
			return s.slot(base.off + m.disp)
		}
	case stacked:
		if m.index == noReg {
			return ip.fl.records[base.addr()].words[base.off+m.disp]
		}
	case methods: // of an interface: which method, the offset tells
		if m.index == noReg && base.off == 0 {
			base.off = m.disp
			return base
		}
	case pointer:
		if m.index != noReg {
			return value{}
		}
		if base.off += m.disp; base == s.rest {
			s.rest = value{}
			return value{}
		}
		return ip.read(base, base.off)
	case elements:
		size := int64(ip.fl.p.types.size(base.typ))
		if size <= 0 || m.disp < 0 {
			return value{}
		}
		base.kind = pointer
		return ip.read(base, m.disp%size)
	}
	return value{}
}

// read is the value at an offset of an object.
func (ip *interp) read(obj value, off int64) value {
	a := ip.fl.layout.at(obj.typ, off)
	from := obj.origin
	for _, f := range a.fields {
		ip.note(f, symbols.Read, from)
		if c, ok := contextOf(f.message); ok {
			from = origin(c)
		}
	}
	return ip.fl.layout.typed(a.typ, a.rest, from)
}

// store notes which fields are written and what is put into what.
func (ip *interp) store(s *state, in *instr) {
	m := in.mem
	v := value{kind: zero}
	if in.src != noReg {
		v = s.reg(in.src)
	} else if in.imm != 0 {
		v = value{}
	}
	if m.base == ip.fl.m.stack && m.index == noReg {
		s.setSlot(m.disp, int64(in.width), v)
		ip.given(v)
		return
	}
	ip.given(v)
	base := s.reg(m.base)
	switch {
	case base.kind == frame && m.index == noReg:
		s.setSlot(base.off+m.disp, int64(in.width), v)
	case base.kind == pointer && m.index == noReg:
		ip.write(base, base.off+m.disp, v)
	case base.kind == elements:
		if size := int64(ip.fl.p.types.size(base.typ)); size > 0 && m.disp >= 0 {
			ip.write(base, m.disp%size, v)
		}
	}
}

// write notes that a word of an object gets a value.
func (ip *interp) write(base value, off int64, v value) {
	if off == 0 && v.kind == constant {
		ip.fl.closure(ip, v.addr(), base)
	}
	if v.kind == zero {
		return
	}
	a := ip.fl.layout.at(base.typ, off)
	to := base.origin
	for _, f := range a.fields {
		if c, ok := contextOf(f.message); ok {
			to = origin(c)
		}
		ip.note(f, symbols.Write, base.origin)
	}
	if v.kind == pointer || v.kind == elements {
		ip.fl.origins.put(v.origin, to)
		if len(a.fields) > 0 {
			ip.hand(ip.fl.p.api.names[v.typ], v.origin, to)
		}
	}
}

// given notes that a value is stored or passed: the type of a message is
// stored where the message is turned into an interface value.
func (ip *interp) given(v value) {
	if v.kind != constant || !ip.final {
		return
	}
	if name := ip.fl.whole[v.addr()]; name != "" {
		ip.hand(name, 0, 0)
	}
}

func (ip *interp) hand(message string, from, to origin) {
	if ip.final && message != "" {
		ip.hands = append(ip.hands, handing{ip.at.off, message, from, to})
	}
}

// note notes the use of a field that shows something.
func (ip *interp) note(f messageField, how symbols.How, from origin) {
	if !ip.final {
		return
	}
	if s, ok := symbols.LookupField(f.message, f.field); ok {
		ip.uses = append(ip.uses, rawUse{s, how, ip.at.off, from})
	}
}
