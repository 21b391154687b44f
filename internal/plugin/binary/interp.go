package binary

import (
	"math"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// Bounds on one function; nothing that a compiler makes of a plugin's code
// comes near them.
const (
	maxCode   = 256 << 10 // bytes
	maxVisits = 64        // of one block
)

// rawUse is a use of an API symbol whose origin may not be known yet.
type rawUse struct {
	symbol symbols.Symbol
	how    symbols.How
	off    uint32
	origin origin
}

// handing is a place where a whole message is given away: to code that takes
// any value, or into a message that the plugin sends.
type handing struct {
	off      uint32
	message  string
	from, to origin // of a message put into another one
}

// interp follows the values of one function.
type interp struct {
	fl     *flow
	fn     int
	f      fn
	code   []instr
	blocks []block
	// final is set in the last round, in which uses and effects on other
	// functions are noted.
	final bool
	at    *instr
	uses  []rawUse
	hands []handing
	// plugins are the types handed to stub.New, 0 for one that is not known.
	plugins []rtype
	// updates is set if a ContainerUpdate is made, and lists if a list of them is
	// made, or returned by a function that is called.
	updates, lists bool
	// returns are the results that are not 0 on all ways.
	returns [maxResults]bool
}

// run follows the function from the given values of its parameters until
// nothing changes. It returns false if it gave up.
func (ip *interp) run(entry *state) bool {
	ip.blocks = cut(ip.code, ip.f.entry, ip.f.end-ip.f.entry)
	if len(ip.blocks) == 0 {
		return true
	}
	ip.blocks[0].in = entry.clone()
	if !ip.settle([]int{0}) {
		return false
	}
	// What is still not reached is the target of a jump table, or is entered
	// after a panic. The former start with what holds at the jump.
	unreached := ip.enterUnreached()
	if !ip.settle(unreached) {
		return false
	}
	ip.final = true
	for n := range ip.blocks {
		b := &ip.blocks[n]
		if b.in != nil {
			ip.walk(b)
		}
	}
	return true
}

// enterUnreached gives every block that has no state one, and returns them.
func (ip *interp) enterUnreached() []int {
	var table *state
	for n := range ip.blocks {
		b := &ip.blocks[n]
		if b.in == nil || !b.indirect {
			continue
		}
		out := ip.walk(b)
		if table == nil {
			table = out.clone()
		} else {
			table.meet(out, func(_ int64, a, b origin) origin { return ip.join(-1, math.MaxInt64, a, b) })
		}
	}
	if table == nil {
		table = &state{}
	}
	var entered []int
	for n := range ip.blocks {
		if ip.blocks[n].in == nil {
			ip.blocks[n].in = table.clone()
			entered = append(entered, n)
		}
	}
	return entered
}

// settle carries states along the blocks until they do not change any more.
func (ip *interp) settle(work []int) bool {
	visits := make([]uint8, len(ip.blocks))
	for len(work) > 0 {
		n := work[0]
		work = work[1:]
		b := &ip.blocks[n]
		if visits[n]++; visits[n] > maxVisits || !ip.fl.spend(b.to-b.from) {
			return false
		}
		out := ip.walk(b)
		for _, to := range b.next {
			t := &ip.blocks[to]
			if t.in == nil {
				t.in = out.clone()
				work = append(work, to)
				continue
			}
			if t.in.meet(out, func(loc int64, a, b origin) origin { return ip.join(to, loc, a, b) }) {
				work = append(work, to)
			}
		}
	}
	return true
}

// join is the origin of a value that comes to a block on two ways.
func (ip *interp) join(block int, loc int64, a, b origin) origin {
	if a == b {
		return a
	}
	o := ip.fl.origins
	j := o.place(originKey{ip.fn, -2 - int64(block), loc})
	o.flow(a, j)
	o.flow(b, j)
	return j
}

// walk carries the state at the start of a block through it. The result is
// good until the next call.
func (ip *interp) walk(b *block) *state {
	s := &ip.fl.scratch
	s.set(b.in)
	for i := b.from; i < b.to; i++ {
		ip.step(s, &ip.code[i])
	}
	return s
}

func (ip *interp) step(s *state, in *instr) {
	ip.at = in
	m := &ip.fl.m
	switch in.op {
	case opMove:
		s.setReg(in.dst, s.reg(in.src))
	case opLoad:
		v := ip.load(s, in.mem, in.width)
		if in.width != 8 {
			v = value{}
		}
		s.setReg(in.dst, v)
	case opCopy:
		ip.copy(s, in)
	case opPaste:
		ip.paste(s, ip.address(s, in.mem), s.copied, int64(in.width))
	case opBulk:
		ip.bulk(s, s.reg(in.dst), s.reg(in.src))
	case opStore:
		ip.store(s, in)
	case opAddress:
		s.setReg(in.dst, ip.address(s, in.mem))
		if in.dst == m.stack { // all slots have other numbers now
			s.stack = s.stack[:0]
			s.setReg(in.dst, value{})
		}
	case opConst:
		s.setReg(in.dst, constantAt(in.imm))
	case opZero:
		s.setReg(in.dst, value{kind: zero})
	case opCall:
		ip.call(s, in)
	case opJump:
		// A jump out of the function is a call whose result is ours.
		if in.imm != 0 && (in.imm < ip.f.entry || in.imm >= ip.f.end) {
			ip.call(s, in)
			ip.results(s)
		}
	case opReturn:
		ip.results(s)
	case opClobber:
		s.setReg(in.dst, value{})
	}
}

// results notes what the function returns.
func (ip *interp) results(s *state) {
	if !ip.final {
		return
	}
	var vals []value
	for n, r := range ip.fl.m.args[:maxResults] {
		v := s.reg(r)
		vals = append(vals, v)
		ip.returns[n] = ip.returns[n] || v.kind != zero
	}
	ip.fl.returned(ip.fn, vals)
}
