package binary

import (
	"encoding/binary"
	"math"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// inlined is one call that the compiler expanded in place.
type inlined struct {
	nameOff uint32
	// caller is an offset, from the function's entry, of an instruction that
	// has the source position of the call.
	caller uint32
}

// inlineTree gives access to the calls that were inlined into one function.
type inlineTree struct {
	t     *funcTable
	addr  uint64
	table uint32
}

func (t *funcTable) inlineTree(f fn) inlineTree {
	return inlineTree{t: t, addr: t.funcdata(f, funcdataInlTree), table: t.pcdata(f, pcdataInlTree)}
}

// maxNode is the size of a node, which it is in the older form.
const maxNode = 20

// get returns node i of the tree.
func (it inlineTree) get(i int32) (inlined, bool) {
	if it.addr == 0 || i < 0 || i > 1<<20 {
		return inlined{}, false
	}
	// Go 1.18 and 1.19 had file and line in a node instead of a first line.
	size, name, caller := uint64(16), 4, 8
	if !it.t.m.go120 {
		size, name, caller = maxNode, 12, 16
	}
	b := it.t.im.at(it.addr+uint64(i)*size, size)
	if b == nil {
		return inlined{}, false
	}
	return inlined{binary.LittleEndian.Uint32(b[name:]), binary.LittleEndian.Uint32(b[caller:])}, true
}

// len returns the number of nodes.
func (it inlineTree) len() int32 {
	if it.addr == 0 {
		return 0
	}
	last := int32(-1)
	it.t.walk(it.table, func(_ uint64, value int32) bool {
		last = max(last, value)
		return true
	})
	return last + 1
}

// place is where in the plugin's source something happens.
type place struct {
	function string
	file     string
	line     int
}

// place returns the innermost function at an offset of f that is not part of
// NRI, and the position in it: an API function that was inlined is charged to
// its caller, and named in via. via is "" if the code is the plugin's own.
func (p *program) place(f fn, off uint64) (at place, via []byte) {
	tree := p.funcs.inlineTree(f)
	node := p.funcs.value(tree.table, off)
	name := p.funcs.nameAt(p.funcs.nameOffset(f))
	// A tree is not deeper than this; a damaged one may run in circles.
	for range 64 {
		in, ok := tree.get(node)
		if !ok {
			break
		}
		inner := p.funcs.nameAt(in.nameOff)
		c := p.class.class(inner)
		if c == pluginOwn {
			name = inner
			break
		}
		if c == nriAPI || c == nriOther {
			via = inner
		}
		off = uint64(in.caller)
		node = p.funcs.value(tree.table, off)
	}
	file, line := p.funcs.fileLine(f, off)
	return place{string(name), file, line}, via
}

// inlinedUses reports the API functions that the plugin's own code calls and
// that were inlined into function f.
func (p *program) inlinedUses(f fn, report func(s symbols.Symbol, off uint64)) {
	tree := p.funcs.inlineTree(f)
	for i, n := int32(0), tree.len(); i < n; i++ {
		node, ok := tree.get(i)
		if !ok {
			return
		}
		s, ok := p.inlineSymbol(node.nameOff)
		if !ok {
			continue
		}
		if _, via := p.place(f, uint64(node.caller)); via == nil {
			report(s, uint64(node.caller))
		}
	}
}

// inliners are the plugin's own functions whose trees can have a node of an API
// function that shows something. Instead of walking the trees of all functions,
// it looks for the places of these names where the trees lie, and goes back from
// there to the start of a tree.
func (p *program) inliners() []int {
	if len(p.inlineNames) == 0 {
		return nil
	}
	data := p.im.from(p.funcs.m.gofunc)
	trees := make([]uint32, p.funcs.len()) // offset in data in units of 4 bytes, plus 1
	low, high, last := uint32(math.MaxUint32), uint32(0), -1
	for i := range trees {
		f, ok := p.funcs.get(i)
		if !ok {
			continue
		}
		off := p.funcs.funcdata(f, funcdataInlTree) - p.funcs.m.gofunc
		if off >= min(uint64(len(data)), 1<<32) || off%4 != 0 {
			continue
		}
		trees[i] = uint32(off/4) + 1
		low = min(low, trees[i])
		if trees[i] >= high {
			high, last = trees[i], i
		}
	}
	if last < 0 {
		return nil
	}
	starts := make([]uint64, (high-low)/64+1)
	for _, t := range trees {
		if t > 0 {
			starts[(t-low)/64] |= 1 << ((t - low) % 64)
		}
	}
	f, _ := p.funcs.get(last)
	end := uint64(high-1)*4 + uint64(p.funcs.inlineTree(f).len())*maxNode
	data = data[:min(end, uint64(len(data)))]
	with := map[uint32]bool{}
	for t, start := low, low; len(data)-int(t-1)*4 >= 4; t++ {
		if t <= high && starts[(t-low)/64]>>((t-low)%64)&1 == 1 {
			start = t
		}
		if p.inlinableAt(binary.LittleEndian.Uint32(data[int(t-1)*4:])) {
			with[start] = true
		}
	}
	var list []int
	for i, t := range trees {
		if p.classes[i] == pluginOwn && with[t] {
			list = append(list, i)
		}
	}
	return list
}
