// Resources is a plugin for NRI v0.12.5 in which the same kinds of objects are
// changed in adjustments and in updates, by fields, far from where they are
// hung in.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{ pinned string }

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{Linux: &api.LinuxContainerAdjustment{}}
	adjust.Linux.Resources = &api.LinuxResources{}
	pin(adjust.Linux.Resources, p.pinned)
	adjust.Linux.Resources.Unified = map[string]string{"cpu.idle": "1"}
	adjust.Linux.Resources.Pids = &api.LinuxPids{Limit: int64(len(p.pinned))}
	return adjust, []*api.ContainerUpdate{p.other(c)}, nil
}

// pin is used for adjustments only.
//
//go:noinline
func pin(r *api.LinuxResources, cpus string) {
	r.Cpu = &api.LinuxCPU{}
	r.Cpu.Cpus = cpus
}

// other updates a container with resources that are made in a function of
// their own.
//
//go:noinline
func (p *plugin) other(c *api.Container) *api.ContainerUpdate {
	u := &api.ContainerUpdate{ContainerId: c.Id}
	u.Linux = &api.LinuxContainerUpdate{Resources: bounded(p.pinned)}
	return u
}

//go:noinline
func bounded(mems string) *api.LinuxResources {
	r := &api.LinuxResources{
		Memory:         &api.LinuxMemory{Swap: api.Int64(int64(len(mems)))},
		HugepageLimits: []*api.HugepageLimit{{PageSize: "2MB", Limit: 1}},
		RdtClass:       api.String(mems),
	}
	r.Cpu = &api.LinuxCPU{Mems: mems}
	return r
}

// UpdateContainer passes on what the container had.
func (p *plugin) UpdateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container, r *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	u := &api.ContainerUpdate{Linux: &api.LinuxContainerUpdate{}}
	u.Linux.Resources = r
	return []*api.ContainerUpdate{u}, nil
}

// StopContainer is not asked to return an adjustment, but a value is made all
// the same: on the stack first, then copied.
func (p *plugin) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	last = byValue(p.pinned)
	return nil, nil
}

var last *api.ContainerAdjustment

//go:noinline
func byValue(limit string) *api.ContainerAdjustment {
	a := api.ContainerAdjustment{
		Rlimits: []*api.POSIXRlimit{{Type: limit}},
	}
	return &a
}

func main() {
	s, err := stub.New(&plugin{pinned: os.Getenv("CPUS")})
	if err != nil {
		os.Exit(1)
	}
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
