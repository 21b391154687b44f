// The plugin uses the API in the ways that are hard to tell apart.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"example.com/src-uses/helper"
)

type plugin struct {
	stub    stub.Stub
	limiter limiter
	dropped string
}

// limiter is implemented by two types, one of whose methods nobody calls.
type limiter interface {
	limit(*api.ContainerUpdate)
	never(*api.ContainerUpdate)
}

type pids struct{ max int64 }

func (p pids) limit(u *api.ContainerUpdate) { u.SetLinuxPidLimits(p.max) }
func (p pids) never(u *api.ContainerUpdate) { u.AddLinuxUnified("pids.max", "max") }

// class is a generic type that is used through an interface.
type class[T ~string] struct{ name T }

func (c class[T]) assign(a *api.ContainerAdjustment) { a.SetLinuxBlockIOClass(string(c.name)) }

type assigner interface {
	assign(*api.ContainerAdjustment)
}

func (p *plugin) Synchronize(_ context.Context, _ []*api.PodSandbox, ctrs []*api.Container) ([]*api.ContainerUpdate, error) {
	var updates []*api.ContainerUpdate
	for _, c := range ctrs {
		u := &api.ContainerUpdate{ContainerId: c.Id}
		p.limiter.limit(u)
		updates = append(updates, u)
	}
	return updates, nil
}

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{}
	// Written through variables and parameters.
	linux := &api.LinuxContainerAdjustment{Resources: &api.LinuxResources{}}
	adjust.Linux = linux
	res := linux.Resources
	res.Memory = &api.LinuxMemory{Limit: api.Int64(1 << 30)}
	setShares(res, 512)
	// Read through variables and getters.
	if in := c.GetLinux().GetResources(); in.GetCpu().GetCpus() != "" {
		helper.Pin(adjust, in)
	}
	// Markers for removal that the plugin writes itself.
	dropped := api.MarkForRemoval(p.dropped)
	adjust.Env = append(adjust.Env, &api.KeyValue{Key: dropped})
	adjust.Annotations = map[string]string{"-old.example.com": ""}
	for _, m := range c.Mounts {
		adjust.Mounts = append(adjust.Mounts, &api.Mount{Destination: "-" + m.Destination})
	}
	var a assigner = class[string]{"fast"}
	a.assign(adjust)
	log.Printf("pod %v", pod)
	return adjust, nil, nil
}

func (p *plugin) UpdateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container, want *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	if want.GetMemory().GetSwap().GetValue() > 0 {
		p.push(c.Id)
	}
	go p.later(c.Id)
	return nil, nil
}

// push asks for an update before the handler has returned.
func (p *plugin) push(id string) {
	u := &api.ContainerUpdate{}
	u.SetContainerId(id)
	u.Linux = &api.LinuxContainerUpdate{Resources: &api.LinuxResources{
		Cpu: &api.LinuxCPU{Quota: api.Int64(1000)},
	}}
	if _, err := p.stub.UpdateContainers([]*api.ContainerUpdate{u}); err != nil {
		log.Print(err)
	}
}

// later is only started on its own.
func (p *plugin) later(id string) {
	u := &api.ContainerUpdate{ContainerId: id, IgnoreFailure: true}
	_, _ = p.stub.UpdateContainers([]*api.ContainerUpdate{u})
}

// StopPodSandbox has a signature that the stub does not look for.
func (p *plugin) StopPodSandbox(pod *api.PodSandbox) error { return nil }

func setShares(r *api.LinuxResources, n uint64) {
	if r.Cpu == nil {
		r.Cpu = &api.LinuxCPU{}
	}
	r.Cpu.Shares = api.UInt64(n)
}

// unused is linked, but nobody calls it.
func unused(adjust *api.ContainerAdjustment) {
	adjust.SetArgs([]string{"true"})
}

func start(p any) error {
	s, err := stub.New(p)
	if err != nil {
		return fmt.Errorf("stub: %w", err)
	}
	return s.Run(context.Background())
}

func main() {
	p := &plugin{limiter: pids{max: 100}}
	if err := start(p); err != nil {
		log.Fatal(err)
	}
}
