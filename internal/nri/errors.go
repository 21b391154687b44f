package nri

import "fmt"

// Reason tells in one word why a probe failed.
type Reason string

// The reasons for which a probe fails.
const (
	// NoSocket: there is nothing at the path. NRI is off, or listens elsewhere.
	NoSocket Reason = "no-socket"
	// NotSocket: there is something at the path, but no unix socket.
	NotSocket Reason = "not-a-socket"
	// PermissionDenied: this user may not open the socket.
	PermissionDenied Reason = "permission-denied"
	// Refused: nobody listens on the socket; a runtime that has ended left it.
	Refused Reason = "refused"
	// NoAnswer: somebody listens but did not introduce itself in time.
	NoAnswer Reason = "no-answer"
	// Closed: the other side closed the connection before it introduced itself.
	Closed Reason = "closed"
	// NotNRI: what the other side sent is not the NRI protocol.
	NotNRI Reason = "not-nri"
	// Rejected: the runtime refused to register the probe.
	Rejected Reason = "rejected"
	// BadIdentity: the runtime introduced itself with values that no runtime has.
	BadIdentity Reason = "bad-identity"
	// Canceled: the caller's context ended first.
	Canceled Reason = "canceled"
	// Failed: the connection could not be made for another reason.
	Failed Reason = "failed"
)

// Error is why a probe failed.
type Error struct {
	Reason Reason
	// Socket is the path that was tried; the first of them if several were.
	Socket string
	// Peer is the process that listens on the socket; nil if nobody does, or if
	// the platform does not tell.
	Peer *Peer
	// Detail says what was wrong and what to do about it, in one line.
	Detail string
	// Err is the cause; nil if there is none.
	Err error
}

// Error gives one line that starts with the socket's path.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s", e.Socket, e.Detail)
	}
	return fmt.Sprintf("%s: %s: %v", e.Socket, e.Detail, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
