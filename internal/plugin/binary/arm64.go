package binary

// The instructions of arm64 are told apart here and not by x/arch/arm64asm: it
// keeps the displacement of a memory operand to itself, and the few forms that
// matter are regular.

// Registers of arm64 that have a part in Go's conventions.
const (
	armContext = 26
	armTemp    = 27 // the compiler's nil check loads into it
	armZero    = 31 // or the stack pointer, by the instruction
)

// armStack is the number given to the stack pointer, to tell it from the zero
// register, which has the same encoding.
const armStack reg = 32

func machineARM64() machine {
	m := machine{stack: armStack, context: armContext, scratch: []reg{25, armTemp}, duff: [2]reg{21, 20}, duffBytes: 8, decode: decodeARM64}
	for r := reg(0); r < 16; r++ {
		m.args = append(m.args, r)
	}
	return m
}

func branchARM64(w uint32, pc uint64) uint64 { return pc + uint64(int64(int32(w<<6))>>4) }

func pageARM64(w uint32, pc uint64) uint64 {
	imm := int64(int32((w>>5&0x7ffff)<<13)) >> 13 // immhi, signed
	return pc&^0xfff + uint64(imm<<14|int64(w>>29&3)<<12)
}

func addImmARM64(w uint32) uint64 {
	imm := uint64(w >> 10 & 0xfff)
	if w>>22&1 == 1 {
		imm <<= 12
	}
	return imm
}

func decodeARM64(code []byte, entry uint64, out []instr) []instr {
	copied := copying{base: noReg}
	for off := 0; off+4 <= len(code); off += 4 {
		w := uint32(code[off]) | uint32(code[off+1])<<8 | uint32(code[off+2])<<16 | uint32(code[off+3])<<24
		from := len(out)
		out = lowerARM64(w, entry+uint64(off), out)
		for i := from; i < len(out); i++ {
			out[i].off = uint32(off)
			copied.tail(&out[i])
		}
	}
	return out
}

// copying follows the copy of a struct: pairs of vector registers first, then
// what is left, which looks like the use of a field.
type copying struct {
	base reg
	end  int64
}

func (c *copying) tail(in *instr) {
	switch in.op {
	case opCopy:
		c.base, c.end = in.mem.base, in.mem.disp+int64(in.width)
	case opLoad:
		if in.mem.base == c.base && in.mem.index == noReg && in.mem.disp == c.end && in.dst != noReg {
			in.op, c.end = opCopy, c.end+int64(in.width)
		}
	}
	if in.op != opCopy && in.op != opStore && in.op != opPaste && in.dst == c.base || in.op == opBranch || in.op == opJump || in.op == opCall {
		c.base = noReg
	}
}

// dataReg is a register in whose place 31 means zero; noReg for that.
func dataReg(w uint32, shift uint) reg {
	if r := reg(w >> shift & 31); r != armZero {
		return r
	}
	return noReg
}

// baseReg is a register in whose place 31 means the stack pointer.
func baseReg(w uint32, shift uint) reg {
	if r := reg(w >> shift & 31); r != armZero {
		return r
	}
	return armStack
}

func lowerARM64(w uint32, pc uint64, out []instr) []instr {
	switch {
	case w>>26&7 == 5: // branches and system
		return controlARM64(w, pc, out)
	case w>>27&1 == 1 && w>>25&1 == 0: // loads and stores
		return memoryARM64(w, out)
	case w>>26&7 == 4: // data processing with an immediate
		return immediateARM64(w, pc, out)
	case w>>25&7 == 5: // data processing with registers
		return registerARM64(w, out)
	case w>>25&7 == 7: // vectors and floating point
		// Moves to a general purpose register: FMOV, FCVT, UMOV, SMOV.
		if w&0x5f20fc00 == 0x1e200000 || w&0x5f200000 == 0x1e000000 || w&0xbfe0d400 == 0x0e001400 {
			return append(out, instr{op: opClobber, dst: dataReg(w, 0)})
		}
		return out
	case w == 0: // UDF
		return append(out, instr{op: opStop})
	}
	return out
}

func controlARM64(w uint32, pc uint64, out []instr) []instr {
	none := mem{base: noReg, index: noReg}
	near := func(shift, bits uint) uint64 { // a signed number of words
		v := int64(uint64(w)<<(64-shift-bits)) >> (64 - bits)
		return pc + uint64(v*4)
	}
	switch {
	case w&0xfc000000 == 0x14000000: // B
		return append(out, instr{op: opJump, src: noReg, mem: none, imm: branchARM64(w, pc)})
	case w&0xfc000000 == 0x94000000: // BL
		return append(out, instr{op: opCall, src: noReg, mem: none, imm: branchARM64(w, pc)})
	case w&0xff000000 == 0x54000000, w&0x7e000000 == 0x34000000: // B.cond, CBZ, CBNZ
		return append(out, instr{op: opBranch, imm: near(5, 19)})
	case w&0x7e000000 == 0x36000000: // TBZ, TBNZ
		return append(out, instr{op: opBranch, imm: near(5, 14)})
	case w&0xfffffc1f == 0xd61f0000: // BR
		return append(out, instr{op: opJump, src: dataReg(w, 5), mem: none})
	case w&0xfffffc1f == 0xd63f0000: // BLR
		return append(out, instr{op: opCall, src: dataReg(w, 5), mem: none})
	case w&0xfffffc1f == 0xd65f0000: // RET
		return append(out, instr{op: opReturn})
	case w&0xffe0001f == 0xd4200000: // BRK
		return append(out, instr{op: opStop})
	case w&0xfff00000 == 0xd5300000: // MRS
		return append(out, instr{op: opClobber, dst: dataReg(w, 0)})
	}
	return out
}

// memoryARM64 lowers loads and stores.
func memoryARM64(w uint32, out []instr) []instr {
	size := uint8(1) << (w >> 30)
	vector := w>>26&1 == 1
	at := mem{base: baseReg(w, 5), index: noReg}
	load := w>>22&3 != 0
	if vector {
		load = w>>22&1 == 1
	} else if w>>22 == 0x3e2 || w>>22 == 0x3e6 { // PRFM
		return out
	}
	imm9 := int64(int32(w<<11)) >> 23
	switch {
	case w&0x3a000000 == 0x28000000: // LDP, STP
		return pairARM64(w, vector, out)
	case w&0x3b000000 == 0x18000000: // LDR of a literal
		if vector {
			return out
		}
		return append(out, instr{op: opClobber, dst: dataReg(w, 0)})
	case w&0x3f000000 == 0x08000000: // exclusive and ordered
		load = w>>22&1 == 1
		if !load && w>>21&1 == 0 && w>>23&1 == 0 { // STXR has a status register
			out = append(out, instr{op: opClobber, dst: dataReg(w, 16)})
		}
	case w&0x3b000000 == 0x39000000: // offset, unsigned
		if vector && w>>23&1 == 1 {
			size = 16
		}
		at.disp = int64(w>>10&0xfff) * int64(size)
	case w&0x3b200c00 == 0x38200800: // offset in a register
		at.index = dataReg(w, 16)
	case w&0x3b200c00 == 0x38200000: // atomic
		out = append(out, instr{op: opStore, src: noReg, mem: at, width: size, imm: 1})
		return append(out, instr{op: opLoad, dst: dataReg(w, 0), mem: at, width: size})
	case w&0x3b200000 == 0x38000000:
		switch w >> 10 & 3 {
		case 0, 2: // offset, signed
			at.disp = imm9
		case 1: // the base changes afterwards
			out = accessARM64(w, load, vector, size, at, out)
			return append(out, instr{op: opAddress, dst: at.base, mem: mem{base: at.base, index: noReg, disp: imm9}})
		case 3: // the base changes before
			out = append(out, instr{op: opAddress, dst: at.base, mem: mem{base: at.base, index: noReg, disp: imm9}})
		}
	default:
		return out
	}
	return accessARM64(w, load, vector, size, at, out)
}

func accessARM64(w uint32, load, vector bool, size uint8, at mem, out []instr) []instr {
	switch {
	case vector && load:
		if size < 16 { // a floating point field
			return append(out, instr{op: opLoad, dst: noReg, mem: at, width: size})
		}
		return append(out, instr{op: opCopy, dst: noReg, mem: at, width: size})
	case vector && size < 16:
		return append(out, instr{op: opStore, src: noReg, mem: at, width: size, imm: 1})
	case vector:
		return append(out, instr{op: opPaste, mem: at, width: size})
	case load:
		if w&31 == armTemp && size == 1 && at.disp == 0 { // a nil check
			return append(out, instr{op: opClobber, dst: armTemp})
		}
		return append(out, instr{op: opLoad, dst: dataReg(w, 0), mem: at, width: size})
	}
	// With noReg as source the constant 0 is stored.
	return append(out, instr{op: opStore, src: dataReg(w, 0), mem: at, width: size})
}

func pairARM64(w uint32, vector bool, out []instr) []instr {
	size := int64(4)
	if w>>31 == 1 {
		size = 8
	}
	if vector {
		size = 4 << (w >> 30 & 3)
	}
	at := mem{base: baseReg(w, 5), index: noReg}
	imm := (int64(int32(w<<10)) >> 25) * size
	bump := instr{op: opAddress, dst: at.base, mem: mem{base: at.base, index: noReg, disp: imm}}
	mode := w >> 23 & 3
	switch mode {
	case 3: // before
		out = append(out, bump)
	case 0, 2:
		at.disp = imm
	}
	second := at
	second.disp += size
	load := w>>22&1 == 1
	switch {
	case vector && !load:
		out = append(out, instr{op: opPaste, mem: at, width: uint8(2 * size)})
	case vector:
		if size == 16 {
			out = append(out, instr{op: opCopy, dst: noReg, mem: at, width: 32})
		}
	case load:
		r1, r2 := dataReg(w, 0), dataReg(w, 10)
		if r1 == at.base { // keep the base until it has been used
			out = append(out, instr{op: opLoad, dst: r2, mem: second, width: uint8(size)}, instr{op: opLoad, dst: r1, mem: at, width: uint8(size)})
		} else {
			out = append(out, instr{op: opLoad, dst: r1, mem: at, width: uint8(size)}, instr{op: opLoad, dst: r2, mem: second, width: uint8(size)})
		}
	default:
		out = append(out, instr{op: opStore, src: dataReg(w, 0), mem: at, width: uint8(size)},
			instr{op: opStore, src: dataReg(w, 10), mem: second, width: uint8(size)})
	}
	if mode == 1 { // after
		out = append(out, bump)
	}
	return out
}

func immediateARM64(w uint32, pc uint64, out []instr) []instr {
	wide := w>>31 == 1
	switch {
	case w&0x9f000000 == 0x90000000: // ADRP
		return append(out, instr{op: opConst, dst: dataReg(w, 0), imm: pageARM64(w, pc)})
	case w&0x7f800000 == 0x11000000, w&0x7f800000 == 0x51000000: // ADD, SUB
		if !wide {
			return append(out, instr{op: opClobber, dst: dataReg(w, 0)})
		}
		d := int64(addImmARM64(w))
		if w>>30&1 == 1 {
			d = -d
		}
		return append(out, instr{op: opAddress, dst: baseReg(w, 0), mem: mem{base: baseReg(w, 5), index: noReg, disp: d}})
	case w&0x7fe00000 == 0x52800000 && w>>5&0xffff == 0: // MOVZ 0
		return append(out, instr{op: opZero, dst: dataReg(w, 0)})
	}
	return append(out, instr{op: opClobber, dst: dataReg(w, 0)})
}

func registerARM64(w uint32, out []instr) []instr {
	switch {
	case w&0xffe0ffe0 == 0xaa0003e0: // MOV
		if src := dataReg(w, 16); src != noReg {
			return append(out, instr{op: opMove, dst: dataReg(w, 0), src: src})
		}
		return append(out, instr{op: opZero, dst: dataReg(w, 0)})
	case w&0xff200000 == 0x8b000000, w&0xffe00000 == 0x8b200000: // ADD
		base := dataReg(w, 5)
		if w>>21&1 == 1 {
			base = baseReg(w, 5)
		}
		if base != noReg {
			return append(out, instr{op: opAddress, dst: dataReg(w, 0), mem: mem{base: base, index: dataReg(w, 16)}})
		}
	case w&0x1fe00000 == 0x1a400000: // CCMP: no destination
		return out
	}
	return append(out, instr{op: opClobber, dst: dataReg(w, 0)})
}
