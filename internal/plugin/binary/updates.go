package binary

import (
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// updates tells what handlers do besides handling: they return updates of other
// containers, or call UpdateContainers before they have returned.
func (p *program) updates(refs *references, fl *flow, handlers []calledHandler) []capability.Requirement {
	sent := map[int][]uint64{} // calls of UpdateContainers by function
	for i, ip := range fl.found {
		for _, u := range ip.uses {
			if u.symbol.Full == symbols.UpdateContainers {
				sent[i] = append(sent[i], uint64(u.off))
			}
		}
	}
	var reqs []capability.Requirement
	for _, h := range handlers {
		makes, lists := false, false
		var own []capability.Requirement
		for _, i := range refs.reach(h.fn) {
			if ip := fl.found[i]; ip != nil {
				makes, lists = makes || ip.updates, lists || ip.lists
			}
			for _, off := range sent[i] {
				f, _ := p.funcs.get(i)
				at, _ := p.place(f, off)
				ev := capability.Evidence{Function: at.function, File: at.file, Line: at.line}
				own = append(own, symbols.UnsolicitedRequirement(h.evidence.Function, capability.FromBinary, ev))
			}
		}
		if result := symbols.UpdatesResult(h.Name); result >= 0 && makes && lists && fl.returnsNonzero(h.fn, result) {
			own = append(own, symbols.UpdatesRequirement(h.Handler, capability.FromBinary, h.evidence))
		}
		for _, r := range own {
			r.Unproven = r.Unproven || h.unproven
			reqs = append(reqs, r)
		}
	}
	return reqs
}

// returnsNonzero tells whether function i can return something else than nil in
// a result. What it is cannot be told from the register: a list lies in a buffer
// on the stack on one way, and on the heap on another. All results before it
// must be pointers, each in a register.
func (fl *flow) returnsNonzero(i, result int) bool {
	ip := fl.found[i]
	return ip != nil && ip.returns[result]
}

// listsUpdates tells whether a value is a list of updates.
func (fl *flow) listsUpdates(v value) bool {
	t := rtype(0)
	switch v.kind {
	case elements:
		t = v.typ
	case pointer: // to the array of a list that is written out
		if fl.p.types.kind(v.typ) == kindArray {
			t = fl.p.types.elem(v.typ)
		}
	}
	return fl.p.api.pointers[t] == "ContainerUpdate"
}

// reach returns the plugin's functions that can run before function i has
// returned, as far as calls and uses of addresses show; i itself is one.
func (r *references) reach(i int) []int {
	seen, list := map[int]bool{i: true}, []int{i}
	for n := 0; n < len(list); n++ {
		// The edges are sorted by the function they go out from.
		from := uint32(list[n])
		at, _ := slices.BinarySearchFunc(r.edges, from, func(e edge, from uint32) int { return int(int64(e.from) - int64(from)) })
		for ; at < len(r.edges) && r.edges[at].from == from; at++ {
			if e := r.edges[at]; !e.apart && !seen[int(e.to)] {
				seen[int(e.to)] = true
				list = append(list, int(e.to))
			}
		}
	}
	slices.Sort(list)
	return list
}
