package standin

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// fake is a device plugin in this process. A nil function is not implemented.
type fake struct {
	v1beta1.UnimplementedDevicePluginServer
	registration.UnimplementedRegistrationServer
	resource, endpoint, version string
	told                        *v1beta1.DevicePluginOptions
	options                     func() (*v1beta1.DevicePluginOptions, error)
	devices                     []*v1beta1.Device
	before                      [][]*v1beta1.Device // lists that are sent before that of devices
	listErr                     error
	end                         func() error // the stream of lists, after the last of them
	prefer                      func(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error)
	allocate                    func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error)
	start                       func() error
	info                        *registration.PluginInfo

	mutex     sync.Mutex
	calls     []string
	authority string
	status    *registration.RegistrationStatus
}

func good() *fake {
	return &fake{
		resource: "example.com/gpu", endpoint: "gpu.sock", version: v1beta1.Version,
		options: func() (*v1beta1.DevicePluginOptions, error) { return &v1beta1.DevicePluginOptions{}, nil },
		devices: []*v1beta1.Device{{ID: "a", Health: v1beta1.Healthy}},
		allocate: func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
			return &v1beta1.AllocateResponse{ContainerResponses: []*v1beta1.ContainerAllocateResponse{{Envs: map[string]string{"A": "1"}}}}, nil
		},
	}
}

// called notes a call, and the authority it came with.
func (f *fake) called(ctx context.Context, what string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.calls = append(f.calls, what)
	if md, ok := metadata.FromIncomingContext(ctx); ok && len(md.Get(":authority")) > 0 {
		f.authority = md.Get(":authority")[0]
	}
}

func (f *fake) GetDevicePluginOptions(c context.Context, e *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	f.called(c, "GetDevicePluginOptions")
	if f.options == nil {
		return f.UnimplementedDevicePluginServer.GetDevicePluginOptions(c, e)
	}
	return f.options()
}

func (f *fake) ListAndWatch(_ *v1beta1.Empty, s v1beta1.DevicePlugin_ListAndWatchServer) error {
	f.called(s.Context(), "ListAndWatch")
	if f.listErr != nil {
		return f.listErr
	}
	for _, list := range append(slices.Clone(f.before), f.devices) {
		if err := s.Send(&v1beta1.ListAndWatchResponse{Devices: list}); err != nil {
			return err
		}
	}
	if f.end != nil {
		return f.end()
	}
	<-s.Context().Done()
	return nil
}

func (f *fake) GetPreferredAllocation(c context.Context, r *v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
	f.called(c, "GetPreferredAllocation")
	if f.prefer == nil {
		return f.UnimplementedDevicePluginServer.GetPreferredAllocation(c, r)
	}
	return f.prefer(r)
}

func (f *fake) Allocate(c context.Context, r *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	f.called(c, "Allocate "+r.ContainerRequests[0].DevicesIds[0])
	if f.allocate == nil {
		return f.UnimplementedDevicePluginServer.Allocate(c, r)
	}
	return f.allocate(r)
}

func (f *fake) PreStartContainer(c context.Context, r *v1beta1.PreStartContainerRequest) (*v1beta1.PreStartContainerResponse, error) {
	f.called(c, "PreStartContainer")
	if f.start == nil {
		return f.UnimplementedDevicePluginServer.PreStartContainer(c, r)
	}
	return &v1beta1.PreStartContainerResponse{}, f.start()
}

func (f *fake) GetInfo(ctx context.Context, _ *registration.InfoRequest) (*registration.PluginInfo, error) {
	if f.info.Name == "" {
		<-ctx.Done() // it does not answer
	}
	return f.info, nil
}

func (f *fake) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	f.status = s
	return &registration.RegistrationStatusResponse{}, nil
}

// serve listens at a path in a directory until the test ends.
func (f *fake) serve(t *testing.T, path string) *grpc.Server {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return f.serveAt(t, l)
}

func (f *fake) serveAt(t *testing.T, l net.Listener) *grpc.Server {
	t.Helper()
	s := grpc.NewServer()
	v1beta1.RegisterDevicePluginServer(s, f)
	if f.info != nil {
		registration.RegisterRegistrationServer(s, f)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return s
}

// register registers at the kubelet's socket in a directory.
func (f *fake) register(t *testing.T, dir string) error {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+filepath.Join(dir, "kubelet.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = v1beta1.NewRegistrationClient(conn).Register(ctx, &v1beta1.RegisterRequest{
		Version: f.version, Endpoint: f.endpoint, ResourceName: f.resource, Options: f.told,
	})
	return err
}

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// standIn starts a stand-in with short times.
func standIn(t *testing.T, b Behaviour) (*Kubelet, Options) {
	t.Helper()
	o := Options{
		Dir: shortDir(t), Registry: shortDir(t), Behaviour: b,
		DialTimeout: 400 * time.Millisecond, CallTimeout: time.Second, DeviceWait: 200 * time.Millisecond, Settle: 50 * time.Millisecond, RestartWait: 2 * time.Second,
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, o
}

// see waits until the stand-in has seen all, closes it and returns what it saw.
func see(t *testing.T, s *Kubelet) Observation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Wait(ctx, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	o := s.Observation()
	if err := s.Close(); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return o
}
