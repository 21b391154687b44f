// Updates is a plugin for NRI v0.12.5 that updates containers in every way there
// is: in the results of handlers, on its own account from a goroutine, and from
// within a handler, where that can block.
package main

import (
	"context"
	"os"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct {
	stub  stub.Stub
	known map[string]bool
}

// Synchronize returns what a helper gathers.
func (p *plugin) Synchronize(_ context.Context, _ []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	return p.all(containers), nil
}

//go:noinline
func (p *plugin) all(containers []*api.Container) []*api.ContainerUpdate {
	var list []*api.ContainerUpdate
	for _, c := range containers {
		if p.known[c.Id] {
			list = append(list, update(c.Id))
		}
	}
	return list
}

//go:noinline
func update(id string) *api.ContainerUpdate {
	return &api.ContainerUpdate{ContainerId: id}
}

// CreateContainer makes updates, but sends them later and returns none.
func (p *plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	if c.Id == "" {
		return nil, nil, os.ErrInvalid
	}
	list := []*api.ContainerUpdate{update(c.Id)}
	go func() {
		time.Sleep(time.Second)
		p.send(list)
	}()
	return nil, nil, nil
}

// StopContainer returns updates of those that are left.
func (p *plugin) StopContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	if !p.known[c.Id] {
		return nil, nil
	}
	delete(p.known, c.Id)
	var list []*api.ContainerUpdate
	for id := range p.known {
		list = append(list, update(id))
	}
	return list, nil
}

// UpdateContainer returns what never holds anything.
func (p *plugin) UpdateContainer(context.Context, *api.PodSandbox, *api.Container, *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	return nil, nil
}

// PostStartContainer sends updates before it returns.
func (p *plugin) PostStartContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	p.send([]*api.ContainerUpdate{update(c.Id)})
	return nil
}

//go:noinline
func (p *plugin) send(list []*api.ContainerUpdate) {
	if _, err := p.stub.UpdateContainers(list); err != nil {
		os.Exit(2)
	}
}

func main() {
	p := &plugin{known: map[string]bool{}}
	var err error
	if p.stub, err = stub.New(p); err != nil {
		os.Exit(1)
	}
	if err := p.stub.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
