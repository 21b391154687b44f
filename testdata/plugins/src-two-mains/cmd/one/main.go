// Command one is one of two plugins of a module.
package main

import (
	"context"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"example.com/src-two-mains/shared"
)

type plugin struct{}

func (p *plugin) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	log.Print(shared.Namespaces(pod))
	return nil
}

func main() {
	s, err := stub.New(&plugin{})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(s.Run(context.Background()))
}
