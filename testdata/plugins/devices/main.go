// Devices is a plugin for NRI v0.8.0 that injects devices, CDI devices, mounts
// and hooks, by methods and by writing fields, and logs whole objects.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	a := &api.ContainerAdjustment{}
	a.AddCDIDevice(&api.CDIDevice{Name: "vendor.com/device=all"})
	a.AddMount(&api.Mount{Destination: "/data", Source: "/srv", Type: "bind"})
	a.Hooks = &api.Hooks{Prestart: []*api.Hook{{Path: "/bin/true"}}}
	a.RemoveEnv("SECRET")
	replaceDevice(a, "/dev/null")
	if len(pod.GetIps()) > 0 {
		a.SetLinuxOomScoreAdj(oomScore())
	}
	return a, nil, nil
}

//go:noinline
func replaceDevice(a *api.ContainerAdjustment, path string) {
	a.RemoveDevice(path)
	a.AddDevice(&api.LinuxDevice{Path: path, Type: "c", Major: 1, Minor: 3})
}

func oomScore() *int {
	n := 100
	return &n
}

func (plugin) PostStartContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) error {
	dump(c)
	return nil
}

// RemovePodSandbox lacks the context: the stub ignores it.
func (plugin) RemovePodSandbox(pod *api.PodSandbox) error { return nil }

func (plugin) Shutdown(context.Context) {}

func dump(v any) {
	b, err := json.Marshal(v)
	fmt.Println(string(b), err)
}

func main() {
	s, err := stub.New(&plugin{})
	if err != nil {
		os.Exit(1)
	}
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
