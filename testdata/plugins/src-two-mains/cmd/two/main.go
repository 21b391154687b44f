// Command two is one of two plugins of a module.
package main

import (
	"context"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"example.com/src-two-mains/shared"
)

type plugin struct{}

func (p *plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, _ *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return shared.OOM(500), nil, nil
}

func main() {
	s, err := stub.New(&plugin{})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(s.Run(context.Background()))
}
