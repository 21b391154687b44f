// The plugin does not compile.
package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (p *plugin) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return pod.NoSuchMethod()
}

func main() {
	_, _ = stub.New(&plugin{})
}
