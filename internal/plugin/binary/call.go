package binary

import (
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// duffUnits is how many times the runtime's copy copies 16 bytes if it is
// entered at its start.
const duffUnits = 64

// call carries a state over a call, and notes what it shows.
func (ip *interp) call(s *state, in *instr) {
	fl, k := ip.fl, &ip.fl.p.known
	if k.writeBarriers[in.imm] {
		for _, r := range fl.m.scratch {
			s.setReg(r, value{})
		}
		return
	}
	if in.imm != 0 && in.imm >= k.duffCopy[0] && in.imm < k.duffCopy[1] {
		dst, src := fl.m.duff[0], fl.m.duff[1]
		from := s.reg(src)
		ip.bulk(s, s.reg(dst), from)
		if n := fl.m.duffBytes; n > 0 && from.kind == pointer {
			// The earlier it is entered, the more it copies. Of an odd number
			// of words one is left.
			from.off += (duffUnits - int64(in.imm-k.duffCopy[0])/n) * 16
			s.rest = from
			ip.unread(from)
		}
		for _, r := range append(fl.m.scratch, dst, src) {
			s.setReg(r, value{})
		}
		return
	}
	var results []value
	switch {
	case in.imm == 0:
		results = ip.dynamic(s, in)
	case in.imm == k.newObject:
		results = ip.made(s)
	case k.runtime[in.imm]:
		results = ip.runtimeCall(s, in.imm)
	default:
		ip.arguments(s)
		results = ip.direct(s, in)
	}
	s.regs = [maxRegs]value{}
	for n, v := range results {
		ip.lists = ip.lists || fl.listsUpdates(v)
		if n < len(fl.m.args) {
			s.setReg(fl.m.args[n], v)
		}
	}
}

// arguments notes whole messages among the arguments, and function literals on
// the stack.
func (ip *interp) arguments(s *state) {
	for _, r := range append(ip.fl.m.args[:len(ip.fl.m.args):len(ip.fl.m.args)], ip.fl.m.context) {
		v := s.reg(r)
		ip.given(v)
		if v.kind == frame && ip.final && s.slot(v.off).kind == constant {
			ip.fl.passStacked(-1, r, v, s)
		}
	}
}

// made is a new object.
func (ip *interp) made(s *state) []value {
	arg := s.reg(ip.fl.m.args[0])
	t := rtype(arg.addr())
	if arg.kind != constant || !ip.fl.layout.leads(t) {
		return nil
	}
	at := ip.fl.origins.place(originKey{ip.fn, int64(ip.at.off), 0})
	ip.updates = ip.updates || ip.fl.p.api.names[t] == "ContainerUpdate"
	if name := ip.fl.p.api.names[t]; name != "" && ip.final {
		if sym, ok := symbols.LookupType(name); ok {
			ip.uses = append(ip.uses, rawUse{sym, symbols.Construct, ip.at.off, at})
		}
	}
	return []value{{kind: pointer, typ: t, origin: at}}
}

// runtimeCall knows the few functions of the runtime that return an object of
// a type they are given.
func (ip *interp) runtimeCall(s *state, target uint64) []value {
	fl := ip.fl
	arg := func(n int) rtype {
		if v := s.reg(fl.m.args[n]); v.kind == constant {
			return rtype(v.addr())
		}
		return 0
	}
	switch {
	case fl.p.known.mapReads[target]:
		if e := fl.p.types.mapElem(arg(0)); e != 0 && fl.layout.leads(e) {
			return []value{{kind: pointer, typ: e}}
		}
	case fl.p.known.growSlices[target]:
		t := arg(4)
		if !fl.layout.leads(t) {
			t = arg(0) // before Go 1.20
		}
		if fl.layout.leads(t) {
			return []value{{kind: elements, typ: t}}
		}
	case fl.p.known.moveSlices[target]:
		if t := arg(0); fl.layout.leads(t) {
			return []value{{kind: elements, typ: t}}
		}
	case target == fl.p.known.makeSlice:
		if t := arg(0); fl.layout.leads(t) {
			return []value{{kind: elements, typ: t}}
		}
	}
	return nil
}

// direct is a call of a function that is known.
func (ip *interp) direct(s *state, in *instr) []value {
	fl := ip.fl
	i := fl.p.entryAt(in.imm)
	if i < 0 {
		return nil
	}
	for _, entry := range fl.p.known.stubNew {
		if entry == in.imm {
			return ip.newStub(s)
		}
	}
	recv := s.reg(fl.m.args[0])
	sig, known := fl.signatures[in.imm]
	if sym, ok := fl.p.targets[in.imm]; ok && ip.final {
		how := symbols.Call
		if recv.kind == pointer && known && recv.typ == fl.p.types.elem(sig.recv) {
			ip.uses = append(ip.uses, rawUse{sym, how, in.off, recv.origin})
		}
	}
	var results []value
	if fl.p.classes[i] == pluginOwn {
		if ip.final {
			fl.pass(i, s)
		}
		results = fl.results[i]
	}
	if known {
		from := origin(0)
		if recv.kind == pointer {
			from = recv.origin
		}
		results = ip.signed(results, sig, from)
	}
	return results
}

// signed fills in results by a method's signature.
func (ip *interp) signed(results []value, sig signature, recv origin) []value {
	typed := make([]value, len(ip.fl.m.args))
	copy(typed, results)
	message := ip.fl.p.api.names[ip.fl.p.types.elem(sig.recv)]
	for n, v := range ip.fl.layout.registers(sig.out, len(ip.fl.m.args)) {
		if typed[n].kind != unknown || v.kind == unknown {
			continue
		}
		if c, ok := contextOf(message); ok {
			v.origin = origin(c)
		} else if message != "" {
			v.origin = recv
		}
		typed[n] = v
	}
	return typed
}

// newStub is a call of stub.New: the first argument is the type of the plugin.
func (ip *interp) newStub(s *state) []value {
	fl := ip.fl
	if ip.final {
		t := rtype(0)
		if arg := s.reg(fl.m.args[0]); arg.kind == constant && fl.p.types.kind(arg.typ) != 0 {
			t = arg.typ
		} else {
			fl.pushCallers(ip.fn, maxHelpers)
		}
		ip.plugins = append(ip.plugins, t)
	}
	if fl.stub == 0 {
		return nil
	}
	return []value{{kind: methods, typ: fl.stub}}
}

// dynamic is a call through a register or through memory: of a method of an
// interface, where the place in the method table tells which.
func (ip *interp) dynamic(s *state, in *instr) []value {
	fl := ip.fl
	ip.arguments(s)
	target := in.mem
	v := s.reg(target.base)
	if in.src != noReg {
		v, target.disp = s.reg(in.src), s.reg(in.src).off
	}
	if v.kind == constant && target.base == noReg && fl.p.entryAt(v.addr()) >= 0 {
		known := *in
		known.imm = v.addr()
		return ip.direct(s, &known)
	}
	if v.kind != methods || target.index != noReg {
		return nil
	}
	list := fl.p.types.imethods(v.typ)
	// The functions stand behind two pointers and a hash.
	n := (target.disp - 24) / 8
	if target.disp < 24 || n >= int64(len(list)) {
		return nil
	}
	m := list[n]
	if ip.final && strings.HasSuffix(fl.p.types.name(v.typ), ".Stub") {
		if sym, ok := symbols.Lookup("stub.Stub." + m.name); ok {
			ip.uses = append(ip.uses, rawUse{sym, symbols.Call, in.off, 0})
		}
	}
	_, out := fl.p.types.signature(m.sig)
	return fl.layout.registers(out, len(fl.m.args))
}
