// The plugin has its own copy of the API and declares what it requires.
package main

import (
	"context"
	"log"
	"os"

	api "example.com/src-own-copy/nriapi"
	"example.com/src-own-copy/nristub"
)

type plugin struct{}

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	a := &api.ContainerAdjustment{}
	if len(pod.GetIps()) > 0 && len(c.Env) > 0 {
		a.AddCDIDevice(&api.CDIDevice{Name: "example.com/nic=0"})
	}
	return a, nil, nil
}

func main() {
	s, err := nristub.New(&plugin{},
		nristub.WithRequiredRuntimeCapabilities(api.Capability_ADJUST_CDI_DEVICES, 0),
		nristub.WithRequiredRuntimeCapabilities(api.Capability(len(os.Args))),
	)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(s.Run(context.Background()))
}
