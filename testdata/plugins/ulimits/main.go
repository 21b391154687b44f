// Command ulimits raises a resource limit of the containers that ask for it in
// an annotation.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{}

func (plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, ctr *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{}
	if pod.Annotations["memlock.ulimits.example.com/"+ctr.Name] == "unlimited" {
		adjust.AddRlimit("RLIMIT_MEMLOCK", 1<<40, 1<<40)
	}
	return adjust, nil, nil
}

func main() {
	s, err := stub.New(plugin{}, stub.WithPluginName("ulimits"), stub.WithPluginIdx("20"))
	if err == nil {
		err = s.Run(context.Background())
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
