// Oldschool is a plugin for NRI v0.3.0, whose handlers have no context.
package main

import (
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"context"
)

type plugin struct{ stub stub.Stub }

func (p *plugin) Configure(config, runtime, version string) (api.EventMask, error) {
	return 0, nil
}

func (p *plugin) RunPodSandbox(pod *api.PodSandbox) error {
	fmt.Println(pod.Name, pod.Pid)
	return nil
}

func (p *plugin) CreateContainer(pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{}
	adjust.AddEnv("POD", pod.Name)
	adjust.AddAnnotation("seen", "yes")
	return adjust, nil, nil
}

func (p *plugin) UpdateContainer(pod *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	fmt.Println(c.GetHooks() == nil)
	return nil, nil
}

// StopContainer has the signature of later releases; this stub ignores it.
func (p *plugin) StopContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	return nil, nil
}

func (p *plugin) Shutdown(*api.ShutdownRequest) {}

func main() {
	p := &plugin{}
	s, err := stub.New(p, stub.WithPluginName("oldschool"), stub.WithPluginIdx("10"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p.stub = s
	if err := s.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}
