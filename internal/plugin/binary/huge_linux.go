package binary

import "syscall"

// preferHugePages asks the kernel to give memory that will be written as a whole
// in large pages: with small ones, a good part of the time to read a large file goes
// into mapping them. It is a hint, and failing does no harm.
func preferHugePages(b []byte) {
	if len(b) >= 4<<20 {
		_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE)
	}
}
