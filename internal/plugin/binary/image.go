package binary

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
)

// maxLoaded bounds the loaded part of one executable.
const maxLoaded = 512 << 20

// segment is a part of the program as it lies in memory.
type segment struct {
	addr uint64
	data []byte
}

// extent is a part of the program that stays in the file: its code, which is
// large and most of which is looked at once at most.
type extent struct {
	addr, size uint64
	off        int64 // in the file
}

// image is an ELF executable as the loader would map it at its link address,
// with relative relocations applied. All accessors are checked: an address
// outside yields nothing.
type image struct {
	machine  elf.Machine
	order    binary.ByteOrder
	segments []segment // sorted by address, without overlap
	code     []extent  // the same; overlaps no segment
	file     io.ReaderAt
	// failed is the first error of reading code: what rests on it is not to be
	// trusted.
	failed   atomic.Pointer[error]
	pie      bool
	stripped bool
	// pclntab is the address that a section name gives away, 0 if none does.
	pclntab uint64
}

// openImage maps an ELF file. It reads what the loader would load, except for
// the code, and never the debug information.
func openImage(r io.ReaderAt, size int64) (*image, error) {
	f, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	im := &image{machine: f.Machine, order: f.ByteOrder, file: r, pie: f.Type == elf.ET_DYN, stripped: true}
	if err := im.load(f, size); err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		switch s.Name {
		case ".gopclntab", ".data.rel.ro.gopclntab":
			im.pclntab = s.Addr
		case ".symtab":
			im.stripped = false
		}
		if im.little() && s.Type == elf.SHT_RELA && s.Flags&elf.SHF_ALLOC != 0 {
			im.relocate(s.Addr, s.Size)
		}
	}
	for _, p := range f.Progs {
		if im.little() && p.Type == elf.PT_DYNAMIC {
			im.relocateDynamic(p.Vaddr, p.Filesz)
		}
	}
	return im, nil
}

func (im *image) load(f *elf.File, size int64) error {
	var total uint64
	var spans []extent
	var text *elf.Section
	if text = f.Section(".text"); text == nil || text.Type != elf.SHT_PROGBITS {
		text = &elf.Section{} // code cannot be told from the rest
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		if p.Off > uint64(size) || p.Filesz > uint64(size)-p.Off {
			return fmt.Errorf("%w: a segment ends at %d, the file at %d", ErrCorrupt, p.Off+p.Filesz, size)
		}
		if p.Vaddr+p.Filesz < p.Vaddr {
			return fmt.Errorf("%w: a segment lies beyond the address space", ErrCorrupt)
		}
		if total += p.Filesz; total > maxLoaded {
			return ErrTooLarge
		}
		s := extent{p.Vaddr, p.Filesz, int64(p.Off)}
		if p.Flags&elf.PF_X != 0 && text.Addr >= s.addr && text.Size <= s.size && text.Addr-s.addr <= s.size-text.Size {
			before, after := text.Addr-s.addr, text.Addr-s.addr+text.Size
			im.code = append(im.code, extent{text.Addr, text.Size, s.off + int64(before)})
			spans = append(spans, extent{s.addr + after, s.size - after, s.off + int64(after)})
			s.size = before
		}
		spans = append(spans, s)
	}
	// Overlapping pieces could make the sum larger than the file.
	if total > uint64(size) {
		return fmt.Errorf("%w: its segments are larger than the file", ErrCorrupt)
	}
	if total == 0 {
		return fmt.Errorf("%w: it has no loaded segment", ErrCorrupt)
	}
	if overlap(slices.Concat(spans, im.code)) {
		return fmt.Errorf("%w: its segments overlap", ErrCorrupt)
	}
	return im.read(spans)
}

// overlap tells whether any two parts of the program overlap.
func overlap(list []extent) bool {
	slices.SortFunc(list, func(a, b extent) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.size, b.size)) })
	for i := 1; i < len(list); i++ {
		if list[i-1].addr+list[i-1].size > list[i].addr {
			return true
		}
	}
	return false
}

// read makes segments of parts of the file.
func (im *image) read(spans []extent) error {
	const piece = 4 << 20 // that one goroutine reads at once
	type part struct {
		data []byte
		off  int64
	}
	var parts []part
	for _, s := range spans {
		if s.size == 0 {
			continue
		}
		data := make([]byte, s.size)
		preferHugePages(data)
		im.segments = append(im.segments, segment{s.addr, data})
		for from := 0; from < len(data); from += piece {
			parts = append(parts, part{data[from:min(len(data), from+piece)], s.off + int64(from)})
		}
	}
	slices.SortFunc(im.segments, func(a, b segment) int { return cmp.Compare(a.addr, b.addr) })
	return parallel(len(parts), func(i int) error { return readFull(im.file, parts[i].data, parts[i].off) })
}

// readFull reads all of b.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(b, off); n < len(b) {
		return fmt.Errorf("cannot read: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return nil
}

// loadCode makes segments of the code too, for a program whose tables stand in
// it.
func (im *image) loadCode() error {
	code := im.code
	im.code = nil
	return im.read(code)
}

// has tells whether n bytes at address a are part of the program.
func (im *image) has(a, n uint64) bool {
	_, ok := im.extentOf(a, n)
	return ok || im.at(a, n) != nil
}

func (im *image) extentOf(a, n uint64) (extent, bool) {
	for _, s := range im.code {
		if a >= s.addr && n <= s.size && a-s.addr <= s.size-n {
			return s, true
		}
	}
	return extent{}, false
}

// readCode returns n bytes of code at address a; nil if they are not part of
// the program, or cannot be read. The result is good until buf is used again.
func (im *image) readCode(a, n uint64, buf *[]byte) []byte {
	s, ok := im.extentOf(a, n)
	if !ok {
		return im.at(a, n)
	}
	if uint64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	if err := readFull(im.file, b, s.off+int64(a-s.addr)); err != nil {
		im.failed.CompareAndSwap(nil, &err)
		return nil
	}
	return b
}

// relocate applies the relative relocations of a table in the image, as the
// loader would at load address 0. Go's own tables need no other kind.
func (im *image) relocate(addr, size uint64) {
	relative := uint32(elf.R_X86_64_RELATIVE)
	if im.machine == elf.EM_AARCH64 {
		relative = uint32(elf.R_AARCH64_RELATIVE)
	}
	table := im.from(addr)
	table = table[:min(uint64(len(table)), size)]
	for ; len(table) >= 24; table = table[24:] {
		if uint32(binary.LittleEndian.Uint64(table[8:])) != relative {
			continue
		}
		if b := im.at(binary.LittleEndian.Uint64(table), 8); b != nil {
			binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(table[16:]))
		}
	}
}

// relocateDynamic finds the relocation table through the dynamic section, for
// a file whose section headers are gone.
func (im *image) relocateDynamic(addr, size uint64) {
	var rela, relasz uint64
	table := im.from(addr)
	table = table[:min(uint64(len(table)), size)]
	for ; len(table) >= 16; table = table[16:] {
		switch elf.DynTag(binary.LittleEndian.Uint64(table)) {
		case elf.DT_RELA:
			rela = binary.LittleEndian.Uint64(table[8:])
		case elf.DT_RELASZ:
			relasz = binary.LittleEndian.Uint64(table[8:])
		}
	}
	if rela != 0 {
		im.relocate(rela, relasz)
	}
}

// little tells whether the program's words are little-endian. Only such programs
// are looked into, so that the accessors below take it for granted.
func (im *image) little() bool { return im.order == binary.LittleEndian }

// machineIsARM tells arm64 from amd64, the two that are understood.
func (im *image) machineIsARM() bool { return im.machine == elf.EM_AARCH64 }

// from returns the bytes from address a to the end of its segment.
func (im *image) from(a uint64) []byte {
	for i := range im.segments {
		s := &im.segments[i]
		if a >= s.addr && a-s.addr < uint64(len(s.data)) {
			return s.data[a-s.addr:]
		}
	}
	return nil
}

// at returns n bytes at address a, nil if they are not all there.
func (im *image) at(a, n uint64) []byte {
	b := im.from(a)
	if uint64(len(b)) < n {
		return nil
	}
	return b[:n:n]
}

// word returns the 8 byte word at address a, 0 if it is not there.
func (im *image) word(a uint64) uint64 {
	if b := im.at(a, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// half returns the 4 byte word at address a, 0 if it is not there.
func (im *image) half(a uint64) uint32 {
	if b := im.at(a, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// find calls f with the address of each occurrence of pattern, until f says
// that it was the right one. It begins with the last segment: that holds the
// variables, which are few.
func (im *image) find(pattern []byte, f func(addr uint64) bool) bool {
	for _, s := range slices.Backward(im.segments) {
		for off := 0; ; off++ {
			i := bytes.Index(s.data[off:], pattern)
			if i < 0 {
				break
			}
			off += i
			if f(s.addr + uint64(off)) {
				return true
			}
		}
	}
	return false
}
