package binary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// useKey tells uses apart as far as a report does.
type useKey struct {
	symbol   string
	how      symbols.How
	context  symbols.Context
	function string
	unproven bool
}

// collector turns what the analyses found into uses with places.
type collector struct {
	p     *program
	reach *reachability
	seen  map[useKey]bool
	uses  []symbols.Use
}

// collect returns the uses of API symbols, each once a function.
func (p *program) collect(refs *references, inliners []int, fl *flow, handlers []int) []symbols.Use {
	c := collector{p: p, reach: newReachability(p, &fl.callers, handlers), seen: map[useKey]bool{}}
	for _, i := range sortedKeys(fl.found) {
		f, _ := p.funcs.get(i)
		for _, u := range fl.found[i].uses {
			contexts := fl.origins.of(u.origin).list()
			if len(contexts) == 0 {
				contexts = []symbols.Context{symbols.Unclear}
			}
			for _, x := range contexts {
				c.add(i, f, uint64(u.off), u.symbol, u.how, x)
			}
		}
	}
	for _, call := range refs.calls {
		f, _ := p.funcs.get(call.fn)
		c.add(call.fn, f, call.off, call.symbol, symbols.Call, symbols.Unclear)
	}
	for _, i := range inliners {
		f, _ := p.funcs.get(i)
		p.inlinedUses(f, func(s symbols.Symbol, off uint64) {
			c.add(i, f, off, s, symbols.Inline, symbols.Unclear)
		})
	}
	return append(c.uses, p.throughInterfaces()...)
}

// throughInterfaces are the API methods that the program can call through an
// interface: the compiler made a table of them. Whether anybody does is not
// known.
func (p *program) throughInterfaces() []symbols.Use {
	var uses []symbols.Use
	for _, it := range p.types.itabs() {
		message := p.api.pointers[it.conc]
		if message == "" || slices.Contains(p.class.nri, p.types.pkg(it.inter)) || slices.Contains(p.class.api, p.types.pkg(it.inter)) {
			continue
		}
		for _, m := range p.types.imethods(it.inter) {
			if s, ok := symbols.LookupMethod(message, m.name); ok {
				uses = append(uses, symbols.Use{Symbol: s, How: symbols.Call, Unproven: true, Evidence: capability.Evidence{
					Function: p.qualified(it.inter) + "." + m.name, Detail: "callable through this interface",
				}})
			}
		}
	}
	return uses
}

func (c *collector) add(i int, f fn, off uint64, s symbols.Symbol, how symbols.How, x symbols.Context) {
	at, via := c.p.place(f, off)
	if via != nil && how != symbols.Read && !c.shows(via) {
		return // the doing of an API function, which tells more by itself
	}
	unproven := !c.reach.callable(i)
	key := useKey{s.Full, how, x, at.function, unproven}
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	c.uses = append(c.uses, symbols.Use{
		Symbol: s, How: how, Context: x, Unproven: unproven,
		Evidence: capability.Evidence{Function: at.function, File: at.file, Line: at.line},
	})
}

// shows tells whether a change made by an API function that was inlined is to
// be reported as a change by its caller: only if the function itself has no
// symbol. Code of an API function is no use by the plugin otherwise.
func (c *collector) shows(via []byte) bool {
	class := c.p.class.class(via)
	pkg, rest := splitName(via)
	_, ok := apiSymbol(class, unescape(pkg), rest)
	return !ok
}

// opaque says where whole messages are given away, once a function.
func (p *program) opaque(fl *flow) []string {
	var list []string
	seen := map[[3]string]bool{}
	for _, i := range sortedKeys(fl.found) {
		f, _ := p.funcs.get(i)
		for _, h := range fl.found[i].hands {
			does := fl.does(h)
			at, via := p.place(f, uint64(h.off))
			key := [3]string{at.function, does, h.message}
			if does == "" || via != nil || seen[key] {
				continue
			}
			seen[key] = true
			where := at.function
			if at.file != "" {
				where = fmt.Sprintf("%s (%s:%d)", at.function, at.file, at.line)
			}
			list = append(list, fmt.Sprintf("%s "+does, where, h.message))
		}
	}
	slices.Sort(list)
	return list
}

// does says what is done with a whole message, with a verb for its name; it is
// empty if that tells nothing.
func (fl *flow) does(h handing) string {
	switch from, to := fl.origins.of(h.from), fl.origins.of(h.to); {
	case h.to == copied:
		return "copies a whole %s"
	case h.from == 0 && h.to == 0:
		return "hands a whole %s to code that takes any value"
	case givenTo(from) && sent(to):
		return "passes on a whole %s that it was given"
	}
	return ""
}

func givenTo(c contexts) bool {
	return c&(1<<symbols.OfContainer|1<<symbols.OfPod|1<<symbols.OfUpdateRequest|1<<symbols.OfPodUpdate) != 0
}

func sent(c contexts) bool { return c&(1<<symbols.OfAdjustment|1<<symbols.OfUpdate) != 0 }

func sortedKeys(m map[int]*interp) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// maxEvidence bounds the places that are listed for one capability.
const maxEvidence = 10

// tidy sorts evidence by what is most telling and cuts it.
func tidy(reqs []capability.Requirement) []capability.Requirement {
	rank := func(e capability.Evidence) int {
		return slices.Index([]string{"handler", "call", "inline", "write", "read", "construct"}, e.Kind)
	}
	for i := range reqs {
		ev := reqs[i].Evidence
		slices.SortFunc(ev, func(a, b capability.Evidence) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Function, b.Function),
				strings.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Line, b.Line))
		})
		if len(ev) > maxEvidence {
			reqs[i].Evidence = ev[:maxEvidence]
		}
	}
	return reqs
}
