package nri

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// dial connects to a unix socket and tells the ways in which that fails apart.
func dial(ctx context.Context, socket string) (*net.UnixConn, error) {
	// The kernel answers "connection refused" both for a socket without a
	// listener and for a file that is no socket, so look first.
	info, err := os.Stat(socket)
	if err == nil && info.Mode()&fs.ModeSocket == 0 {
		return nil, &Error{Reason: NotSocket, Socket: socket,
			Detail: "is a " + kindOf(info.Mode()) + ", not a socket: name the NRI socket of the runtime"}
	}
	var conn net.Conn
	if err == nil {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	if err == nil {
		if unix, ok := conn.(*net.UnixConn); ok {
			return unix, nil
		}
		conn.Close()
		err = errors.New("not a unix connection")
	}

	e := &Error{Reason: Failed, Socket: socket, Detail: "cannot connect", Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		e.Reason = NoSocket
		e.Detail, e.Err = "no such socket: NRI is off in the runtime, or the runtime listens on another path", fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		e.Reason = PermissionDenied
		e.Detail, e.Err = "permission denied: run as root", fs.ErrPermission
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Reason = Refused
		e.Detail, e.Err = "nobody listens on this socket: its runtime has ended", syscall.ECONNREFUSED
	case errors.Is(err, syscall.EAGAIN):
		e.Reason = NoAnswer
		e.Detail, e.Err = "the queue of waiting connections is full: its runtime hangs", syscall.EAGAIN
	case ctx.Err() != nil:
		return nil, outOfTime(ctx, socket)
	}
	return nil, e
}

// kindOf names what a file is if it is no socket.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode.IsRegular():
		return "regular file"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	}
	return "device"
}

// outOfTime says why the context has ended.
func outOfTime(ctx context.Context, socket string) *Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{Reason: Canceled, Socket: socket, Detail: "canceled", Err: context.Canceled}
	}
	return &Error{Reason: NoAnswer, Socket: socket,
		Detail: "no introduction in time: what listens there is no NRI runtime, or it hangs, or waits for another plugin", Err: context.DeadlineExceeded}
}
