// A device plugin that hands out a device node and nothing else. It serves,
// waits until it can be reached, and registers with its options.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const endpoint = "plain.sock"

type plain struct{}

func (plain) GetDevicePluginOptions(context.Context, *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	return &v1beta1.DevicePluginOptions{}, nil
}

func (plain) ListAndWatch(_ *v1beta1.Empty, s v1beta1.DevicePlugin_ListAndWatchServer) error {
	if err := s.Send(&v1beta1.ListAndWatchResponse{Devices: []*v1beta1.Device{{ID: "0", Health: v1beta1.Healthy}}}); err != nil {
		return err
	}
	<-s.Context().Done()
	return nil
}

func (plain) Allocate(_ context.Context, r *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	out := &v1beta1.AllocateResponse{}
	for range r.ContainerRequests {
		out.ContainerResponses = append(out.ContainerResponses, &v1beta1.ContainerAllocateResponse{
			Devices: []*v1beta1.DeviceSpec{{ContainerPath: "/dev/null0", HostPath: "/dev/null", Permissions: "rw"}},
		})
	}
	return out, nil
}

func (plain) GetPreferredAllocation(context.Context, *v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
	return &v1beta1.PreferredAllocationResponse{}, nil
}

func (plain) PreStartContainer(context.Context, *v1beta1.PreStartContainerRequest) (*v1beta1.PreStartContainerResponse, error) {
	return &v1beta1.PreStartContainerResponse{}, nil
}

func main() {
	socket := path.Join(v1beta1.DevicePluginPath, endpoint)
	_ = os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	v1beta1.RegisterDevicePluginServer(s, plain{})
	go func() { log.Fatal(s.Serve(l)) }()
	if err := register(); err != nil {
		log.Fatal(err)
	}
	select {}
}

func register() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := grpc.DialContext(ctx, "unix://"+v1beta1.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithBlock())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = v1beta1.NewRegistrationClient(conn).Register(ctx, &v1beta1.RegisterRequest{
		Version: v1beta1.Version, Endpoint: endpoint, ResourceName: "example.com/plain", Options: &v1beta1.DevicePluginOptions{},
	})
	return err
}
