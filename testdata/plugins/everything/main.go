// Everything is a plugin for NRI v0.12.5 that uses as much of the API as it can,
// each in one of the ways it can be used.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{ stub stub.Stub }

func (p *plugin) Configure(_ context.Context, config, runtime, version string) (api.EventMask, error) {
	fmt.Println(p.stub.RuntimeNRIVersion())
	return 0, nil
}

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	a := &api.ContainerAdjustment{}
	methods(a, c)
	fields(a)
	return a, nil, nil
}

//go:noinline
func methods(a *api.ContainerAdjustment, c *api.Container) {
	a.RemoveAnnotation("gone")
	a.RemoveMount("/gone")
	a.SetArgs([]string{"/bin/true"})
	a.SetLinuxBlockIOClass("slow")
	a.SetLinuxCgroupsPath("/mine")
	a.SetLinuxScheduler(&api.LinuxScheduler{Nice: 5})
	a.SetLinuxRDTClosID("gold")
	a.AddOrReplaceNamespace(&api.LinuxNamespace{Type: "uts"})
	set := a.SetLinuxSysctl // a method value
	set("net.ipv4.ip_forward", "1")
	var l limiter = a
	l.AddLinuxHugepageLimit("2MB", 1)
}

// limiter is an interface of the plugin's own that the API type implements.
type limiter interface {
	AddLinuxHugepageLimit(pageSize string, value uint64)
}

//go:noinline
func fields(a *api.ContainerAdjustment) {
	a.Annotations = map[string]string{"key": "value"}
	a.Env = append(a.Env, &api.KeyValue{Key: "K", Value: "V"})
	a.Linux = &api.LinuxContainerAdjustment{
		IoPriority:    &api.LinuxIOPriority{Priority: 3},
		MemoryPolicy:  &api.LinuxMemoryPolicy{Nodes: "0"},
		NetDevices:    map[string]*api.LinuxNetDevice{"eth1": {Name: "eth0"}},
		SeccompPolicy: &api.LinuxSeccomp{DefaultErrno: api.UInt32(uint32(1))},
	}
}

func (p *plugin) StopContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	fmt.Println(c.Linux.Sysctl, c.Linux.GetScheduler(), c.Linux.NetDevices, c.GetUser().GetUid(), c.Image)
	fmt.Println(c.CDIDevices, c.Linux.Devices, c.Linux.Namespaces, c.Linux.Rdt, c.Linux.OomScoreAdj)
	fmt.Println(c.Linux.SeccompProfile, c.Linux.GetSeccompPolicy(), c.CreatedAt, c.Env, c.Mounts)
	return nil, nil
}

func (p *plugin) PostUpdatePodSandbox(context.Context, *api.PodSandbox) error { return nil }

func main() {
	p := &plugin{}
	s, err := stub.New(p, stub.WithFailurePolicy(&api.FailurePolicy{KeepConnected: true}))
	if err != nil {
		os.Exit(1)
	}
	p.stub = s
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
