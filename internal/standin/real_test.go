//go:build e2e

package standin

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/testruntime"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// TestLikeAKubelet: a stand-in for 1.34 answers a registration as the device
// manager of 1.34.1 does, and calls the plugin in the same order, with the same
// devices.
func TestLikeAKubelet(t *testing.T) {
	binary := testruntime.BuildKubelet(t, "v1.34.1")
	options := func(o *v1beta1.DevicePluginOptions) func() (*v1beta1.DevicePluginOptions, error) {
		return func() (*v1beta1.DevicePluginOptions, error) { return o, nil }
	}
	for _, test := range []struct {
		name   string
		change func(*fake)
	}{
		{"plain", func(*fake) {}},
		{"all options", func(f *fake) { f.told, f.options = all(), options(all()) }},
		{"options by the call only", func(f *fake) { f.options = options(all()) }},
		{"options in the registration only", func(f *fake) { f.told = all() }},
		{"no preference", func(f *fake) {
			f.options = options(&v1beta1.DevicePluginOptions{GetPreferredAllocationAvailable: true})
			f.prefer = func(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
				return &v1beta1.PreferredAllocationResponse{}, nil
			}
		}},
		{"no GetDevicePluginOptions", func(f *fake) { f.options = nil }},
		{"options that fail", func(f *fake) {
			f.options = func() (*v1beta1.DevicePluginOptions, error) { return nil, errors.New("not yet") }
		}},
		{"another version", func(f *fake) { f.version = "v1beta2" }},
		{"no resource", func(f *fake) { f.resource = "" }},
		{"a resource of Kubernetes", func(f *fake) { f.resource = "kubernetes.io/gpu" }},
		{"a resource in capitals", func(f *fake) { f.resource = "Example.com/gpu" }},
		{"a resource of quotas", func(f *fake) { f.resource = "requests.example.com/gpu" }},
		{"another socket", func(f *fake) { f.endpoint = "other.sock" }},
		{"a path as socket", func(f *fake) { f.endpoint = "x/../gpu.sock" }},
		{"devices that come later", func(f *fake) { f.before = [][]*v1beta1.Device{nil} }},
		{"an allocation that fails", func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) { return nil, errors.New("full") }
		}},
		{"an allocation of nothing", func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
				return &v1beta1.AllocateResponse{}, nil
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			plugin := func() *fake {
				f := good()
				f.devices = append(f.devices, &v1beta1.Device{ID: "c", Health: v1beta1.Unhealthy})
				f.prefer = func(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
					return &v1beta1.PreferredAllocationResponse{ContainerResponses: []*v1beta1.ContainerPreferredAllocationResponse{{DeviceIDs: []string{"a"}}}}, nil
				}
				f.start = func() error { return nil }
				test.change(f)
				return f
			}

			k := testruntime.StartKubelet(t, binary)
			real := plugin()
			dir := filepath.Dir(k.Registration)
			real.serve(t, filepath.Join(dir, "gpu.sock"))
			realErr := real.register(t, dir)
			if realErr == nil {
				_ = k.Allocate(t, real.resource) // the calls show how far it came
			}

			s, err := Listen(Options{Dir: shortDir(t), Behaviour: v130})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			played := plugin()
			played.serve(t, filepath.Join(s.o.Dir, "gpu.sock"))
			playedErr := played.register(t, s.o.Dir)
			see(t, s)

			if a, b := status.Convert(playedErr).Message(), status.Convert(realErr).Message(); a != b {
				t.Errorf("the stand-in answers %q, the kubelet %q", a, b)
			}
			if a, b := strings.Join(played.calls, ", "), strings.Join(real.calls, ", "); a != b {
				t.Errorf("the stand-in calls %s, the kubelet %s", a, b)
			}
			if played.authority != real.authority {
				t.Errorf("authority %q, of the kubelet %q", played.authority, real.authority)
			}
		})
	}
}
