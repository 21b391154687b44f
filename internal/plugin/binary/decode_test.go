package binary

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// text writes instructions in a short form for comparison.
func text(list []instr) string {
	names := map[op]string{
		opClobber: "clobber", opMove: "move", opLoad: "load", opCopy: "copy", opPaste: "paste", opBulk: "bulk", opStore: "store",
		opAddress: "address", opConst: "const", opZero: "zero", opCall: "call", opJump: "jump", opBranch: "branch", opReturn: "return", opStop: "stop",
	}
	r := func(x reg) string {
		if x == noReg {
			return "-"
		}
		return fmt.Sprint(x)
	}
	s := ""
	for _, in := range list {
		s += names[in.op]
		m := fmt.Sprintf("[%s+%s%+d]", r(in.mem.base), r(in.mem.index), in.mem.disp)
		switch in.op {
		case opClobber, opZero:
			s += " " + r(in.dst)
		case opMove, opBulk:
			s += " " + r(in.dst) + " " + r(in.src)
		case opLoad, opCopy:
			s += fmt.Sprintf(" %s %s %d", r(in.dst), m, in.width)
		case opStore:
			s += fmt.Sprintf(" %s %s %d", r(in.src), m, in.width)
			if in.imm != 0 {
				s += " imm"
			}
		case opPaste:
			s += fmt.Sprintf(" %s %d", m, in.width)
		case opAddress:
			s += " " + r(in.dst) + " " + m
		case opConst:
			s += fmt.Sprintf(" %s %#x", r(in.dst), in.imm)
		case opCall, opJump, opBranch:
			if in.imm != 0 {
				s += fmt.Sprintf(" %#x", in.imm)
			} else {
				s += " " + r(in.src) + " " + m
			}
		}
		s += "; "
	}
	return s
}

func TestDecodeAMD64(t *testing.T) {
	tests := []struct {
		name string
		code []byte
		want string
	}{
		{"MOVQ AX, CX", []byte{0x48, 0x89, 0xc1}, "move 1 0; "},
		{"MOVL AX, CX", []byte{0x89, 0xc1}, "clobber 1; "},
		{"MOVQ 0x30(SI), CX", []byte{0x48, 0x8b, 0x4e, 0x30}, "load 1 [6+-+48] 8; "},
		{"MOVQ (AX)(CX*8), DX", []byte{0x48, 0x8b, 0x14, 0xc8}, "load 2 [0+1+0] 8; "},
		{"MOVQ CX, 0x8(SP)", []byte{0x48, 0x89, 0x4c, 0x24, 0x08}, "store 1 [4+-+8] 8; "},
		{"MOVB $1, (AX)", []byte{0xc6, 0x00, 0x01}, "store - [0+-+0] 1 imm; "},
		{"MOVQ $0, (AX)", []byte{0x48, 0xc7, 0x00, 0, 0, 0, 0}, "store - [0+-+0] 8; "},
		{"MOVUPS X15, (AX)", []byte{0x44, 0x0f, 0x11, 0x38}, "store - [0+-+0] 16; "},
		{"MOVUPS X0, (AX)", []byte{0x0f, 0x11, 0x00}, "paste [0+-+0] 16; "},
		{"MOVUPS (AX), X0", []byte{0x0f, 0x10, 0x00}, "copy - [0+-+0] 16; "},
		{"LEAQ 0x10(IP), AX", []byte{0x48, 0x8d, 0x05, 0x10, 0, 0, 0}, "const 0 0x1017; "},
		{"LEAQ 8(AX), CX", []byte{0x48, 0x8d, 0x48, 0x08}, "address 1 [0+-+8]; "},
		{"CMPQ 8(AX), $0", []byte{0x48, 0x83, 0x78, 0x08, 0x00}, "load - [0+-+8] 8; "},
		{"TESTB AL, (AX)", []byte{0x84, 0x00}, ""},
		{"NOPL (AX)(AX*1)", []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}, ""},
		{"INCQ 8(AX)", []byte{0x48, 0xff, 0x40, 0x08}, "load - [0+-+8] 8; store - [0+-+8] 8 imm; "},
		{"XORL CX, CX", []byte{0x31, 0xc9}, "zero 1; "},
		{"ADDQ $8, CX", []byte{0x48, 0x83, 0xc1, 0x08}, "address 1 [1+-+8]; "},
		{"CALL rel", []byte{0xe8, 0x10, 0, 0, 0}, "call 0x1015; "},
		{"CALL 0x18(AX)", []byte{0xff, 0x50, 0x18}, "call - [0+-+24]; "},
		{"CALL SI", []byte{0xff, 0xd6}, "call 6 [-+-+0]; "},
		{"JMP rel8", []byte{0xeb, 0x02}, "jump 0x1004; "},
		{"JE rel8", []byte{0x74, 0x06}, "branch 0x1008; "},
		{"RET", []byte{0xc3}, "return; "},
		{"UD2", []byte{0x0f, 0x0b}, "stop; "},
		{"cut short", []byte{0x48, 0x8b}, ""},
	}
	for _, tt := range tests {
		if got := text(decodeAMD64(tt.code, 0x1000, nil)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDecodeARM64(t *testing.T) {
	tests := []struct {
		name string
		code []uint32
		want string
	}{
		{"MOVD R1, R0", []uint32{0xaa0103e0}, "move 0 1; "},
		{"MOVD ZR, R0", []uint32{0xaa1f03e0}, "zero 0; "},
		{"MOVD 144(R0), R25", []uint32{0xf9404819}, "load 25 [0+-+144] 8; "},
		{"MOVD -8(RSP), R29", []uint32{0xf85f83fd}, "load 29 [32+--8] 8; "},
		{"MOVD R5, (R6)", []uint32{0xf90000c5}, "store 5 [6+-+0] 8; "},
		{"MOVD ZR, (R4)", []uint32{0xf900009f}, "store - [4+-+0] 8; "},
		{"MOVBU (R3), R4", []uint32{0x39400064}, "load 4 [3+-+0] 1; "},
		{"MOVB (R6), R27", []uint32{0x398000db}, "clobber 27; "},
		{"MOVD.W R30, -48(RSP)", []uint32{0xf81d0ffe}, "address 32 [32+--48]; store 30 [32+-+0] 8; "},
		{"MOVD.P 48(RSP), R30", []uint32{0xf84307fe}, "load 30 [32+-+0] 8; address 32 [32+-+48]; "},
		{"LDP (R4), (R5, R6)", []uint32{0xa9401885}, "load 5 [4+-+0] 8; load 6 [4+-+8] 8; "},
		{"LDP of its base", []uint32{0xa9400400}, "load 1 [0+-+8] 8; load 0 [0+-+0] 8; "},
		{"STP (ZR, ZR), 8(R4)", []uint32{0xa900fc9f}, "store - [4+-+8] 8; store - [4+-+16] 8; "},
		{"a copy and its rest", []uint32{0xad404410, 0xad004450, 0xf9401019, 0xf9001059}, "copy - [0+-+0] 32; paste [2+-+0] 32; copy 25 [0+-+32] 8; store 25 [2+-+32] 8; "},
		{"ADRP; ADD", []uint32{0x90000000, 0x91002001}, "const 0 0x1000; address 1 [0+-+8]; "},
		{"SUB $8, RSP, R29", []uint32{0xd10023fd}, "address 29 [32+--8]; "},
		{"CMP R16, RSP", []uint32{0xeb3063ff}, "clobber -; "},
		{"BL", []uint32{0x97ffffff}, "call 0xffc; "},
		{"B", []uint32{0x14000002}, "jump 0x1008; "},
		{"B.LS", []uint32{0x54000229}, "branch 0x1044; "},
		{"CBZ R0", []uint32{0xb4000120}, "branch 0x1024; "},
		{"TBZ $0, R4", []uint32{0x36000044}, "branch 0x1008; "},
		{"BLR R3", []uint32{0xd63f0060}, "call 3 [-+-+0]; "},
		{"BR R3", []uint32{0xd61f0060}, "jump 3 [-+-+0]; "},
		{"RET", []uint32{0xd65f03c0}, "return; "},
		{"NOOP", []uint32{0xd503201f}, ""},
		{"UDF", []uint32{0}, "stop; "},
	}
	for _, tt := range tests {
		var code []byte
		for _, w := range tt.code {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		if got := text(decodeARM64(code, 0x1000, nil)); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// What x/arch/arm64asm knows to change a general purpose register must be seen
// to change it: 200,000 random instructions are compared.
func TestARM64Destinations(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	compared := 0
	for range 200000 {
		w := rnd.Uint32()
		code := binary.LittleEndian.AppendUint32(nil, w)
		in, err := arm64asm.Decode(code)
		if err != nil {
			continue
		}
		dst, ok := destinationARM64(in)
		if !ok {
			continue
		}
		compared++
		list := decodeARM64(code, 0x1000, nil)
		if !slices.ContainsFunc(list, func(i instr) bool { return i.dst == dst && i.op != opStore && i.op != opPaste }) {
			t.Fatalf("%08x %v: register %d is not seen to change: %s", w, in, dst, text(list))
		}
	}
	if compared < 10000 {
		t.Errorf("only %d instructions were compared", compared)
	}
}

// destinationARM64 returns the general purpose register that is the first
// operand of an instruction that changes it.
func destinationARM64(in arm64asm.Inst) (reg, bool) {
	switch in.Op.String() {
	case "LDR", "LDUR", "LDRB", "LDRH", "LDRSW", "LDP", "ADD", "SUB", "AND", "ORR", "EOR", "MOV", "MOVZ", "MOVN", "MOVK", "ADR", "ADRP",
		"CSEL", "CSINC", "CSET", "LSL", "LSR", "ASR", "UBFX", "SBFX", "MUL", "MADD", "SDIV", "UDIV", "CLZ", "RBIT", "REV", "FMOV", "FCVTZS", "UMOV", "MRS":
	default:
		return 0, false
	}
	r, ok := in.Args[0].(arm64asm.Reg)
	if !ok {
		rsp, isRSP := in.Args[0].(arm64asm.RegSP)
		if !isRSP || arm64asm.Reg(rsp) == arm64asm.SP || arm64asm.Reg(rsp) == arm64asm.WSP {
			return 0, false
		}
		r = arm64asm.Reg(rsp)
	}
	switch {
	case r >= arm64asm.X0 && r <= arm64asm.X30:
		return reg(r - arm64asm.X0), true
	case r >= arm64asm.W0 && r <= arm64asm.W30:
		return reg(r - arm64asm.W0), true
	}
	return 0, false
}
