package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// grace is how long the stage may take to end the program and itself.
const grace = 5 * time.Second

// Box is the running sandbox, as seen from outside.
type Box struct {
	cmd      *exec.Cmd
	messages *json.Decoder
	pipe     *os.File
}

// message is one message of the stage.
type message struct {
	// Failed says why the program could not be started.
	Failed string          `json:"failed,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// Start starts the stage: self is the command line, without the executable,
// under which this executable calls [Enter]. config is handed to the stage as
// JSON. What the program writes goes to stdout and stderr. When the context
// ends, the stage is told to end, and killed if it does not in time.
//
// The error says so if this user may not make namespaces.
func Start(ctx context.Context, self []string, spec Spec, config any, stdout, stderr io.Writer) (*Box, error) {
	first, err := json.Marshal(newOpening(spec, config))
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = self
	cmd.Env = spec.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = namespaces()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		r.Close()
		return nil, err
	}
	cmd.Cancel = stdin.Close // the stage notices, and ends the program
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		r.Close()
		return nil, explain(err)
	}
	if _, err := stdin.Write(first); err != nil {
		r.Close()
		return nil, errors.Join(fmt.Errorf("start in namespaces of its own: %w", err), cmd.Wait())
	}
	return &Box{cmd: cmd, messages: json.NewDecoder(r), pipe: r}, nil
}

// namespaces are those of the stage. It leads a session of its own, so that a
// key pressed at the terminal does not reach the program past us. If this process
// is killed the kernel kills the stage, also one that the program keeps from
// noticing: root can stop it.
func namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Setsid: true, Pdeathsig: syscall.SIGKILL}
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

func explain(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("a plugin is run in a mount and a process namespace of its own, which this user may not make here: run as root, outside of a container: %w", err)
	}
	return fmt.Errorf("start in namespaces of its own: %w", err)
}

// Next waits for the next message of the stage and decodes it into v. It
// returns io.EOF after the last one, and an error that says so if the program
// could not be started.
func (b *Box) Next(v any) error {
	var m message
	if err := b.messages.Decode(&m); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF // the stage was killed while it wrote
		}
		return err
	}
	if m.Failed != "" {
		return errors.New(m.Failed)
	}
	return json.Unmarshal(m.Data, v)
}

// Wait waits until nothing of the sandbox runs any more. Messages that were not
// asked for until now are lost.
func (b *Box) Wait() error {
	// A stage that has more to say than the pipe holds would wait for ever.
	b.pipe.Close()
	err := b.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil // that it had to be killed is no fault of the caller
	}
	return err
}
