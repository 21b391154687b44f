// Either is a plugin for NRI v0.10.0 that decides when it starts which of two
// types it hands to the stub.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type starter struct{}

func (*starter) StartContainer(context.Context, *api.PodSandbox, *api.Container) error { return nil }

type stopper struct{}

func (*stopper) StopPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func main() {
	var plugin any = &starter{}
	if len(os.Args) > 1 {
		plugin = &stopper{}
	}
	s, err := stub.New(plugin)
	if err != nil {
		os.Exit(1)
	}
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
