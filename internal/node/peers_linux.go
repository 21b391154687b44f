package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// peers gives the inodes of the sockets at the other ends of the connections that
// were accepted on a socket. A connection belongs to the network namespace of the
// one who connected.
func (h Host) peers(ctx context.Context, socket string) (map[uint32]bool, []string, error) {
	wanted, err := h.vfsOf(socket)
	if err != nil {
		return nil, nil, err
	}
	found := map[uint32]bool{}
	gaps, err := h.eachSocket(ctx, tcpEstablished, func(s unixSocket) {
		if s.peer != 0 && wanted.matches(s) {
			found[s.peer] = true
		}
	})
	return found, gaps, err
}

// listeners gives the inodes of the sockets that listen on some files, with the
// file.
func (h Host) listeners(ctx context.Context, files []string) (map[uint32]string, []string, error) {
	wanted := map[string]vfs{}
	for _, file := range files {
		v, err := h.vfsOf(file)
		if errors.Is(err, unix.ENOENT) {
			continue // It was removed while this was read.
		}
		if err != nil {
			return nil, nil, err
		}
		wanted[file] = v
	}
	found := map[uint32]string{}
	gaps, err := h.eachSocket(ctx, tcpListen, func(s unixSocket) {
		for file, v := range wanted {
			if v.matches(s) {
				found[s.self] = file
			}
		}
	})
	return found, gaps, err
}

// eachSocket looks at all unix sockets of the node that are in a state, in all of
// its network namespaces. The gaps say which could not be looked at.
func (h Host) eachSocket(ctx context.Context, state uint, found func(unixSocket)) (gaps []string, err error) {
	if err := dumpUnix(state, found); err != nil {
		return nil, fmt.Errorf("ask the kernel for unix sockets: %w", err)
	}
	namespaces, hidden, err := h.otherNetworks()
	if err != nil {
		return nil, err
	}
	failed := 0
	onThreadOfItsOwn(func() {
		for _, ns := range namespaces {
			if ctx.Err() != nil || dumpNamespace(ns, state, found) != nil {
				failed++
			}
		}
	})
	if failed > 0 {
		gaps = append(gaps, fmt.Sprintf("%d of %d other network namespaces could not be entered; plugins in pods with a network of their own may be missing", failed, len(namespaces)))
	}
	if hidden > 0 {
		gaps = append(gaps, fmt.Sprintf("the network namespaces of %d processes are hidden from this user; plugins in them may be missing", hidden))
	}
	return gaps, ctx.Err()
}

// onThreadOfItsOwn runs a function on a thread that ends afterwards, so that the
// function may change the thread as it likes.
func onThreadOfItsOwn(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The main thread never ends, and all of /proc/PID shows its state. While
			// it is held here, the next goroutine is on another one.
			onThreadOfItsOwn(f)
			runtime.UnlockOSThread()
			return
		}
		f() // The thread ends with this goroutine, because it is never unlocked.
	}()
	<-done
}

// vfs identifies the file of a bound socket, as the kernel does: by inode and
// device, of both the low 32 bits. names are the paths under which it is bound.
type vfs struct {
	inode, device uint32
	names         []string
}

// vfsOf identifies the file of a socket.
func (h Host) vfsOf(socket string) (vfs, error) {
	var st unix.Stat_t
	if err := unix.Stat(h.path(socket), &st); err != nil {
		return vfs{}, &os.PathError{Op: "stat", Path: socket, Err: err}
	}
	v := vfs{
		inode: uint32(st.Ino),
		// The kernel's own form of a device number has the minor in 20 bits.
		device: unix.Major(uint64(st.Dev))<<20 | unix.Minor(uint64(st.Dev)),
		names:  []string{socket},
	}
	if resolved, err := filepath.EvalSymlinks(h.path(socket)); err == nil {
		v.names = append(v.names, resolved)
	}
	return v, nil
}

// matches tells whether a socket in the kernel's list is bound to the file. On
// some file systems a file has another device number than its file system; the
// name decides then.
func (v vfs) matches(s unixSocket) bool {
	if s.inode == 0 || s.inode != v.inode {
		return false
	}
	if s.device == v.device {
		return true
	}
	for _, n := range v.names {
		if n == s.name {
			return true
		}
	}
	return false
}

// otherNetworks gives a path to each network namespace of the node but the one of
// this process. hidden is the number of processes whose namespace is not visible.
func (h Host) otherNetworks() (paths []string, hidden int, err error) {
	pids, err := h.pids()
	if err != nil {
		return nil, 0, err
	}
	seen := map[uint64]bool{}
	var st unix.Stat_t
	if unix.Stat("/proc/thread-self/ns/net", &st) == nil {
		seen[st.Ino] = true
	}
	for _, pid := range pids {
		ns := h.proc(pid, "ns", "net")
		switch err := unix.Stat(ns, &st); {
		case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
			hidden++
		case err == nil && !seen[st.Ino]:
			seen[st.Ino] = true
			paths = append(paths, ns)
		}
	}
	return paths, hidden, nil
}

// dumpNamespace is dumpUnix in another network namespace. The calling thread stays
// in it.
func dumpNamespace(path string, state uint, found func(unixSocket)) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil // Its process has ended, and with it the connection.
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return err
	}
	return dumpUnix(state, found)
}
