package binary

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// ref is a place in the code of function fn, at off bytes from its entry.
type ref struct {
	fn  int
	off uint64
}

// apiCall is a call of an API function, or a use of its address.
type apiCall struct {
	ref
	symbol symbols.Symbol
}

// references are what the plugin's own functions refer to by address. It is
// found by scanning the code for the few forms of instructions that hold an
// address, without decoding the rest.
type references struct {
	calls []apiCall
	// callers are the functions that call stub.New, and registrars those that
	// register a service of the raw protocol.
	callers, registrars []int
	// typed are the functions that refer to a type of the API.
	typed []int
	// edges are calls and uses of functions among the plugin's own.
	edges []edge
}

// edge is a call of a function, or the use of its address. It is apart if a new
// goroutine is started with it, so that it does not run before its user goes on.
type edge struct {
	from, to uint32
	apart    bool
}

// scan visits every function that is not NRI's or the standard library's. It
// reads the code in pieces, of which nothing is kept. Meanwhile the other tasks
// are done.
func (p *program) scan(ctx context.Context, others ...func()) (*references, error) {
	pieces := p.pieces()
	parts := make([]references, len(pieces))
	types := p.interestingTypes()
	bufs := sync.Pool{New: func() any { return new([]byte) }}
	err := parallel(len(others)+len(pieces), func(n int) error {
		if n < len(others) {
			others[n]()
			return ctx.Err()
		}
		n -= len(others)
		buf := bufs.Get().(*[]byte)
		defer bufs.Put(buf)
		p.scanPiece(pieces[n], buf, scanner{p: p, r: &parts[n], types: types})
		return ctx.Err()
	})
	r := &references{}
	for i := range parts {
		r.calls = append(r.calls, parts[i].calls...)
		r.callers = append(r.callers, parts[i].callers...)
		r.registrars = append(r.registrars, parts[i].registrars...)
		r.typed = append(r.typed, parts[i].typed...)
		r.edges = append(r.edges, parts[i].edges...)
	}
	return r, err
}

// piece is a run of functions whose code is read at once.
type piece struct {
	first, end int
	addr, size uint64
}

// pieces cuts the plugin's own functions into pieces.
func (p *program) pieces() []piece {
	const size = 256 << 10
	var list []piece
	last := piece{addr: math.MaxUint64} // no piece yet
	for i, c := range p.classes {
		f, ok := p.funcs.get(i)
		if c != pluginOwn || !ok {
			continue
		}
		if last.end != i || f.end < last.addr || f.end-last.addr > size {
			list = append(list, last)
			last = piece{first: i, addr: f.entry}
		}
		last.end, last.size = i+1, f.end-last.addr
	}
	return append(list, last)[1:]
}

func (p *program) scanPiece(pc piece, buf *[]byte, s scanner) {
	code := p.im.readCode(pc.addr, pc.size, buf)
	if code == nil {
		return
	}
	for i := pc.first; i < pc.end; i++ {
		f, ok := p.funcs.get(i)
		if !ok || f.entry < pc.addr || f.end-pc.addr > pc.size {
			continue // the table is out of order
		}
		s.fn, s.typed, s.used, s.code = i, false, 0, code[f.entry-pc.addr:f.end-pc.addr]
		p.scanCode(s.code, f.entry, &p.notForeign, &s)
		if s.typed {
			s.r.typed = append(s.r.typed, i)
		}
	}
}

// addressSet is a set of addresses that tells quickly what is not in it.
type addressSet struct {
	set    map[uint64]bool
	filter [1024]uint64 // a bit for each remainder of an address that is in it
}

func (a *addressSet) add(x uint64) {
	a.set[x] = true
	a.filter[x>>9&1023] |= 1 << (x >> 3 & 63)
}

func (a *addressSet) has(x uint64) bool {
	return a.filter[x>>9&1023]>>(x>>3&63)&1 == 1 && a.set[x]
}

// interestingTypes are the types whose use makes a function worth following:
// message types, pointers to them and method tables of them.
func (p *program) interestingTypes() *addressSet {
	set := &addressSet{set: map[uint64]bool{}}
	for t := range p.api.names {
		set.add(uint64(t))
	}
	for t := range p.api.pointers {
		set.add(uint64(t))
	}
	for _, it := range p.types.itabs() {
		if p.api.pointers[it.conc] != "" {
			set.add(it.addr)
		}
	}
	return set
}

// scanner notes the references of one function.
type scanner struct {
	p     *program
	r     *references
	types *addressSet
	fn    int
	code  []byte // of the function
	typed bool
	// used is how many edges there were after the last use of an address.
	used int
}

// call notes a call or jump to address a.
func (s *scanner) call(off, a uint64) {
	if to := s.p.entryAt(a); to >= 0 {
		s.function(off, a, to)
	}
}

// address notes the use of address a: a type, a function's entry, or a word
// with one, as a function value is.
func (s *scanner) address(off, a uint64) {
	if s.types.has(a) {
		s.typed = true
		return
	}
	to := s.p.entryAt(a)
	if to < 0 && a%8 == 0 { // as words are, and most strings are not
		a = s.p.im.word(a)
		to = s.p.entryAt(a)
	}
	if to >= 0 && s.function(off, a, to) {
		s.used = len(s.r.edges)
	}
}

// function notes the use of function to, whose entry is a, and tells whether it
// added an edge.
func (s *scanner) function(off, a uint64, to int) bool {
	switch s.p.classes[to] {
	case pluginOwn:
		if to != s.fn {
			s.r.edges = append(s.r.edges, edge{from: uint32(s.fn), to: uint32(to)})
			return true
		}
	case nriAPI, nriOther:
		if symbol, ok := s.p.targets[a]; ok && s.whole(off) {
			s.r.calls = append(s.r.calls, apiCall{ref{s.fn, off}, symbol})
		}
		if slices.Contains(s.p.known.stubNew, a) {
			s.r.callers = appendNew(s.r.callers, s.fn)
		}
		if slices.Contains(s.p.known.register, a) {
			s.r.registrars = appendNew(s.r.registrars, s.fn)
		}
	case foreign:
		// The function that a goroutine starts with is the last whose address
		// was used.
		if s.p.known.newProcs[a] && s.used > 0 {
			s.r.edges[s.used-1].apart = true
		}
	}
	return false
}

func appendNew(list []int, n int) []int {
	if len(list) > 0 && list[len(list)-1] == n {
		return list
	}
	return append(list, n)
}

// whole tells whether an instruction starts at off. On amd64 the bytes that
// look like a call can be the middle of another instruction; this is worth the
// time for the few that name an API function.
func (s *scanner) whole(off uint64) bool {
	if s.p.im.machineIsARM() {
		return true
	}
	return startsAMD64(s.code, off)
}

// visitor is told what a function refers to.
type visitor interface {
	// call is told of a call or jump at off to address a.
	call(off, a uint64)
	// address is told of the use of address a at off.
	address(off, a uint64)
}

// scanCode visits what a function refers to: calls only to the entries in to.
func (p *program) scanCode(code []byte, entry uint64, to *entrySet, v visitor) {
	if p.im.machineIsARM() {
		scanARM64(code, entry, to, v)
	} else {
		scanAMD64(code, entry, to, v)
	}
}

// scanARM64 visits calls (BL, B) and addresses (ADRP followed by ADD).
func scanARM64(code []byte, entry uint64, to *entrySet, s visitor) {
	var pages [32]uint64
	for off := 0; off+4 <= len(code); off += 4 {
		w := binary.LittleEndian.Uint32(code[off:])
		pc := entry + uint64(off)
		switch {
		case w&0x7c000000 == 0x14000000: // B, BL
			if a := branchARM64(w, pc); to.start(a) {
				s.call(uint64(off), a)
			}
		case w&0x9f000000 == 0x90000000: // ADRP
			pages[w&31] = pageARM64(w, pc)
		case w&0xff800000 == 0x91000000: // ADD immediate
			if page := pages[w>>5&31]; page != 0 {
				s.address(uint64(off), page+addImmARM64(w))
			}
		}
	}
}

// scanAMD64 visits calls (CALL and JMP with a 32 bit displacement) and
// addresses (LEA relative to the instruction pointer).
func scanAMD64(code []byte, entry uint64, to *entrySet, s visitor) {
	for off := 0; off+5 <= len(code); off++ {
		switch code[off] {
		case 0xe8, 0xe9:
			if a := entry + uint64(off) + 5 + disp(code[off+1:]); to.start(a) {
				s.call(uint64(off), a)
			}
		case 0x8d:
			// REX.W in front, then a register and [rip+disp32].
			if off > 0 && code[off-1]&0xf8 == 0x48 && code[off+1]&0xc7 == 0x05 && off+6 <= len(code) {
				s.address(uint64(off-1), entry+uint64(off)+6+disp(code[off+2:]))
			}
		}
	}
}

func disp(b []byte) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(b)))) }
