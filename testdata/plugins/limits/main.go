// Limits is a plugin for NRI v0.6.1 that sets rlimits, CPU shares and memory
// through a helper package, and updates containers on its own account.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"example.com/limits/tune"
)

type plugin struct {
	stub  stub.Stub
	tuner *tune.Tuner
}

func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	var updates []*api.ContainerUpdate
	for _, c := range containers {
		updates = append(updates, p.tuner.Update(c))
	}
	return updates, nil
}

func (p *plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{}
	p.tuner.Adjust(adjust, c)
	return adjust, nil, nil
}

func (p *plugin) StartContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	go p.later(c)
	return nil
}

func (p *plugin) later(c *api.Container) {
	if _, err := p.stub.UpdateContainers([]*api.ContainerUpdate{p.tuner.Update(c)}); err != nil {
		os.Exit(2)
	}
}

func main() {
	p := &plugin{tuner: &tune.Tuner{}}
	var err error
	if p.stub, err = stub.New(p); err != nil {
		os.Exit(1)
	}
	if err := p.stub.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
