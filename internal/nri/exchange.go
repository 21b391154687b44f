package nri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"syscall"

	"github.com/containerd/log"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"
	"github.com/sirupsen/logrus"
)

const (
	// maxTraffic bounds what is read from the other side, in bytes. A runtime
	// sends less than 1 KiB.
	maxTraffic = 64 << 10
	// pluginService is the service that a plugin offers to the runtime. Only its
	// Configure method is served; all others answer "unimplemented".
	pluginService = "nri.pkg.api.v1alpha1.Plugin"
	// runtimeService is the service that a runtime offers to its plugins.
	runtimeService = "nri.pkg.api.v1alpha1.Runtime"
	// watchConn is a connection within the multiplexer that nobody uses. Reading
	// from it tells when and why the whole connection has ended.
	watchConn = multiplex.ConnID(math.MaxUint32)
)

// What ends an exchange, beside the context.
var (
	errTraffic  = fmt.Errorf("more than %d bytes before an introduction", maxTraffic)
	errRejected = errors.New("the runtime refused the registration")
	errIdentity = errors.New("bad Configure request")
)

// introduction is the outcome of a call of Configure.
type introduction struct {
	req *api.ConfigureRequest
	err error
}

// exchange registers over the connection and waits for the runtime to call
// Configure and to hang up. It closes the connection.
func exchange(ctx context.Context, conn net.Conn) (*api.ConfigureRequest, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, fmt.Errorf("set deadline: %w", err)
		}
	}
	mux := multiplex.Multiplex(&bounded{Conn: conn, left: maxTraffic}, multiplex.WithBlockedRead())
	defer mux.Close()

	var running sync.WaitGroup
	// What is started below ends when the multiplexer is closed.
	defer running.Wait()
	defer mux.Close()

	introduced := make(chan introduction, 1)
	server, err := serve(ctx, mux, &running, introduced)
	if err != nil {
		return nil, err
	}
	defer server.Close()

	end, err := watch(mux, &running)
	if err != nil {
		return nil, err
	}
	runtime, err := mux.Open(multiplex.RuntimeServiceConn)
	if err != nil {
		return nil, fmt.Errorf("open connection to runtime: %w", err)
	}

	// Everything that the runtime can call is in place: register.
	mux.Unblock()
	registered := make(chan error, 1)
	running.Go(func() { registered <- register(runtime) })
	return await(ctx, introduced, registered, end)
}

// serve starts to serve Configure. The first call goes to introduced; every call
// is answered with an error.
func serve(ctx context.Context, mux multiplex.Mux, running *sync.WaitGroup, introduced chan<- introduction) (*ttrpc.Server, error) {
	server, err := ttrpc.NewServer()
	if err != nil {
		return nil, fmt.Errorf("create server: %w", err)
	}
	listener, err := mux.Listen(multiplex.PluginServiceConn)
	if err != nil {
		return nil, fmt.Errorf("listen for runtime: %w", err)
	}
	server.RegisterService(pluginService, &ttrpc.ServiceDesc{Methods: map[string]ttrpc.Method{
		"Configure": func(_ context.Context, unmarshal func(any) error) (any, error) {
			in := introduction{req: &api.ConfigureRequest{}}
			if err := unmarshal(in.req); err != nil {
				in.err = fmt.Errorf("%w: cannot be read: %w", errIdentity, err)
			}
			select {
			case introduced <- in:
			default: // Only the first call counts.
			}
			return nil, errors.New(Farewell)
		},
	}})
	running.Go(func() {
		// It ends when the listener is closed; there is nothing to learn from why.
		_ = server.Serve(quiet(ctx), listener)
	})
	return server, nil
}

// watch sends the cause to the returned channel when the connection has ended.
func watch(mux multiplex.Mux, running *sync.WaitGroup) (<-chan error, error) {
	conn, err := mux.Open(watchConn)
	if err != nil {
		return nil, fmt.Errorf("watch connection: %w", err)
	}
	end := make(chan error, 1)
	running.Go(func() {
		buf := make([]byte, 1)
		for {
			// ENOMEM is the answer for a frame longer than the buffer: somebody
			// sent one to this connection, which nobody does.
			if _, err := conn.Read(buf); err != nil && !errors.Is(err, syscall.ENOMEM) {
				end <- err
				return
			}
		}
	})
	return end, nil
}

// await waits for the outcome of the exchange.
func await(ctx context.Context, introduced <-chan introduction, registered, end <-chan error) (*api.ConfigureRequest, error) {
	for {
		select {
		case in := <-introduced:
			if in.err != nil {
				return nil, in.err
			}
			// The runtime hangs up when it has read the answer. Hanging up first
			// could cut the answer off, and its log would not explain itself.
			select {
			case <-end:
			case <-ctx.Done():
			}
			return in.req, nil
		case err := <-registered:
			if errors.Is(err, errRejected) {
				return nil, err
			}
			// It succeeded, or it failed because the connection ended, and then
			// end knows why.
			registered = nil
		case err := <-end:
			select {
			case in := <-introduced:
				return in.req, in.err
			default:
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// atSocket turns the outcome of a failed exchange into the error for the caller.
func atSocket(ctx context.Context, socket string, err error) *Error {
	switch {
	case errors.Is(err, errRejected):
		return &Error{Reason: Rejected, Socket: socket, Detail: "not probed", Err: err}
	case errors.Is(err, errIdentity):
		return &Error{Reason: BadIdentity, Socket: socket, Detail: "what listens there is no NRI runtime", Err: err}
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return outOfTime(ctx, socket)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &Error{Reason: Closed, Socket: socket,
			Detail: "the other side hung up before it introduced itself: it is no NRI runtime, or it is ending"}
	}
	return &Error{Reason: NotNRI, Socket: socket, Detail: "what listens there does not speak NRI", Err: err}
}

// isTimeout tells whether the connection's own deadline, which is the context's,
// was noticed before the context's end was.
func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// bounded is a connection from which only so much can be read.
type bounded struct {
	net.Conn
	left int
}

// Read reads from the connection. Only the multiplexer's reader calls it.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTraffic
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// quiet gives a context in which ttrpc keeps its complaints about the other side
// to itself: they are in the error already.
func quiet(ctx context.Context) context.Context {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	return log.WithLogger(ctx, logrus.NewEntry(logger))
}
