package binary

import (
	"context"
	"debug/elf"
	"slices"
	"strings"
)

// Following types through the code. The runtime's tables tell the types of the
// parameters of every method, and of every object that is made. From these, the
// types of what registers and stack slots hold are carried along the
// instructions, through fields that are loaded, and into the functions that are
// called. Where a field of a message is loaded or stored, it is read or
// written.
//
// What is carried is what holds on all ways to a point of the program. Values
// that pass through maps, channels, global variables or an interface with no
// methods are lost.

const (
	maxResults  = 4       // results that are followed
	maxRuns     = 8       // of one function
	maxHelpers  = 3       // between the plugin's type and stub.New
	totalBudget = 1 << 28 // instructions of all functions together
)

// flow follows values through the functions of the plugin.
type flow struct {
	p       *program
	m       machine
	layout  *layout
	origins *origins
	// whole are addresses that are used where a message is turned into an
	// interface value, with the message's name.
	whole map[uint64]string
	// signatures are the types of methods by their entry.
	signatures map[uint64]signature

	entries map[int]*funcEntry
	found   map[int]*interp // the last run of each function
	results map[int][]value
	callers callerIndex
	runs    map[int]int
	queue   []int
	queued  map[int]bool
	stub    rtype // the interface type stub.Stub, 0 if not known
	// records are the objects on the stack whose addresses are passed.
	records  []*record
	recordAt map[recordKey]uint64
	code     []byte // memory for code
	buffer   []instr
	scratch  state
	left     int
	// gaveUp are functions that were too much.
	gaveUp []string
}

// signature is a method's receiver and the types it takes and returns.
type signature struct {
	name    string
	recv    rtype
	in, out []rtype
}

// funcEntry is what is known when a function starts.
type funcEntry struct {
	regs    [maxRegs]value
	fixed   [maxRegs]bool // known from the signature
	clashed [maxRegs]bool // callers disagree
}

func newFlow(p *program) *flow {
	fl := &flow{
		p: p, m: machineAMD64(), layout: newLayout(p.types, p.api), origins: newOrigins(),
		whole: map[uint64]string{}, signatures: map[uint64]signature{}, entries: map[int]*funcEntry{}, found: map[int]*interp{},
		results: map[int][]value{}, runs: map[int]int{}, queued: map[int]bool{},
		recordAt: map[recordKey]uint64{}, left: totalBudget,
	}
	if p.im.machine == elf.EM_AARCH64 {
		fl.m = machineARM64()
	}
	return fl
}

// spend takes from the budget; false if there is none left.
func (fl *flow) spend(n int) bool {
	fl.left -= n
	return fl.left > 0
}

// prepare finds where to begin.
func (fl *flow) prepare() {
	fl.findWhole()
	fl.seed()
}

// follow runs the analysis, once it is prepared, from the functions that refer to types of the API
// and from the methods that take messages.
func (fl *flow) follow(ctx context.Context, refs *references) error {
	fl.callers = newCallerIndex(fl.p.funcs.len(), refs.edges)
	for _, list := range [][]int{refs.typed, refs.callers, refs.registrars} {
		for _, i := range list {
			fl.push(i)
		}
	}
	for len(fl.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := fl.queue[0]
		fl.queue = fl.queue[1:]
		fl.queued[i] = false
		fl.run(i)
	}
	fl.origins.solve()
	return nil
}

// findWhole notes the types and method tables whose use makes an interface
// value of a message that the plugin was given, or of a list of them.
func (fl *flow) findWhole() {
	for t, name := range fl.p.api.pointers {
		if givenMessage(name) {
			fl.whole[uint64(t)] = name
		}
	}
	fl.p.types.all(func(t rtype) {
		if fl.p.types.kind(t) == kindSlice {
			if name := fl.p.api.pointers[fl.p.types.elem(t)]; givenMessage(name) {
				fl.whole[uint64(t)] = name
			}
		}
	})
	for _, it := range fl.p.types.itabs() {
		if name := fl.p.api.pointers[it.conc]; givenMessage(name) {
			fl.whole[it.addr] = name
		}
		if strings.HasSuffix(fl.p.types.name(it.inter), ".Stub") && slices.Contains(fl.p.class.nri, fl.p.types.pkg(it.inter)) {
			fl.stub = it.inter
		}
	}
}

func (fl *flow) entry(i int) *funcEntry {
	e := fl.entries[i]
	if e == nil {
		e = &funcEntry{}
		fl.entries[i] = e
	}
	return e
}

func (fl *flow) push(i int) {
	if i >= 0 && !fl.queued[i] && fl.p.classes[i] == pluginOwn {
		fl.queued[i] = true
		fl.queue = append(fl.queue, i)
	}
}

// pushCallers queues the callers of a function, and theirs, up to the given
// distance.
func (fl *flow) pushCallers(i, distance int) {
	level, seen := []int{i}, map[int]bool{i: true}
	for ; distance > 0 && len(level) > 0; distance-- {
		var next []int
		for _, to := range level {
			for _, from := range fl.callers.of(to) {
				if from := int(from); !seen[from] {
					seen[from] = true
					next = append(next, from)
					fl.push(from)
				}
			}
		}
		level = next
	}
}

// run follows one function.
func (fl *flow) run(i int) {
	if fl.runs[i] >= maxRuns {
		return
	}
	fl.runs[i]++
	f, ok := fl.p.funcs.get(i)
	if !ok {
		return
	}
	if f.end-f.entry > maxCode || !fl.spend(0) {
		fl.giveUp(i)
		return
	}
	code := fl.p.funcs.code(f, &fl.code)
	if code == nil {
		return
	}
	fl.buffer = fl.m.decode(code, f.entry, fl.buffer[:0])
	for n := range fl.buffer {
		if in := &fl.buffer[n]; in.op == opCall && fl.p.known.panics[in.imm] {
			in.op = opStop // what follows is another block
		}
	}
	ip := &interp{fl: fl, fn: i, f: f, code: fl.buffer}
	s := &state{regs: fl.entry(i).regs}
	if !ip.run(s) {
		fl.giveUp(i)
		return
	}
	ip.code, ip.blocks, ip.at = nil, nil, nil
	fl.found[i] = ip
}

func (fl *flow) giveUp(i int) {
	if name := fl.p.funcs.funcName(i); !slices.Contains(fl.gaveUp, name) {
		fl.gaveUp = append(fl.gaveUp, name)
	}
}

// pass hands the values of the argument registers to a function of the plugin.
func (fl *flow) pass(i int, s *state) {
	e := fl.entry(i)
	changed := fl.runs[i] == 0
	relevant := false
	for _, r := range fl.m.args {
		v := s.reg(r)
		if v.kind == frame || v.kind == stacked {
			fl.passStacked(i, r, v, s)
			continue
		}
		if !fl.follows(v) {
			continue
		}
		relevant = true
		if v.kind == pointer || v.kind == elements {
			at := fl.origins.place(originKey{i, -1, int64(r)})
			fl.origins.flow(v.origin, at)
			v.origin = at
		}
		old := e.regs[r]
		switch {
		case e.fixed[r] || e.clashed[r]:
		case old.kind == unknown:
			e.regs[r], changed = v, true
		case old != v:
			e.regs[r], e.clashed[r], changed = value{}, true, true
		}
	}
	if relevant && changed {
		fl.push(i)
	}
}

// follows tells whether a value is worth handing to another function.
func (fl *flow) follows(v value) bool {
	switch v.kind {
	case pointer, elements, methods:
		return true
	case constant: // the type that a helper hands on to stub.New, or a function
		if fl.p.entryAt(v.addr()) >= 0 {
			return true
		}
		t := rtype(v.addr())
		return fl.p.types.kind(t) == kindPointer && fl.p.types.kind(fl.p.types.elem(t)) == kindStruct
	}
	return false
}

// closure gives a closure's function the object that holds what it captured.
func (fl *flow) closure(ip *interp, code uint64, obj value) {
	if !ip.final || obj.kind != pointer {
		return
	}
	i := fl.p.entryAt(code)
	if i < 0 || fl.p.classes[i] != pluginOwn {
		return
	}
	e := fl.entry(i)
	r := fl.m.context
	if e.clashed[r] || e.regs[r].kind == pointer && e.regs[r].typ == obj.typ {
		return
	}
	if e.regs[r].kind != unknown {
		e.regs[r], e.clashed[r] = value{}, true
	} else {
		e.regs[r] = value{kind: pointer, typ: obj.typ}
	}
	fl.push(i)
}

// returned notes what function i returns.
func (fl *flow) returned(i int, vals []value) {
	old, ok := fl.results[i]
	if !ok {
		old = make([]value, maxResults)
		fl.results[i] = old
	}
	changed := false
	for n, v := range vals {
		if !fl.follows(v) || v.kind == constant {
			continue
		}
		if v.kind != methods {
			at := fl.origins.place(originKey{i, -1, int64(maxRegs + n)})
			fl.origins.flow(v.origin, at)
			v.origin = at
		}
		// A function has one type of result; what else the register holds on
		// another way is not a result.
		if old[n].kind == unknown {
			old[n], changed = v, true
		}
	}
	if changed {
		fl.pushCallers(i, 1)
	}
}
