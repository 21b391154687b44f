// Rawservice is a plugin for NRI v0.8.0 that implements the protocol's service
// itself instead of using the stub.
package main

import (
	"context"
	"net"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
)

type service struct{}

func (*service) Configure(_ context.Context, req *api.ConfigureRequest) (*api.ConfigureResponse, error) {
	println(req.RuntimeName, req.RequestTimeout)
	return &api.ConfigureResponse{Events: 1}, nil
}

func (*service) Synchronize(context.Context, *api.SynchronizeRequest) (*api.SynchronizeResponse, error) {
	return &api.SynchronizeResponse{}, nil
}

func (*service) Shutdown(context.Context, *api.Empty) (*api.Empty, error) { return &api.Empty{}, nil }

func (*service) CreateContainer(_ context.Context, req *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
	a := &api.ContainerAdjustment{Rlimits: []*api.POSIXRlimit{{Type: "RLIMIT_CORE"}}}
	println(len(req.Container.Mounts))
	return &api.CreateContainerResponse{Adjust: a}, nil
}

func (*service) UpdateContainer(context.Context, *api.UpdateContainerRequest) (*api.UpdateContainerResponse, error) {
	return &api.UpdateContainerResponse{}, nil
}

func (*service) StopContainer(context.Context, *api.StopContainerRequest) (*api.StopContainerResponse, error) {
	return &api.StopContainerResponse{}, nil
}

func (*service) StateChange(context.Context, *api.StateChangeEvent) (*api.Empty, error) {
	return &api.Empty{}, nil
}

func main() {
	server, err := ttrpc.NewServer()
	if err != nil {
		os.Exit(1)
	}
	api.RegisterPluginService(server, &service{})
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	if err := server.Serve(context.Background(), l); err != nil {
		os.Exit(1)
	}
}
