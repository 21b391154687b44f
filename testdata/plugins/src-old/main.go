// The plugin is written against the handlers without a context of NRI v0.3.0.
package main

import (
	"context"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (plugin) CreateContainer(_ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := new(api.ContainerAdjustment)
	for _, d := range c.Linux.Devices {
		adjust.RemoveDevice(d.Path)
	}
	adjust.AddHooks(&api.Hooks{Poststop: []*api.Hook{{Path: "/bin/true"}}})
	return adjust, nil, nil
}

// UpdatePodSandbox came later: this stub does not know it.
func (plugin) UpdatePodSandbox(context.Context, *api.PodSandbox) error { return nil }

func main() {
	s, err := stub.New(plugin{})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(s.Run(context.Background()))
}
