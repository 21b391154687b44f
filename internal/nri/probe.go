package nri

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// PluginIndex and PluginName are what the probe registers as. The index
	// puts it behind all other plugins; both are valid by the rules of every
	// NRI version.
	PluginIndex = "99"
	PluginName  = "nri-compat-probe"
	// Farewell is the text of the error with which the probe answers Configure.
	Farewell = "nri-compat: probe finished, not an error"
	// MaxTimeout bounds a whole probe, from the first look at the socket to the
	// end of the connection.
	MaxTimeout = 2 * time.Second
)

// DefaultSockets are the paths on which runtimes listen by default, the usual
// one first. The second is that of NRI v0.2.0 (CRI-O 1.26.0 and 1.26.1).
func DefaultSockets() []string {
	return []string{"/var/run/nri/nri.sock", "/var/run/nri.sock"}
}

// Options say what to probe.
type Options struct {
	// Socket is the path of the NRI socket. Empty means the first of
	// [DefaultSockets] on which a runtime listens.
	Socket string
	// Timeout bounds the whole probe. Zero, and everything above it, means
	// [MaxTimeout].
	Timeout time.Duration
}

// Probe connects to the NRI socket of a runtime, reads who it is and goes away,
// as the package comment describes. Every error is an [*Error]. ctx can end the
// probe earlier.
func Probe(ctx context.Context, opts Options) (Identity, error) {
	sockets := DefaultSockets()
	if opts.Socket != "" {
		sockets = []string{opts.Socket}
	}
	timeout := opts.Timeout
	if timeout <= 0 || timeout > MaxTimeout {
		timeout = MaxTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return probeFirst(ctx, sockets)
}

// probeFirst probes the first of the sockets on which somebody listens. If there
// is none, the error is about the first socket that exists, or about the first
// one.
func probeFirst(ctx context.Context, sockets []string) (Identity, error) {
	var failure *Error
	for _, socket := range sockets {
		id, err := probeOne(ctx, socket)
		if err == nil {
			return id, nil
		}
		var e *Error
		if !errors.As(err, &e) {
			e = &Error{Reason: Failed, Socket: socket, Detail: "cannot be probed", Err: err}
		}
		if e.Reason != NoSocket && e.Reason != Refused {
			return Identity{}, e
		}
		if failure == nil || failure.Reason == NoSocket && e.Reason != NoSocket {
			failure = e
		}
	}
	return Identity{}, failure
}

// probeOne probes one socket.
func probeOne(ctx context.Context, socket string) (Identity, error) {
	conn, err := dial(ctx, socket)
	if err != nil {
		return Identity{}, err
	}
	defer conn.Close()
	peer := peerOf(conn)

	req, err := exchange(ctx, conn)
	var id Identity
	if err == nil {
		id, err = readConfigure(req)
	}
	if err != nil {
		e := atSocket(ctx, socket, err)
		e.Peer = peer
		return Identity{}, e
	}
	id.Socket = socket
	id.Peer = peer
	id.Bracket = bracket(id)
	id.LogLines = logLines(id.Bracket, os.Getpid())
	return id, nil
}
