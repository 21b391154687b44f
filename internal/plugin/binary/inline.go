package binary

import "github.com/nri-compat/nri-compat/internal/plugin/symbols"

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

// get returns node i of the tree.
func (it inlineTree) get(i int32) (inlined, bool) {
	if it.addr == 0 || i < 0 || i > 1<<20 {
		return inlined{}, false
	}
	// Go 1.18 and 1.19 had file and line in a node instead of a first line.
	size, name, caller := uint64(16), 4, 8
	if !it.t.m.go120 {
		size, name, caller = 20, 12, 16
	}
	b := it.t.im.at(it.addr+uint64(i)*size, size)
	if b == nil {
		return inlined{}, false
	}
	return inlined{it.t.im.order.Uint32(b[name:]), it.t.im.order.Uint32(b[caller:])}, true
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
// NRI or the standard library, and the position in it: an API function that
// was inlined is charged to its caller.
func (p *program) place(f fn, off uint64) place {
	tree := p.funcs.inlineTree(f)
	at := p.funcs.value(tree.table, off)
	// A tree is not deeper than this; a damaged one may run in circles.
	for range 64 {
		node, ok := tree.get(at)
		if at < 0 || !ok {
			break
		}
		name := p.funcs.nameAt(node.nameOff)
		if p.class.class(name) == pluginOwn {
			file, line := p.funcs.fileLine(f, off)
			return place{string(name), file, line}
		}
		off = uint64(node.caller)
		at = p.funcs.value(tree.table, off)
	}
	file, line := p.funcs.fileLine(f, off)
	return place{string(p.funcs.nameAt(p.funcs.nameOffset(f))), file, line}
}

// inlinedUses reports the API functions that were inlined into function i.
func (p *program) inlinedUses(f fn, report func(s symbols.Symbol, off uint64)) {
	tree := p.funcs.inlineTree(f)
	for i, n := int32(0), tree.len(); i < n; i++ {
		node, ok := tree.get(i)
		if !ok {
			return
		}
		if s, ok := p.inlineSymbol(node.nameOff); ok {
			report(s, uint64(node.caller))
		}
	}
}
