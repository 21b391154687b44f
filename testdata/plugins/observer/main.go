// Observer is a plugin for NRI v0.10.0 that changes nothing: it reads what it is
// given, by fields and by accessors, and validates what others do.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// info is the plugin's own view of a container.
type info struct {
	container *api.Container
	pod       *api.PodSandbox
}

type plugin struct {
	seen map[string]*info
}

func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	for _, pod := range pods {
		fmt.Println(pod.Uid, pod.GetRuntimeHandler())
	}
	for _, c := range containers {
		p.seen[c.Id] = &info{container: c}
	}
	return nil, nil
}

func (p *plugin) UpdatePodSandbox(_ context.Context, pod *api.PodSandbox, overhead, resources *api.LinuxResources) error {
	fmt.Println(overhead.GetCpu().GetShares(), pod.Linux.CgroupParent)
	return nil
}

func (p *plugin) UpdateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container, r *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	if r.Memory != nil {
		fmt.Println(r.Memory.Swap)
	}
	p.report(&info{c, pod})
	return nil, nil
}

//go:noinline
func (p *plugin) report(i *info) {
	fmt.Println(i.container.Args, i.container.ExitCode, i.pod.Linux.GetNamespaces())
	if l := i.container.Linux; l != nil {
		fmt.Println(l.CgroupsPath, l.Resources.GetMemory().GetLimit().GetValue(), l.GetIoPriority())
	}
}

func (p *plugin) RemoveContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	if i, ok := p.seen[c.Id]; ok {
		fmt.Println(i.container.Pid, i.container.State)
	}
	return nil
}

func (p *plugin) ValidateContainerAdjustment(_ context.Context, req *api.ValidateContainerAdjustmentRequest) error {
	if len(req.Adjust.Mounts) > 0 {
		return errors.New("no mounts")
	}
	if owner, ok := req.Owners.HooksOwner(req.Container.Id); ok {
		return fmt.Errorf("no hooks, %s", owner)
	}
	return nil
}

// register hands on a plugin of any type.
//
//go:noinline
func register(p any) (stub.Stub, error) { return stub.New(p) }

func main() {
	s, err := register(&plugin{seen: map[string]*info{}})
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(s.RequestTimeout())
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
