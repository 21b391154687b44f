package binary

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// callable tells which of the plugin's functions are shown to be able to run. A
// plain function is: the linker keeps it only because something uses it. A
// method may be kept because an interface has one of that name, so that it must
// be called or used as a value by a function that is shown to run, or be a
// handler.
func (p *program) callable(refs *references, handlers []int) []bool {
	reached := make([]bool, p.funcs.len())
	var work []int
	reach := func(i int) {
		if !reached[i] {
			reached[i] = true
			work = append(work, i)
		}
	}
	for i, c := range p.classes {
		if c != pluginOwn {
			continue
		}
		f, ok := p.funcs.get(i)
		if ok && !ofMethod(p.funcs.nameAt(p.funcs.nameOffset(f))) {
			reach(i)
		}
	}
	for _, i := range handlers {
		reach(i)
	}
	slices.SortFunc(refs.edges, func(a, b edge) int { return cmp.Compare(a.from, b.from) })
	for len(work) > 0 {
		n := uint32(work[len(work)-1])
		work = work[:len(work)-1]
		at, _ := slices.BinarySearchFunc(refs.edges, n, func(e edge, n uint32) int { return cmp.Compare(e.from, n) })
		for ; at < len(refs.edges) && refs.edges[at].from == n; at++ {
			reach(int(refs.edges[at].to))
		}
	}
	return reached
}

// ofMethod tells whether a function is a method or a function literal in one:
// "(*T).M", "T.M", "(*T).M.func1".
func ofMethod(name []byte) bool {
	_, rest := splitName(name)
	if bytes.HasPrefix(rest, []byte("(")) {
		return true
	}
	if i := bytes.IndexByte(rest, '['); i >= 0 {
		rest = rest[:i]
	}
	first, second, ok := strings.Cut(string(rest), ".")
	if !ok || first == "" || first == "init" {
		return false
	}
	// "F.func1" and the like are function literals in a function.
	for _, literal := range []string{"func", "gowrap", "deferwrap", "init", "."} {
		if strings.HasPrefix(second, literal) {
			return false
		}
	}
	return second != "" && !(second[0] >= '0' && second[0] <= '9')
}
