package binary

import "github.com/nri-compat/nri-compat/internal/plugin/symbols"

// origin tells where an object comes from: 0 if that is not known, the
// numbers of [symbols.Context] for objects that hang off a message, and above
// these the numbers of places in the code where it is made, passed or joined.
type origin uint32

const firstPlace = origin(symbols.OfUpdate) + 1

// contexts is a set of [symbols.Context], one bit each.
type contexts uint8

func (c contexts) list() []symbols.Context {
	var list []symbols.Context
	for x := symbols.OfContainer; x <= symbols.OfUpdate; x++ {
		if c>>x&1 == 1 {
			list = append(list, x)
		}
	}
	return list
}

// originKey names a place: the function, the instruction or block in it, and
// the register or stack slot.
type originKey struct {
	fn  int
	at  int64
	loc int64
}

// origins finds out which message an object hangs off although it may be made
// before it is put there, in another function.
type origins struct {
	places map[originKey]origin
	// given is what an object is by where it comes from, stored by where it is
	// put.
	given, stored []contexts
	// flows are pairs (a, b): b may be the same object as a.
	flows map[[2]origin]bool
	// puts are pairs (a, b): object a is put into object b.
	puts map[[2]origin]bool
}

func newOrigins() *origins {
	return &origins{
		places: map[originKey]origin{}, flows: map[[2]origin]bool{}, puts: map[[2]origin]bool{},
		given: make([]contexts, firstPlace), stored: make([]contexts, firstPlace),
	}
}

// place returns the number of a place.
func (o *origins) place(k originKey) origin {
	if n, ok := o.places[k]; ok {
		return n
	}
	n := origin(len(o.given))
	o.places[k] = n
	o.given, o.stored = append(o.given, 0), append(o.stored, 0)
	return n
}

// flow notes that the object at place b may be the one of origin a.
func (o *origins) flow(a, b origin) {
	if a != b && b >= firstPlace && a != 0 {
		o.flows[[2]origin{a, b}] = true
	}
}

// put notes that an object of origin a is put into one of origin b.
func (o *origins) put(a, b origin) {
	if a >= firstPlace && b != 0 {
		o.puts[[2]origin{a, b}] = true
	}
}

// of returns the contexts of an origin; none if it is not known. It is to be
// asked after solve.
func (o *origins) of(n origin) contexts {
	if n < firstPlace {
		if n == 0 {
			return 0
		}
		return 1 << n
	}
	if n == copied {
		return 0
	}
	return o.given[n] | o.stored[n]
}

// solve spreads contexts along the pairs until nothing changes: an object is
// what it was given as, and what it is put into makes it too. Only the latter
// goes back to where it came from.
func (o *origins) solve() {
	type arc struct {
		to                   origin
		fromStored, toStored bool
	}
	arcs := make([][]arc, len(o.given))
	for f := range o.flows {
		a, b := f[0], f[1]
		arcs[a] = append(arcs[a], arc{to: b})
		if a >= firstPlace {
			arcs[b] = append(arcs[b], arc{to: a, fromStored: true, toStored: true})
		}
	}
	for p := range o.puts {
		arcs[p[1]] = append(arcs[p[1]], arc{to: p[0], toStored: true})
	}
	work := make([]origin, len(arcs))
	for n := range work {
		work[n] = origin(n)
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range arcs[n] {
			c := o.of(n)
			if a.fromStored {
				c = o.stored[n]
			}
			set := o.given
			if a.toStored {
				set = o.stored
			}
			if set[a.to]|c != set[a.to] {
				set[a.to] |= c
				work = append(work, a.to)
			}
		}
	}
}
