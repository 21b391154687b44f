package binary

import (
	"bytes"
	"strings"
)

// callerIndex lists the callers of each function, and what uses its address.
type callerIndex struct {
	start []uint32 // of function i in from
	from  []uint32
}

func newCallerIndex(functions int, edges []edge) callerIndex {
	x := callerIndex{make([]uint32, functions+2), make([]uint32, len(edges))}
	for _, e := range edges {
		x.start[e.to+2]++
	}
	for i := 2; i < len(x.start); i++ {
		x.start[i] += x.start[i-1]
	}
	// Each start is now where the next function's list begins to be filled.
	for _, e := range edges {
		x.from[x.start[e.to+1]] = e.from
		x.start[e.to+1]++
	}
	return x
}

// of returns the callers of function i in order; one may stand there twice.
func (x *callerIndex) of(i int) []uint32 { return x.from[x.start[i]:x.start[i+1]] }

// reachability tells which of the plugin's functions are shown to be able to
// run. A plain function is: the linker keeps it only because something uses it.
// A method may be kept because an interface has one of that name, so that it
// must be called or used as a value by a function that is shown to run, or be a
// handler.
type reachability struct {
	p       *program
	callers *callerIndex
	known   map[int]bool
}

func newReachability(p *program, callers *callerIndex, handlers []int) *reachability {
	r := &reachability{p, callers, map[int]bool{}}
	for _, i := range handlers {
		r.known[i] = true
	}
	return r
}

// callable tells whether function i is shown to be able to run. It goes back
// from callee to caller.
func (r *reachability) callable(i int) bool {
	if yes, ok := r.known[i]; ok {
		return yes
	}
	seen, work := map[int]bool{i: true}, []int{i}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if r.known[n] || r.plain(n) {
			r.known[i] = true
			return true
		}
		for _, from := range r.callers.of(n) {
			if from := int(from); !seen[from] {
				seen[from] = true
				work = append(work, from)
			}
		}
	}
	for n := range seen {
		r.known[n] = false
	}
	return false
}

func (r *reachability) plain(i int) bool {
	f, ok := r.p.funcs.get(i)
	return ok && r.p.classes[i] == pluginOwn && !ofMethod(r.p.funcs.nameAt(r.p.funcs.nameOffset(f)))
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
