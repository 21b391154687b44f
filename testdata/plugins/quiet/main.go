// Quiet is a plugin for NRI v0.12.5 that needs nothing but the call of one
// handler, although the program has code that would change containers.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{ w worker }

// worker is implemented by idle and by busy; the plugin only ever calls Name.
type worker interface {
	Name() string
	Work(*api.ContainerAdjustment)
}

type idle struct{}

func (*idle) Name() string                  { return "idle" }
func (*idle) Work(*api.ContainerAdjustment) {}

type busy struct{ n int64 }

func (*busy) Name() string { return "busy" }

// Work is never called.
func (b *busy) Work(a *api.ContainerAdjustment) {
	a.SetLinuxPidLimits(b.n)
}

// unused is dropped by the linker: nobody calls it.
func unused(a *api.ContainerAdjustment) { a.AddLinuxUnified("memory.high", "1") }

// argsSetter is an interface that only an API type implements; nobody calls
// its method.
type argsSetter interface{ SetArgs([]string) }

var setter argsSetter = &api.ContainerAdjustment{}

func (p *plugin) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	println(setter != nil, p.w.Name(), pod.Name, pod.Namespace, len(pod.Labels))
	return nil
}

func main() {
	p := &plugin{w: &idle{}}
	if len(os.Args) > 1 {
		p.w = &busy{n: int64(len(os.Args))}
	}
	s, err := stub.New(p)
	if err != nil {
		os.Exit(1)
	}
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
