//go:build !linux

package binary

// preferHugePages does something on Linux only.
func preferHugePages([]byte) {}
