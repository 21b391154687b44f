package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// runVersion runs an open file with --version and gives the first line that it
// prints. It always kills the whole process group before it collects the process: until
// then the id of the group is taken, so that it cannot hit another one.
func runVersion(ctx context.Context, f *os.File) ([]byte, error) {
	// The kernel kills the program if the thread that started it ends, which is
	// when this process is killed, unless the thread ends before.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	process, err := startVersion(f, in, os.Geteuid() == 0)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		process, err = startVersion(f, in, false)
	}
	in.Close()
	if err != nil {
		return nil, refused(err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = out.SetReadDeadline(deadline)
	}
	interrupted := context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Unix(1, 0)) })
	line, err := readLine(out)
	interrupted()
	_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
	_ = process.Wait() // how it ended does not matter: what it printed does
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, errors.New("it did not answer in time, and was killed")
	}
	return line, err
}

// startVersion starts the file in a process group of its own. With contained it is
// also the first process of a PID namespace, which ends with it: then nothing can be
// left, not even what leaves the process group.
func startVersion(f, stdout *os.File, contained bool) (*exec.Cmd, error) {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if contained {
		attr.Cloneflags = syscall.CLONE_NEWPID
	}
	cmd := &exec.Cmd{
		// The file itself, whatever its name means by now.
		Path:        "/proc/self/fd/3",
		Args:        []string{"kubelet", "--version"},
		Env:         []string{},
		Dir:         "/",
		Stdout:      stdout,
		ExtraFiles:  []*os.File{f}, // as file 3
		SysProcAttr: attr,
	}
	return cmd, cmd.Start()
}

// refused explains why a program could not be started.
func refused(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fmt.Errorf("it may not be run from here: %w", err)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("it cannot be run from here, its loader is missing: %w", err)
	}
	return fmt.Errorf("it cannot be run from here: %w", err)
}
