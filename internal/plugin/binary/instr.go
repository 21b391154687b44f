package binary

// The form of instructions that the analysis of data flow works on. Both
// processors are brought to it; what an instruction does beyond it is left out.

// reg is a general purpose register, numbered as the processor does. One more
// number stands for "no register".
type reg uint8

const noReg reg = 255

// op is what an instruction does, as far as it matters.
type op uint8

const (
	opClobber op = iota // dst gets a value that is not followed
	opMove              // dst = src
	opLoad              // dst = memory; dst may be noReg for a comparison
	opCopy              // a vector register gets 16 or more bytes of memory
	opPaste             // memory gets a vector register
	opBulk              // memory at dst gets what is at src, many words
	opStore             // memory = src, or a constant if src is noReg
	opAddress           // dst = the address of the memory operand
	opConst             // dst = imm, an address in the program
	opZero              // dst = 0
	opCall              // call of imm, or through register or memory if imm is 0
	opJump              // goes to imm; to an unknown place if imm is 0
	opBranch            // may go to imm
	opReturn
	opStop // never continues: a trap
)

// mem is a memory operand: base + index*scale + disp. On arm64 base alone may
// change afterwards, which the decoder tells by a second instruction.
type mem struct {
	base, index reg
	disp        int64
}

// instr is one instruction, or a part of one.
type instr struct {
	op       op
	dst, src reg
	mem      mem
	// width is the number of bytes loaded or stored.
	width uint8
	imm   uint64
	off   uint32 // from the entry of the function
}

// machine is what the analysis must know of a processor and of Go's calling
// convention on it.
type machine struct {
	// args are the registers that hold parameters and results, in order.
	args []reg
	// stack is the stack pointer; context holds the closure in a call.
	stack, context reg
	// scratch are registers that a write barrier may change.
	scratch []reg
	// duff are the registers with the destination and the source of the
	// runtime's copy that keeps all registers but these.
	duff [2]reg
	// duffBytes is how many bytes of code copy 16 bytes in it, if what it leaves
	// is copied by other instructions afterwards; otherwise 0.
	duffBytes int64
	// decode brings code to the form above.
	decode func(code []byte, entry uint64, out []instr) []instr
}
