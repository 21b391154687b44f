package binary

import (
	"slices"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// Copies of whole objects. The compiler often makes a message on the stack and
// copies it to its place; what was stored in it is written there.

// copied stands for the place that a message is copied to.
const copied = ^origin(0)

// givenMessage tells whether it is a message that a plugin is given.
func givenMessage(name string) bool {
	switch name {
	case "Container", "PodSandbox", "LinuxContainer", "LinuxPodSandbox", "LinuxResources":
		return true
	}
	return false
}

// copy is a load of some words into a vector register, or of what is left to
// copy into another one.
func (ip *interp) copy(s *state, in *instr) {
	from := ip.address(s, in.mem)
	ip.copiedWhole(from)
	switch {
	case in.dst != noReg && from.kind == frame: // the rest of a copy
		s.setReg(in.dst, s.slot(from.off))
	case in.dst != noReg:
		s.setReg(in.dst, value{})
	case from.kind == frame:
		s.copied = from
	default:
		s.copied = value{}
	}
}

// copiedWhole notes that a message that was given is copied.
func (ip *interp) copiedWhole(v value) {
	if v.kind != pointer {
		return
	}
	if name := ip.fl.p.api.names[v.typ]; givenMessage(name) {
		ip.hand(name, v.origin, copied)
	}
}

// unread takes back that a field was read by one of the last instructions: what
// is left over by a copy can be loaded before it, too.
func (ip *interp) unread(v value) {
	if !ip.final {
		return
	}
	const near = 32 // bytes of code
	for _, f := range ip.fl.layout.at(v.typ, v.off).fields {
		sym, ok := symbols.LookupField(f.message, f.field)
		if !ok {
			continue
		}
		ip.uses = slices.DeleteFunc(ip.uses, func(u rawUse) bool {
			return u.how == symbols.Read && u.symbol.Full == sym.Full && u.origin == v.origin && u.off+near > ip.at.off
		})
	}
}

// paste stores words that lie on the stack to another place.
func (ip *interp) paste(s *state, to, from value, width int64) {
	switch to.kind {
	case frame:
		for off := int64(0); off < width; off += 8 {
			v := value{}
			if from.kind == frame {
				v = s.stored(from.off + off)
			}
			s.setSlot(to.off+off, 8, v)
		}
	case pointer:
		if from.kind != frame {
			return
		}
		for off := int64(0); off < width; off += 8 {
			if v := s.stored(from.off + off); v.kind != unknown {
				ip.write(to, to.off+off, v)
			}
		}
	}
}

// maxObject bounds the size of an object that is copied word by word.
const maxObject = 4096

// bulk copies an object as long as its type.
func (ip *interp) bulk(s *state, to, from value) {
	ip.copiedWhole(from)
	typ := to
	if to.kind == frame {
		typ = from
	}
	if typ.kind != pointer {
		return
	}
	if size := int64(ip.fl.p.types.size(typ.typ)) - typ.off; size > 0 && size <= maxObject {
		ip.paste(s, to, from, size)
	}
}
