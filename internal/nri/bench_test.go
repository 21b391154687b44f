package nri_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"

	"github.com/nri-compat/nri-compat/internal/nri"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// BenchmarkProbe compares a probe of a real runtime with the least that a plugin
// does: register, be configured, leave. The metric x-bare is the ratio.
func BenchmarkProbe(b *testing.B) {
	if testing.Short() {
		b.Skip("builds a release of NRI")
	}
	runtime := testruntime.StartAdaptation(b, testruntime.BuildAdaptation(b, "v0.12.5"), "containerd", "v2.4.2")
	var probes, bares time.Duration
	for b.Loop() {
		start := time.Now()
		if err := bare(b.Context(), runtime.Socket); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := nri.Probe(b.Context(), nri.Options{Socket: runtime.Socket}); err != nil {
			b.Fatal(err)
		}
		bares += middle.Sub(start)
		probes += time.Since(middle)
	}
	b.ReportMetric(float64(probes)/float64(bares), "x-bare")
	b.ReportMetric(float64(probes.Microseconds())/float64(b.N), "µs/probe")
}

// bare is one round trip of registration and configuration.
func bare(ctx context.Context, socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	mux := multiplex.Multiplex(conn, multiplex.WithBlockedRead())
	defer mux.Close()
	listener, err := mux.Listen(multiplex.PluginServiceConn)
	if err != nil {
		return err
	}
	server, err := ttrpc.NewServer()
	if err != nil {
		return err
	}
	defer server.Close()
	configured := make(chan struct{})
	server.RegisterService("nri.pkg.api.v1alpha1.Plugin", &ttrpc.ServiceDesc{Methods: map[string]ttrpc.Method{
		"Configure": func(_ context.Context, unmarshal func(any) error) (any, error) {
			defer close(configured)
			if err := unmarshal(&api.ConfigureRequest{}); err != nil {
				return nil, err
			}
			return nil, errors.New("a benchmark")
		},
	}})
	go func() { _ = server.Serve(ctx, listener) }()
	rconn, err := mux.Open(multiplex.RuntimeServiceConn)
	if err != nil {
		return err
	}
	left := make(chan struct{})
	client := ttrpc.NewClient(rconn, ttrpc.WithOnClose(func() { close(left) }))
	defer client.Close()
	mux.Unblock()
	if _, err := api.NewRuntimeClient(client).RegisterPlugin(ctx, &api.RegisterPluginRequest{PluginName: "bare", PluginIdx: "98"}); err != nil && !errors.Is(err, ttrpc.ErrClosed) {
		return err
	}
	<-configured
	<-left
	return nil
}
