package binary

import "slices"

// block is a run of instructions that is entered only at its start and left
// only at its end.
type block struct {
	from, to int // instructions
	next     []int
	// indirect is set if it ends in a jump to an unknown place of the function.
	indirect bool
	in       *state // what holds at its start; nil while nobody has come here
}

// cut splits the instructions of a function into blocks.
func cut(code []instr, entry uint64, size uint64) []block {
	starts := []int{0}
	// at is the first instruction at an address or after it (what is left out
	// of code does nothing), -1 if the address lies outside.
	at := func(target uint64) int {
		off := target - entry
		if off >= size {
			return -1
		}
		i, _ := slices.BinarySearchFunc(code, uint32(off), func(in instr, off uint32) int { return int(int64(in.off) - int64(off)) })
		if i == len(code) {
			return -1
		}
		return i
	}
	for i, in := range code {
		switch in.op {
		case opJump, opBranch:
			if in.imm != 0 {
				if t := at(in.imm); t >= 0 {
					starts = append(starts, t)
				}
			}
			starts = append(starts, i+1)
		case opReturn, opStop:
			starts = append(starts, i+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	var blocks []block
	for n, s := range starts {
		end := len(code)
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		if s < end {
			blocks = append(blocks, block{from: s, to: end})
		}
	}
	find := func(i int) int {
		n, ok := slices.BinarySearchFunc(blocks, i, func(b block, i int) int { return b.from - i })
		if !ok {
			return -1
		}
		return n
	}
	for n := range blocks {
		b := &blocks[n]
		last := code[b.to-1]
		falls := true
		switch last.op {
		case opReturn, opStop:
			falls = false
		case opJump:
			falls = false
			b.indirect = last.imm == 0
		}
		if (last.op == opJump || last.op == opBranch) && last.imm != 0 {
			if t := at(last.imm); t >= 0 {
				b.next = append(b.next, find(t))
			}
		}
		if falls && n+1 < len(blocks) {
			b.next = append(b.next, n+1)
		}
	}
	return blocks
}
