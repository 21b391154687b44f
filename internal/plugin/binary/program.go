package binary

import (
	"bytes"
	"context"
	"slices"
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
	// packages are runs of functions of one package, in parts.
	packages [][]packageRun
	entries  entryIndex
	// notForeign are those of the plugin's and NRI's functions, and of the
	// runtime's start of a goroutine.
	notForeign entrySet
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
	newProcs      map[uint64]bool // start a goroutine
	stubNew       []uint64
	register      []uint64        // RegisterPluginService of the raw protocol
	adaptation    bool            // the runtime's side of NRI is there
	writeBarriers map[uint64]bool // calls that keep every register
	runtime       map[uint64]bool // of package runtime: they keep no object
	mapReads      map[uint64]bool // return a pointer to the element of a map
	growSlices    map[uint64]bool // for append
	moveSlices    map[uint64]bool // from the stack to the heap, since Go 1.26
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
	parts := make([]classification, (p.funcs.len()+classifyPiece-1)/classifyPiece)
	err = parallel(len(parts)+2, func(n int) error {
		switch n {
		case 0:
			p.api = findAPI(p.types)
		case 1:
			p.entries = newEntryIndex(p.funcs)
		default:
			first := (n - 2) * classifyPiece
			parts[n-2] = p.name(first, min(p.funcs.len(), first+classifyPiece))
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	if len(p.api.packages) == 0 {
		return nil, ErrNoAPI
	}
	p.class = newClassifier(p.api, mainModule)
	p.classify(parts)
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
	// The API and the stub stand side by side, so that one search finds both.
	var roots []string
	for _, pkg := range slices.Concat(p.class.api, p.class.nri) {
		root := escape(pkg)
		if i := strings.LastIndexByte(root, '/'); i > 0 {
			root = root[:i+1]
		}
		if (strings.HasSuffix(pkg, "/stub") || slices.Contains(p.class.api, pkg)) && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	for _, root := range roots {
		for off := 0; ; off++ {
			i := bytes.Index(p.funcs.name[off:], []byte(root))
			if i < 0 {
				break
			}
			off += i
			if off == 0 || p.funcs.name[off-1] == 0 {
				p.noteInlinable(uint32(off))
			}
		}
	}
}

func (p *program) noteInlinable(off uint32) {
	path, rest := splitName(p.funcs.nameAt(off))
	c := p.class.ofPackage(path)
	if c != nriAPI && c != nriOther {
		return
	}
	if s, ok := apiSymbol(c, unescape(path), rest); ok {
		p.inlinable[off/64] |= 1 << (off % 64)
		p.inlineNames[off] = s
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
