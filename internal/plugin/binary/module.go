package binary

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// Magic numbers of the table of functions. Go 1.16 had another one and another
// form.
const (
	magicGo118 = 0xfffffff0
	magicGo120 = 0xfffffff1
	magicGo116 = 0xfffffffa
	magicGo12  = 0xfffffffb
)

// module holds the places of the runtime's tables, as the runtime's own
// moduledata names them.
type module struct {
	go120                        bool // the form of the tables since Go 1.20
	text, etext                  uint64
	types, etypes                uint64
	gofunc                       uint64
	names, cutab, files, pctab   table
	funcs                        table // functions' entries, 8 bytes each, and their data
	nfunc                        uint64
	typelinks, itablinks         uint64 // addresses of the first elements
	typelinkCount, itablinkCount uint64
}

// table is a slice in the image.
type table struct{ addr, size uint64 }

// Words of moduledata that have kept their place since Go 1.18.
const (
	wordNames  = 1 // funcnametab, cutab, filetab, pctab, pclntable, ftab follow, 3 words each
	wordCutab  = 4
	wordFiles  = 7
	wordPctab  = 10
	wordFuncs  = 13
	wordFtab   = 16
	wordText   = 22
	wordEnd    = 32 // covctrs since Go 1.20
	headerSize = 72
)

// findModule finds the table of functions and the moduledata that points to it.
func findModule(im *image) (*module, error) {
	m, err := im.findTables()
	if err != nil && len(im.code) > 0 {
		// They may stand among the code.
		if err := im.loadCode(); err != nil {
			return nil, err
		}
		m, err = im.findTables()
	}
	return m, err
}

// findTables looks for the table of functions by its section's name or its magic
// number.
func (im *image) findTables() (*module, error) {
	if im.pclntab != 0 && im.pclntabHeader(im.pclntab) {
		if m, err := im.moduleOf(im.pclntab); err == nil {
			return m, nil
		}
	}
	var found *module
	var reason error
	for _, magic := range []uint32{magicGo120, magicGo118} {
		var pattern [6]byte
		binary.LittleEndian.PutUint32(pattern[:], magic)
		im.find(pattern[:], func(a uint64) bool {
			if !im.pclntabHeader(a) {
				return false
			}
			m, err := im.moduleOf(a)
			if err != nil {
				reason = err
				return false
			}
			found = m
			return true
		})
		if found != nil {
			return found, nil
		}
	}
	if reason != nil {
		return nil, reason
	}
	for _, magic := range []uint32{magicGo116, magicGo12} {
		var pattern [6]byte
		binary.LittleEndian.PutUint32(pattern[:], magic)
		if im.find(pattern[:], im.pclntabForm) {
			return nil, ErrTooOld
		}
	}
	return nil, ErrNotGo
}

// pclntabForm tells whether the six bytes after the magic number look right.
func (im *image) pclntabForm(a uint64) bool {
	b := im.at(a, headerSize)
	return b != nil && b[4] == 0 && b[5] == 0 && (b[6] == 1 || b[6] == 4) && b[7] == 8
}

func (im *image) pclntabHeader(a uint64) bool {
	if !im.pclntabForm(a) {
		return false
	}
	if m := im.half(a); m != magicGo118 && m != magicGo120 {
		return false
	}
	n := im.word(a + 8)
	return n > 0 && n < 1<<22 && im.word(a+32) < 1<<32
}

// moduleOf finds the moduledata of a table of functions: the words that hold
// its address, the address of its names, and their length twice.
func (im *image) moduleOf(pclntab uint64) (*module, error) {
	var pattern [8]byte
	binary.LittleEndian.PutUint64(pattern[:], pclntab)
	names := pclntab + im.word(pclntab+32)
	var found *module
	err := fmt.Errorf("%w: no module data for the function table at %#x", ErrCorrupt, pclntab)
	im.find(pattern[:], func(a uint64) bool {
		if a%8 != 0 || im.word(a+8) != names || im.word(a+16) != im.word(a+24) {
			return false
		}
		m, e := im.readModule(a, pclntab)
		if e != nil {
			err = e
			return false
		}
		found = m
		return true
	})
	if found == nil {
		return nil, err
	}
	return found, nil
}

func (im *image) readModule(a, pclntab uint64) (*module, error) {
	w := func(i uint64) uint64 { return im.word(a + 8*i) }
	t := func(i uint64) table { return table{w(i), w(i + 1)} }
	m := &module{
		go120: im.half(pclntab) == magicGo120,
		text:  w(wordText), etext: w(wordText + 1),
		names: t(wordNames), cutab: t(wordCutab), files: t(wordFiles), pctab: t(wordPctab), funcs: t(wordFuncs),
		nfunc: im.word(pclntab + 8),
	}
	at := uint64(wordEnd)
	if m.go120 {
		at += 2 // covctrs, ecovctrs
	}
	at += 3 // end, gcdata, gcbss
	m.types, m.etypes, m.gofunc = w(at), w(at+1), w(at+3)
	// Go 1.26 put the end of the function table next; a slice follows, whose
	// length and capacity are equal, of pieces of text.
	at += 4
	if w(at+1) != w(at+2) {
		at++
	}
	m.typelinks, m.typelinkCount = w(at+3), w(at+4)
	m.itablinks, m.itablinkCount = w(at+6), w(at+7)
	return m, m.check(im, w(wordFtab+1))
}

// tables are the large tables, by address.
func (m *module) tables() []table {
	list := []table{{m.types, m.etypes - m.types}, m.names, m.pctab, m.funcs}
	slices.SortFunc(list, func(a, b table) int { return cmp.Compare(a.addr, b.addr) })
	return list
}

// check refuses tables that lie outside the image: everything after this may
// count on them being there, though not on what is in them.
func (m *module) check(im *image, nftab uint64) error {
	bad := func(what string) error { return fmt.Errorf("%w: its %s cannot be found", ErrCorrupt, what) }
	inside := func(t table) bool { return t.size == 0 || im.at(t.addr, t.size) != nil }
	if m.text == 0 || m.etext <= m.text || !im.has(m.text, m.etext-m.text) {
		return bad("code")
	}
	if m.types == 0 || m.etypes <= m.types || im.at(m.types, m.etypes-m.types) == nil {
		return bad("types")
	}
	if slices.ContainsFunc([]table{m.names, m.files, m.pctab, m.funcs, {m.cutab.addr, m.cutab.size * 4}}, func(t table) bool { return !inside(t) }) {
		return bad("function table")
	}
	if m.nfunc*8+4 > m.funcs.size || nftab != m.nfunc+1 {
		return bad("functions")
	}
	if m.typelinkCount > 1<<24 || im.at(m.typelinks, m.typelinkCount*4) == nil ||
		m.itablinkCount > 1<<24 || m.itablinkCount > 0 && im.at(m.itablinks, m.itablinkCount*8) == nil {
		return bad("list of types")
	}
	return nil
}
