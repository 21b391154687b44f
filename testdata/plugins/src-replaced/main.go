// The plugin is built against another NRI than the one it requires.
package main

import (
	"context"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (plugin) StopPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func main() {
	s, err := stub.New(plugin{})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(s.Run(context.Background()))
}
