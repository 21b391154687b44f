package binary

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// maxLoaded bounds what is read into memory of one executable.
const maxLoaded = 512 << 20

// segment is a part of the program as it lies in memory.
type segment struct {
	addr uint64
	data []byte
	exec bool
}

func (s segment) end() uint64 { return s.addr + uint64(len(s.data)) }

// image is an ELF executable as the loader would map it at its link address,
// with relative relocations applied. All accessors are checked: an address
// outside yields nothing.
type image struct {
	machine  elf.Machine
	order    binary.ByteOrder
	segments []segment // sorted by address, without overlap
	pie      bool
	stripped bool
	// pclntab is the address that a section name gives away, 0 if none does.
	pclntab uint64
}

// openImage maps an ELF file. It reads the loaded segments only, never the
// debug information.
func openImage(r io.ReaderAt, size int64) (*image, error) {
	f, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	im := &image{machine: f.Machine, order: f.ByteOrder, pie: f.Type == elf.ET_DYN, stripped: true}
	if err := im.load(f, r, size); err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		switch s.Name {
		case ".gopclntab", ".data.rel.ro.gopclntab":
			im.pclntab = s.Addr
		case ".symtab":
			im.stripped = false
		}
		if s.Type == elf.SHT_RELA && s.Flags&elf.SHF_ALLOC != 0 {
			im.relocate(s.Addr, s.Size)
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_DYNAMIC {
			im.relocateDynamic(p.Vaddr, p.Filesz)
		}
	}
	return im, nil
}

func (im *image) load(f *elf.File, r io.ReaderAt, size int64) error {
	var total uint64
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
	}
	// Overlapping pieces could make the sum larger than the file.
	if total > uint64(size) {
		return fmt.Errorf("%w: its segments are larger than the file", ErrCorrupt)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Filesz == 0 {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := r.ReadAt(data, int64(p.Off)); err != nil && err != io.EOF {
			return fmt.Errorf("cannot read: %w", err)
		}
		im.segments = append(im.segments, segment{addr: p.Vaddr, data: data, exec: p.Flags&elf.PF_X != 0})
	}
	if len(im.segments) == 0 {
		return fmt.Errorf("%w: it has no loaded segment", ErrCorrupt)
	}
	slices.SortFunc(im.segments, func(a, b segment) int {
		if a.addr < b.addr {
			return -1
		}
		return 1
	})
	for i := 1; i < len(im.segments); i++ {
		if im.segments[i-1].end() > im.segments[i].addr {
			return fmt.Errorf("%w: its segments overlap", ErrCorrupt)
		}
	}
	return nil
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
		if uint32(im.order.Uint64(table[8:])) != relative {
			continue
		}
		if b := im.at(im.order.Uint64(table), 8); b != nil {
			im.order.PutUint64(b, im.order.Uint64(table[16:]))
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
		switch elf.DynTag(im.order.Uint64(table)) {
		case elf.DT_RELA:
			rela = im.order.Uint64(table[8:])
		case elf.DT_RELASZ:
			relasz = im.order.Uint64(table[8:])
		}
	}
	if rela != 0 {
		im.relocate(rela, relasz)
	}
}

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
		return im.order.Uint64(b)
	}
	return 0
}

// half returns the 4 byte word at address a, 0 if it is not there.
func (im *image) half(a uint64) uint32 {
	if b := im.at(a, 4); b != nil {
		return im.order.Uint32(b)
	}
	return 0
}

// find calls f with the address of each occurrence of pattern, until f says
// that it was the right one.
func (im *image) find(pattern []byte, f func(addr uint64) bool) bool {
	for _, s := range im.segments {
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
