// A device plugin that does wrong what its first argument says. It logs with
// klog.
package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

var (
	fault   string
	givesUp = make(chan struct{})
	servers []*grpc.Server
)

type server struct {
	v1beta1.UnimplementedDevicePluginServer
}

func (s server) GetDevicePluginOptions(c context.Context, e *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	if fault == "no-options" {
		return s.UnimplementedDevicePluginServer.GetDevicePluginOptions(c, e)
	}
	return options(), nil
}

func options() *v1beta1.DevicePluginOptions {
	return &v1beta1.DevicePluginOptions{
		GetPreferredAllocationAvailable: fault == "prefers-none" || fault == "prefers-another",
		PreStartRequired:                fault == "prestart-fails",
	}
}

func (server) ListAndWatch(_ *v1beta1.Empty, s v1beta1.DevicePlugin_ListAndWatchServer) error {
	devices := []*v1beta1.Device{{ID: "0", Health: v1beta1.Healthy}, {ID: "1", Health: v1beta1.Unhealthy}}
	switch fault {
	case "no-device":
		devices = nil
	case "sick":
		devices = devices[1:]
	case "lists-nothing":
		<-s.Context().Done()
		return nil
	case "list-ends":
		return nil
	case "list-fails":
		return errors.New("the driver is not loaded")
	case "same-device":
		devices[1].ID = "0"
	}
	for {
		if err := s.Send(&v1beta1.ListAndWatchResponse{Devices: devices}); err != nil || fault != "floods" {
			break
		}
	}
	if fault == "list-ends-later" {
		return nil
	}
	select {
	case <-s.Context().Done():
	case <-givesUp:
	}
	return nil
}

func (server) GetPreferredAllocation(context.Context, *v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
	if fault == "prefers-none" {
		return &v1beta1.PreferredAllocationResponse{}, nil
	}
	return &v1beta1.PreferredAllocationResponse{ContainerResponses: []*v1beta1.ContainerPreferredAllocationResponse{{DeviceIDs: []string{"7"}}}}, nil
}

func (server) Allocate(_ context.Context, r *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	switch fault {
	case "crashes":
		var devices map[string]string
		devices[r.ContainerRequests[0].DevicesIds[0]] = "taken"
	case "fatal":
		klog.ErrorS(errors.New("no such device"), "Cannot open the device", "device", r.ContainerRequests[0].DevicesIds[0])
		klog.Fatalf("giving up")
	case "allocate-fails":
		return nil, errors.New("no memory on the device")
	case "allocate-hangs":
		select {}
	case "stops-serving": // a moment later, so that the answer arrives
		time.AfterFunc(100*time.Millisecond, servers[0].Stop)
	case "allocates-nothing":
		return &v1beta1.AllocateResponse{}, nil
	}
	return &v1beta1.AllocateResponse{ContainerResponses: []*v1beta1.ContainerAllocateResponse{{Envs: map[string]string{"DEVICE": "0"}}}}, nil
}

func (server) PreStartContainer(context.Context, *v1beta1.PreStartContainerRequest) (*v1beta1.PreStartContainerResponse, error) {
	return nil, errors.New("the device does not reset")
}

func main() {
	if len(os.Args) > 1 {
		fault = os.Args[1]
	}
	switch fault {
	case "never-registers":
		klog.Info("Waiting for a device")
		time.Sleep(time.Hour)
	case "exits":
		klog.Exit("no device found: the driver is not loaded")
	case "forks":
		start("sleep", "1000")
	case "daemonizes":
		start(os.Args[0], "stubborn")
		return
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	serve("misbehaves.sock")
	for range map[string]int{"registers-twice": 2, "registers-always": 1000}[fault] + 1 {
		register("misbehaves.sock")
	}
	switch fault {
	case "two-instances":
		serve("second.sock")
		register("second.sock")
	case "stops-serving":
		time.Sleep(time.Hour)
	case "gives-up": // in good order
		close(givesUp)
		servers[0].GracefulStop()
		klog.Exit("no work for it")
	case "signals":
		_ = syscall.Kill(1, syscall.SIGTERM)
	}
	if fault == "comes-back" || fault == "leaves" {
		watchSocket("misbehaves.sock")
	}
	select {}
}

// watchSocket waits until the socket is gone, as it is after a restart of the
// kubelet, and then ends, or serves and registers again.
func watchSocket(endpoint string) {
	for range time.Tick(50 * time.Millisecond) {
		if _, err := os.Stat(path.Join(v1beta1.DevicePluginPath, endpoint)); err == nil {
			continue
		}
		if fault == "leaves" {
			klog.Exit("the kubelet has restarted")
		}
		if _, err := os.Stat(v1beta1.KubeletSocket); err == nil {
			serve(endpoint)
			register(endpoint)
		}
	}
}

// start leaves a process behind.
func start(name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		klog.Fatal(err)
	}
}

func serve(endpoint string) {
	l, err := net.Listen("unix", path.Join(v1beta1.DevicePluginPath, endpoint))
	if err != nil {
		klog.Fatal(err)
	}
	s := grpc.NewServer()
	v1beta1.RegisterDevicePluginServer(s, server{})
	servers = append(servers, s)
	go func() {
		if err := s.Serve(l); err != nil {
			klog.Fatal(err)
		}
	}()
}

func register(endpoint string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+v1beta1.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		klog.Fatal(err)
	}
	defer conn.Close()
	r := &v1beta1.RegisterRequest{Version: v1beta1.Version, Endpoint: endpoint, ResourceName: "example.com/misbehaves", Options: options()}
	switch fault {
	case "bad-version":
		r.Version = "v1alpha1"
	case "bad-resource":
		r.ResourceName = "kubernetes.io/gpu"
	case "bad-endpoint":
		r.Endpoint = path.Join(v1beta1.DevicePluginPath, endpoint)
	}
	if _, err := v1beta1.NewRegistrationClient(conn).Register(ctx, r); err != nil {
		klog.ErrorS(err, "Could not register", "resource", r.ResourceName)
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}
