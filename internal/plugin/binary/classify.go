package binary

import (
	"bytes"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// packageRun is a run of functions, in the order of their addresses, that belong
// to one package and can be read.
type packageRun struct {
	path       []byte // as the linker writes it
	first, end uint32
	class      class
}

// has tells whether a function belongs to the package, as far as its name shows
// without taking it apart.
func (r *packageRun) has(name []byte) bool {
	rest, ok := bytes.CutPrefix(name, r.path)
	return ok && len(r.path) > 0 && len(rest) > 0 && rest[0] == '.' && bytes.IndexByte(rest, '/') < 0
}

// classification is what was found out about a part of the functions.
type classification struct {
	runs    []packageRun
	damaged int
}

// classifyPiece is how many functions are classified at once.
const classifyPiece = 4096

// name finds the packages of the functions from first to end by their names.
func (p *program) name(first, end int) classification {
	c := classification{runs: make([]packageRun, 0, 512)}
	var run packageRun
	next := func(path []byte, i int) {
		if run.end > run.first {
			c.runs = append(c.runs, run)
		}
		run = packageRun{first: uint32(i), path: path}
	}
	for i := first; i < end; i++ {
		f, ok := p.funcs.get(i)
		if !ok { // it belongs to nothing, so that nobody looks at it
			c.damaged++
			next(nil, i+1)
			continue
		}
		if name := p.funcs.nameAt(p.funcs.nameOffset(f)); !run.has(name) {
			path, _ := splitName(name)
			next(path, i)
		}
		run.end = uint32(i) + 1
	}
	next(nil, end)
	return c
}

// classify tells of all functions what they belong to, and finds those that are
// known by their names.
func (p *program) classify(parts []classification) {
	p.classes = make([]class, p.funcs.len())
	p.notForeign = newEntrySet(p.funcs.m)
	p.targets = map[uint64]symbols.Symbol{}
	p.known = wellKnown{writeBarriers: map[uint64]bool{}, runtime: map[uint64]bool{}, mapReads: map[uint64]bool{}, panics: map[uint64]bool{},
		growSlices: map[uint64]bool{}, moveSlices: map[uint64]bool{}, newProcs: map[uint64]bool{}}
	known := map[string]class{} // by path
	for _, part := range parts {
		p.damaged += part.damaged
		p.packages = append(p.packages, part.runs)
		for n := range part.runs {
			run := &part.runs[n]
			var ok bool
			if run.class, ok = known[string(run.path)]; !ok {
				run.class = p.class.ofPackage(run.path)
				known[string(run.path)] = run.class
			}
			p.classifyRun(run)
		}
	}
	for a := range p.known.newProcs {
		p.notForeign.add(a)
	}
}

func (p *program) classifyRun(run *packageRun) {
	named := run.class == nriAPI || run.class == nriOther || string(run.path) == "runtime"
	if run.class == foreign && !named {
		return
	}
	for i := int(run.first); i < int(run.end); i++ {
		if named {
			p.noteNamed(i, run)
		}
		if p.classes[i] = run.class; run.class != foreign {
			p.notForeign.add(p.funcs.entry(i))
		}
	}
}

// noteNamed notes a function of NRI or of the runtime that the analyses know.
func (p *program) noteNamed(i int, run *packageRun) {
	f, ok := p.funcs.get(i)
	if !ok {
		return
	}
	path, rest := splitName(p.funcs.nameAt(p.funcs.nameOffset(f)))
	c := run.class
	if c == foreign {
		p.known.noteRuntime(string(rest), f)
		return
	}
	pkg := unescape(path)
	if s, ok := apiSymbol(c, pkg, rest); ok {
		p.targets[f.entry] = s
	}
	switch {
	case c == nriOther && strings.HasSuffix(pkg, "/stub") && string(rest) == "New":
		p.known.stubNew = append(p.known.stubNew, f.entry)
	case c == nriOther && strings.HasSuffix(pkg, "/adaptation") && string(rest) == "New":
		p.known.adaptation = true
	case c == nriAPI && string(rest) == "RegisterPluginService":
		p.known.register = append(p.known.register, f.entry)
	}
}

func (k *wellKnown) noteRuntime(name string, f fn) {
	entry := f.entry
	k.runtime[entry] = true
	switch {
	case name == "newobject":
		k.newObject = entry
	case name == "newproc":
		k.newProcs[entry] = true // and the wrapper for assembly, which has the same name
	case strings.HasPrefix(name, "gcWriteBarrier"):
		k.writeBarriers[entry] = true
	case strings.HasPrefix(name, "mapaccess"):
		k.mapReads[entry] = true
	case name == "duffcopy":
		k.duffCopy = [2]uint64{entry, f.end}
	case strings.HasPrefix(name, "growslice"):
		k.growSlices[entry] = true
	case name == "moveSlice", name == "moveSliceNoCap":
		k.moveSlices[entry] = true
	case name == "makeslice":
		k.makeSlice = entry
	case strings.HasPrefix(name, "panic"), strings.HasPrefix(name, "goPanic"), name == "gopanic", name == "throw", name == "fatal":
		k.panics[entry] = true
	}
}
