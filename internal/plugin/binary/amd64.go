package binary

import (
	"golang.org/x/arch/x86/x86asm"
)

// Registers of amd64 have the numbers of x86asm less that of RAX.
func machineAMD64() machine {
	r := func(x x86asm.Reg) reg { return reg(x - x86asm.RAX) }
	return machine{
		args: []reg{
			r(x86asm.RAX), r(x86asm.RBX), r(x86asm.RCX), r(x86asm.RDI), r(x86asm.RSI),
			r(x86asm.R8), r(x86asm.R9), r(x86asm.R10), r(x86asm.R11),
		},
		stack: r(x86asm.RSP), context: r(x86asm.RDX),
		scratch: []reg{r(x86asm.R11)},
		duff:    [2]reg{r(x86asm.RDI), r(x86asm.RSI)},
		decode:  decodeAMD64,
	}
}

// startsAMD64 tells whether an instruction starts at off.
func startsAMD64(code []byte, off uint64) bool {
	for pc := uint64(0); pc < uint64(len(code)); {
		if pc >= off {
			return pc == off
		}
		in, err := x86asm.Decode(code[pc:], 64)
		if err != nil || in.Len == 0 {
			pc++
			continue
		}
		pc += uint64(in.Len)
	}
	return false
}

func decodeAMD64(code []byte, entry uint64, out []instr) []instr {
	for pc := 0; pc < len(code); {
		in, err := x86asm.Decode(code[pc:], 64)
		if err != nil || in.Len == 0 {
			// Not known to the decoder: one of the newer vector instructions,
			// which do not touch what is followed.
			pc++
			continue
		}
		next := entry + uint64(pc+in.Len)
		from := len(out)
		out = lowerAMD64(in, next, out)
		for i := from; i < len(out); i++ {
			out[i].off = uint32(pc)
		}
		pc += in.Len
	}
	return out
}

func lowerAMD64(in x86asm.Inst, next uint64, out []instr) []instr {
	switch in.Op {
	case x86asm.RET:
		return append(out, instr{op: opReturn})
	case x86asm.UD2, x86asm.INT, x86asm.HLT:
		return append(out, instr{op: opStop})
	case x86asm.CALL, x86asm.JMP:
		return append(out, branchAMD64(in, next))
	case x86asm.LEA:
		return append(out, leaAMD64(in, next))
	case x86asm.MOVSB, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSD, x86asm.STOSQ:
		// A copy or zeroes of many words.
		if in.Op == x86asm.MOVSQ {
			out = append(out, instr{op: opBulk, dst: regAMD64(x86asm.RDI), src: regAMD64(x86asm.RSI)})
		}
		for _, r := range []x86asm.Reg{x86asm.RDI, x86asm.RSI, x86asm.RCX} {
			out = append(out, instr{op: opClobber, dst: regAMD64(r)})
		}
		return out
	case x86asm.TEST, x86asm.NOP:
		return out // the compiler's nil check reads, but means nothing
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.MOVQ, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVAPS, x86asm.MOVSS, x86asm.MOVSD_XMM:
		return append(out, moveAMD64(in, next))
	}
	if target, ok := in.Args[0].(x86asm.Rel); ok { // a conditional jump
		return append(out, instr{op: opBranch, imm: next + uint64(int64(target))})
	}
	return otherAMD64(in, next, out)
}

func branchAMD64(in x86asm.Inst, next uint64) instr {
	i := instr{op: opCall, src: noReg, mem: mem{base: noReg, index: noReg}}
	if in.Op == x86asm.JMP {
		i.op = opJump
	}
	switch a := in.Args[0].(type) {
	case x86asm.Rel:
		i.imm = next + uint64(int64(a))
	case x86asm.Mem:
		i.mem, _ = memAMD64(a, next)
	case x86asm.Reg:
		i.src = regAMD64(a)
	}
	return i
}

func leaAMD64(in x86asm.Inst, next uint64) instr {
	m, ok := in.Args[1].(x86asm.Mem)
	dst, _ := in.Args[0].(x86asm.Reg)
	if !ok {
		return instr{op: opClobber, dst: regAMD64(dst)}
	}
	operand, absolute := memAMD64(m, next)
	if absolute != 0 {
		return instr{op: opConst, dst: regAMD64(dst), imm: absolute}
	}
	return instr{op: opAddress, dst: regAMD64(dst), mem: operand}
}

func moveAMD64(in x86asm.Inst, next uint64) instr {
	width := uint8(in.MemBytes)
	switch dst := in.Args[0].(type) {
	case x86asm.Mem:
		i := instr{op: opStore, src: noReg, width: width}
		i.mem, _ = memAMD64(dst, next)
		switch src := in.Args[1].(type) {
		case x86asm.Reg:
			i.src = regAMD64(src)
			if i.src == noReg && width >= 16 && src != x86asm.X15 { // X15 is 0 in Go's code
				i.op = opPaste
			}
			if i.src == noReg && width < 16 {
				i.imm = 1 // floating point
			}
		case x86asm.Imm:
			i.imm = uint64(src)
		}
		return i
	case x86asm.Reg:
		d := regAMD64(dst)
		switch src := in.Args[1].(type) {
		case x86asm.Mem:
			i := instr{op: opLoad, dst: d, width: width}
			i.mem, _ = memAMD64(src, next)
			if d == noReg && width >= 16 {
				i.op = opCopy
			}
			return i
		case x86asm.Reg:
			if in.Op == x86asm.MOV && in.DataSize == 64 {
				return instr{op: opMove, dst: d, src: regAMD64(src)}
			}
		case x86asm.Imm:
			if src == 0 {
				return instr{op: opZero, dst: d}
			}
		}
		return instr{op: opClobber, dst: d}
	}
	return instr{op: opClobber, dst: noReg}
}

// otherAMD64 lowers any other instruction: its memory operands are read, and
// the first operand changes.
func otherAMD64(in x86asm.Inst, next uint64, out []instr) []instr {
	for n, a := range in.Args {
		m, ok := a.(x86asm.Mem)
		if !ok || in.MemBytes >= 16 {
			continue
		}
		operand, _ := memAMD64(m, next)
		out = append(out, instr{op: opLoad, dst: noReg, mem: operand, width: uint8(in.MemBytes)})
		// ADD, OR and the like with memory first change it.
		if n == 0 && in.Op != x86asm.CMP && in.Op != x86asm.PUSH {
			out = append(out, instr{op: opStore, src: noReg, mem: operand, width: uint8(in.MemBytes), imm: 1})
		}
	}
	dst, ok := in.Args[0].(x86asm.Reg)
	if !ok || in.Op == x86asm.CMP {
		return out
	}
	src, same := in.Args[1].(x86asm.Reg)
	switch {
	case in.Op == x86asm.XOR && same && src == dst:
		return append(out, instr{op: opZero, dst: regAMD64(dst)})
	case in.Op == x86asm.ADD || in.Op == x86asm.SUB:
		if imm, ok := in.Args[1].(x86asm.Imm); ok {
			delta := int64(imm)
			if in.Op == x86asm.SUB {
				delta = -delta
			}
			return append(out, instr{op: opAddress, dst: regAMD64(dst), mem: mem{base: regAMD64(dst), index: noReg, disp: delta}})
		}
		if in.Op == x86asm.ADD && same {
			return append(out, instr{op: opAddress, dst: regAMD64(dst), mem: mem{base: regAMD64(dst), index: regAMD64(src)}})
		}
	case in.Op == x86asm.XCHG && same:
		out = append(out, instr{op: opClobber, dst: regAMD64(src)})
	}
	return append(out, instr{op: opClobber, dst: regAMD64(dst)})
}

// memAMD64 returns the operand, or its address if that is known.
func memAMD64(m x86asm.Mem, next uint64) (mem, uint64) {
	if m.Base == x86asm.RIP {
		return mem{base: noReg, index: noReg}, next + uint64(m.Disp)
	}
	operand := mem{base: noReg, index: noReg, disp: m.Disp}
	if m.Base != 0 {
		operand.base = regAMD64(m.Base)
	}
	if m.Index != 0 {
		operand.index = regAMD64(m.Index)
	}
	if m.Segment != 0 {
		operand.base = noReg
	}
	return operand, 0
}

// regAMD64 returns the general purpose register that a register is or is a part
// of.
func regAMD64(r x86asm.Reg) reg {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return reg(r - x86asm.RAX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return reg(r - x86asm.EAX)
	case r >= x86asm.AX && r <= x86asm.R15W:
		return reg(r - x86asm.AX)
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return reg(r - x86asm.SPB + (x86asm.RSP - x86asm.RAX))
	case r >= x86asm.AL && r <= x86asm.BL:
		return reg(r - x86asm.AL)
	case r >= x86asm.AH && r <= x86asm.BH:
		return reg(r - x86asm.AH)
	}
	return noReg
}
