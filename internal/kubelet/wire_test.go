package kubelet

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// shortDir makes a directory whose path is short enough for unix sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kub")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serveWire serves on a socket until the test ends.
func serveWire(t *testing.T, register func(*grpc.Server)) string {
	t.Helper()
	socket := filepath.Join(shortDir(t), "kubelet.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return socket
}

// answers is a pod resources service that answers as that of some release does.
type answers struct {
	podresources.UnimplementedPodResourcesListerServer
	get, allocatable error
}

func (l answers) Get(context.Context, *podresources.GetPodResourcesRequest) (*podresources.GetPodResourcesResponse, error) {
	return &podresources.GetPodResourcesResponse{}, l.get
}

func (l answers) GetAllocatableResources(context.Context, *podresources.AllocatableResourcesRequest) (*podresources.AllocatableResourcesResponse, error) {
	return &podresources.AllocatableResourcesResponse{}, l.allocatable
}

// serviceWith leaves the methods of a service that a release has.
func serviceWith(methods ...string) grpc.ServiceDesc {
	d := podresources.PodResourcesLister_ServiceDesc
	d.Methods = slices.DeleteFunc(slices.Clone(d.Methods), func(m grpc.MethodDesc) bool { return !slices.Contains(methods, m.MethodName) })
	return d
}

func TestAskPodResources(t *testing.T) {
	v120, v121, v127 := serviceWith("List"), serviceWith("List", "GetAllocatableResources"), serviceWith("List", "GetAllocatableResources", "Get")
	off := errors.New("PodResources API Get method disabled")
	none := errors.New("pod  in namespace  not found")
	for _, test := range []struct {
		name    string
		service *grpc.ServiceDesc // nil for a kubelet without version v1
		answers answers
		want    PodResources
	}{
		{"1.19", nil, answers{}, PodResources{Get: Absent, Allocatable: Absent}},
		{"1.20", &v120, answers{}, PodResources{Get: Absent, Allocatable: Absent}},
		{"1.21", &v121, answers{allocatable: errors.New("Pod Resources API GetAllocatableResources disabled")}, PodResources{Get: Absent, Allocatable: Off}},
		{"1.23", &v121, answers{}, PodResources{Get: Absent, Allocatable: On}},
		{"1.27", &v127, answers{get: off}, PodResources{Get: Off, Allocatable: On}},
		{"1.34", &v127, answers{get: none}, PodResources{Get: On, Allocatable: On}},
		{"a pod without a name", &v127, answers{}, PodResources{Get: On, Allocatable: On}},
		{"too many calls", &v127, answers{get: status.Error(codes.ResourceExhausted, "rejected by rate limit")},
			PodResources{Get: Undecided, Allocatable: On, Problem: "the pod resources service answered Get with: rejected by rate limit"}},
		{"long", &v127, answers{get: errors.New(strings.Repeat("x", 1000))},
			PodResources{Get: Undecided, Allocatable: On, Problem: "the pod resources service answered Get with: " + strings.Repeat("x", 300) + "…"}},
		{"cut within a letter", &v127, answers{get: errors.New("x" + strings.Repeat("é", 500))},
			PodResources{Get: Undecided, Allocatable: On, Problem: "the pod resources service answered Get with: x" + strings.Repeat("é", 149) + "…"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			socket := serveWire(t, func(s *grpc.Server) {
				if test.service != nil {
					s.RegisterService(test.service, test.answers)
				}
			})
			got, err := AskPodResources(t.Context(), socket)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// refusing refuses registrations as some release does.
type refusing struct {
	deviceplugin.UnimplementedRegistrationServer
	answer error
	asked  chan *deviceplugin.RegisterRequest
}

func (r refusing) Register(_ context.Context, request *deviceplugin.RegisterRequest) (*deviceplugin.Empty, error) {
	r.asked <- request
	return &deviceplugin.Empty{}, r.answer
}

func TestProbeRegistration(t *testing.T) {
	const refused = `requested API version "nri-compat-probe" is not supported by kubelet. `
	for _, test := range []struct {
		name   string
		answer error
		want   []string
		says   string
	}{
		{"1.34", errors.New(refused + `Supported version is ["v1beta1"]`), []string{"v1beta1"}, ""},
		{"1.10", errors.New(refused + `Supported versions are [v1beta1]`), []string{"v1beta1"}, ""},
		{"two versions", errors.New(refused + `Supported version is ["v1beta1" "v1"]`), []string{"v1beta1", "v1"}, ""},
		{"no version", errors.New(refused + `Supported version is []`), nil, "the kubelet answered: requested"},
		{"another refusal", errors.New("not today\n" + strings.Repeat("x", 1000)), nil, "the kubelet answered: not today"},
		{"accepted", nil, nil, "accepted a version that does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := make(chan *deviceplugin.RegisterRequest, 1)
			socket := serveWire(t, func(s *grpc.Server) {
				deviceplugin.RegisterRegistrationServer(s, refusing{answer: test.answer, asked: asked})
			})
			got, err := ProbeRegistration(t.Context(), socket)
			if d := cmp.Diff(test.want, got.Versions); d != "" {
				t.Error(d)
			}
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if r := <-asked; r.ResourceName != "" || r.Endpoint != "" || r.Options != nil || r.Version == deviceplugin.Version {
				t.Errorf("asked with %v", r)
			}
		})
	}
}

// TestNoKubelet: what is no kubelet is an error or nothing, and never waited for
// without end.
func TestNoKubelet(t *testing.T) {
	dir := shortDir(t)
	listen := func(name string, serve func(net.Conn)) string {
		socket := filepath.Join(dir, name)
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if serve == nil {
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.Close()
			return socket
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() { defer conn.Close(); serve(conn) }()
			}
		}()
		return socket
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, socket           string
		resources, registering string // what the errors say
	}{
		{"no socket", filepath.Join(dir, "none"), "", "no such file"},
		{"a file", file, "is no socket", "is no socket"},
		{"left behind", listen("left", nil), "", "connection refused"},
		{"closes", listen("closes", func(net.Conn) {}), "no kubelet answers", "no kubelet answers"},
		{"talks", listen("talks", func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n") }), "no kubelet answers", "no kubelet answers"},
		{"is silent", listen("silent", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "did not answer in time", "did not answer in time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := AskPodResources(t.Context(), test.socket)
			if got != nil || (err == nil) != (test.resources == "") || err != nil && !strings.Contains(err.Error(), test.resources) {
				t.Errorf("pod resources: %+v, %v", got, err)
			}
			if _, err := ProbeRegistration(t.Context(), test.socket); err == nil || !strings.Contains(err.Error(), test.registering) {
				t.Errorf("registration: %v", err)
			}
		})
	}
}

// FuzzSupportedVersions: only words without space or quote are versions, and only
// of an answer that names the version that was asked for.
func FuzzSupportedVersions(f *testing.F) {
	f.Add(`requested API version "nri-compat-probe" is not supported by kubelet. Supported version is ["v1beta1"]`)
	f.Add(`requested API version "nri-compat-probe" is not supported by kubelet. Supported versions are [v1alpha1 v1beta1]`)
	f.Fuzz(func(t *testing.T, answer string) {
		for _, v := range supportedVersions(answer) {
			if v == "" || strings.ContainsAny(v, " \"\n\x1b[]") || !strings.Contains(answer, UnsupportedVersion) {
				t.Fatalf("%q from %q", v, answer)
			}
		}
	})
}
