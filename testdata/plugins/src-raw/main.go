// The plugin serves the protocol itself instead of using the stub.
package main

import (
	"context"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
)

type service struct{}

func (service) Configure(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) {
	var mask api.EventMask
	mask.Set(api.Event_CREATE_CONTAINER, api.Event_RUN_POD_SANDBOX)
	return &api.ConfigureResponse{Events: int32(mask)}, nil
}

func (service) Synchronize(context.Context, *api.SynchronizeRequest) (*api.SynchronizeResponse, error) {
	return &api.SynchronizeResponse{}, nil
}

func (service) Shutdown(context.Context, *api.Empty) (*api.Empty, error) { return &api.Empty{}, nil }

func (service) CreateContainer(_ context.Context, req *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
	adjust := &api.ContainerAdjustment{}
	adjust.AddRlimit("RLIMIT_NOFILE", req.Container.Rlimits[0].Hard, 1024)
	return &api.CreateContainerResponse{Adjust: adjust}, nil
}

func (service) UpdateContainer(_ context.Context, req *api.UpdateContainerRequest) (*api.UpdateContainerResponse, error) {
	_ = req.LinuxResources.Unified["memory.high"]
	return &api.UpdateContainerResponse{}, nil
}

func (service) StopContainer(context.Context, *api.StopContainerRequest) (*api.StopContainerResponse, error) {
	return &api.StopContainerResponse{}, nil
}

func (service) StateChange(_ context.Context, e *api.StateChangeEvent) (*api.Empty, error) {
	log.Print(e)
	return &api.Empty{}, nil
}

func main() {
	server, err := ttrpc.NewServer()
	if err != nil {
		log.Fatal(err)
	}
	api.RegisterPluginService(server, service{})
}
