package nri

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"
)

// socketPath gives a path for a socket that is short enough for the kernel.
func socketPath(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "nri")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "nri.sock")
}

// listen starts a listener that hands every connection to serve. It ends, and
// waits for everything it started, when the test ends.
func listen(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	path := socketPath(tb)
	l, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				stop := context.AfterFunc(ctx, func() { conn.Close() })
				defer stop()
				serve(conn)
			})
		}
	})
	tb.Cleanup(func() { cancel(); l.Close(); running.Wait() })
	return path
}

// handmade is a runtime written for the tests. It does with one plugin what the
// real ones do, and sends whatever introduction it is told to.
type handmade struct {
	request *api.ConfigureRequest
	// refuse is the error with which RegisterPlugin is answered.
	refuse error
	// eager calls Configure without waiting for the plugin to register.
	eager bool

	mu      sync.Mutex
	plugins []string // what registered, as INDEX-NAME
	answers []error  // what Configure was answered with
	masks   []int32  // the event masks of answers without an error
}

// RegisterPlugin takes the registration of a plugin.
func (h *handmade) RegisterPlugin(_ context.Context, req *api.RegisterPluginRequest) (*api.Empty, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plugins = append(h.plugins, req.GetPluginIdx()+"-"+req.GetPluginName())
	return &api.Empty{}, h.refuse
}

// UpdateContainers is never called by a probe.
func (h *handmade) UpdateContainers(context.Context, *api.UpdateContainersRequest) (*api.UpdateContainersResponse, error) {
	return nil, errors.New("a probe must not update containers")
}

// serve plays the runtime on one connection.
func (h *handmade) serve(conn net.Conn) {
	mux := multiplex.Multiplex(conn, multiplex.WithBlockedRead())
	defer mux.Close()
	server, err := ttrpc.NewServer()
	if err != nil {
		return
	}
	defer server.Close()
	registered := make(chan struct{})
	api.RegisterRuntimeService(server, &signalling{handmade: h, done: registered})
	listener, err := mux.Listen(multiplex.RuntimeServiceConn)
	if err != nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = server.Serve(context.Background(), listener)
	}()
	plugin, err := mux.Open(multiplex.PluginServiceConn)
	if err != nil {
		return
	}
	left := make(chan struct{})
	client := ttrpc.NewClient(plugin, ttrpc.WithOnClose(func() { close(left) }))
	defer client.Close()
	mux.Unblock()

	if !h.eager {
		select {
		case <-registered:
		case <-left:
			return
		}
	}
	if h.refuse != nil {
		<-left
		return
	}
	rpl, err := api.NewPluginClient(client).Configure(context.Background(), h.request)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = append(h.answers, err)
	if err == nil {
		h.masks = append(h.masks, rpl.GetEvents())
	}
}

// signalling tells when a plugin has registered.
type signalling struct {
	*handmade
	done chan struct{}
	once sync.Once
}

// RegisterPlugin takes the registration and tells of it.
func (s *signalling) RegisterPlugin(ctx context.Context, req *api.RegisterPluginRequest) (*api.Empty, error) {
	rpl, err := s.handmade.RegisterPlugin(ctx, req)
	s.once.Do(func() { close(s.done) })
	return rpl, err
}
