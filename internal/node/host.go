package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	securejoin "github.com/cyphar/filepath-securejoin"
)

const (
	maxConfigFile = 1 << 20  // bytes of one configuration file
	maxProcFile   = 64 << 10 // bytes of one file below /proc
)

// Host says where the files of a node are. The zero value is this node.
type Host struct {
	// Root is the directory that holds the file system of the node; empty means
	// "/". Paths in results and in files of the node are without it.
	Root string
	// Proc is the proc file system of the node; empty means "/proc".
	Proc string
}

// path gives the path under which a file of the node can be opened. Links in the
// file system of a node that is mounted elsewhere stay in there.
func (h Host) path(p string) string {
	if h.Root == "" {
		return p
	}
	inside, err := securejoin.SecureJoin(h.Root, p)
	if err != nil {
		// It cannot be looked at, which whoever opens it will see.
		return filepath.Join(h.Root, filepath.Join("/", p))
	}
	return inside
}

// proc gives the path of a file in the directory of a process.
func (h Host) proc(pid int, elem ...string) string {
	dir := h.Proc
	if dir == "" {
		dir = "/proc"
	}
	return filepath.Join(append([]string{dir, strconv.Itoa(pid)}, elem...)...)
}

// pids lists the processes of the node in ascending order.
func (h Host) pids() ([]int, error) {
	dir := h.Proc
	if dir == "" {
		dir = "/proc"
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	if len(pids) == 0 {
		return nil, fmt.Errorf("processes: none in %s: it is no proc file system", dir)
	}
	return pids, nil
}

// args reads the command line of a process.
func (h Host) args(pid int) ([]string, error) {
	b, err := readBounded(h.proc(pid, "cmdline"), maxProcFile)
	if err != nil && !errors.Is(err, errTooLong) {
		return nil, fmt.Errorf("command line of process %d: %w", pid, err)
	}
	b = bytes.TrimSuffix(b, []byte{0})
	if len(b) == 0 {
		return nil, nil // a kernel thread or a zombie
	}
	var args []string
	for arg := range bytes.SplitSeq(b, []byte{0}) {
		args = append(args, string(arg))
	}
	return args, nil
}

// errTooLong is the cause of an error about a file above its bound.
var errTooLong = errors.New("too long")

// readBounded reads a regular file of at most limit bytes. Of a longer one it gives
// the beginning and an error. Nothing else is opened, because any process can name
// it as its file: a pipe has no end, and a device may do something.
func readBounded(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is no regular file", path)
	}
	// If it has become a pipe meanwhile, opening it must not wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return b[:limit], fmt.Errorf("%s: %w: at most %d bytes are read", path, errTooLong, limit)
	}
	return b, nil
}
