package binary

import (
	"bytes"
	"context"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// program is all that the analyses share.
type program struct {
	im    *image
	funcs *funcTable
	types *types
	api   apiTypes
	class classifier

	classes []class // by number of function
	// packages are runs of functions of one package.
	packages []packageRun
	entries  entryIndex
	// targets are the entries of API functions that show something.
	targets map[uint64]symbols.Symbol
	// inlinable marks the places of names of such functions, one bit a byte of
	// the table of names; inlineNames says which they are.
	inlinable   []uint64
	inlineNames map[uint32]symbols.Symbol
	known       wellKnown
	// damaged counts functions that cannot be read.
	damaged int
}

// wellKnown are the entries of functions that mean something to the analyses;
// 0 where the program has none.
type wellKnown struct {
	newObject     uint64
	stubNew       []uint64
	register      []uint64        // RegisterPluginService of the raw protocol
	adaptation    bool            // the runtime's side of NRI is there
	writeBarriers map[uint64]bool // calls that keep every register
	runtime       map[uint64]bool // of package runtime: they keep no object
	mapReads      map[uint64]bool // return a pointer to the element of a map
	growSlice     uint64
	makeSlice     uint64
	panics        map[uint64]bool // never return
	duffCopy      [2]uint64       // start and end of a copy that is entered in the middle
}

func newProgram(ctx context.Context, im *image, mainModule string) (*program, error) {
	m, err := findModule(im)
	if err != nil {
		return nil, err
	}
	p := &program{im: im, funcs: newFuncTable(im, m), types: newTypes(im, m)}
	p.api = findAPI(p.types)
	if len(p.api.packages) == 0 {
		return nil, ErrNoAPI
	}
	p.class = newClassifier(p.api, mainModule)
	p.classes = make([]class, p.funcs.len())
	p.targets = map[uint64]symbols.Symbol{}
	p.known = wellKnown{writeBarriers: map[uint64]bool{}, runtime: map[uint64]bool{}, mapReads: map[uint64]bool{}, panics: map[uint64]bool{}}
	p.entries = newEntryIndex(p.funcs)
	if err := p.classify(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// entryAt returns the number of the function that starts at address a, -1 if
// none does.
func (p *program) entryAt(a uint64) int { return p.entries.at(p.funcs, a) }

// findInlinable notes where in the table of names the API functions are that
// show something. A function that was inlined everywhere has a name only.
func (p *program) findInlinable() {
	p.inlinable = make([]uint64, len(p.funcs.name)/64+1)
	p.inlineNames = map[uint32]symbols.Symbol{}
	note := func(c class, pkg string) {
		prefix := []byte(escape(pkg) + ".")
		for off := 0; ; off++ {
			i := bytes.Index(p.funcs.name[off:], prefix)
			if i < 0 {
				return
			}
			off += i
			if off > 0 && p.funcs.name[off-1] != 0 {
				continue
			}
			rest := p.funcs.nameAt(uint32(off))[len(prefix):]
			if s, ok := apiSymbol(c, pkg, rest); ok {
				p.inlinable[off/64] |= 1 << (off % 64)
				p.inlineNames[uint32(off)] = s
			}
		}
	}
	for _, pkg := range p.class.api {
		note(nriAPI, pkg)
	}
	for _, pkg := range p.class.nri {
		if strings.HasSuffix(pkg, "/stub") {
			note(nriOther, pkg)
		}
	}
}

// inlineSymbol returns the symbol of the API function whose name stands at an
// offset of the table of names.
func (p *program) inlineSymbol(off uint32) (symbols.Symbol, bool) {
	if !p.inlinableAt(off) {
		return symbols.Symbol{}, false
	}
	s, ok := p.inlineNames[off]
	return s, ok
}

// inlinableAt tells whether the name of such a function stands at an offset.
func (p *program) inlinableAt(off uint32) bool {
	return int(off/64) < len(p.inlinable) && p.inlinable[off/64]>>(off%64)&1 == 1
}
