package standin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

var (
	curious = Behaviour{Curious: true, ServeFirst: true, RegisterOptions: true, GetOptions: true, Preferred: true, Watcher: true, Authority: true}
	v118    = Behaviour{RegisterOptions: true, Watcher: true}
	v124    = Behaviour{RegisterOptions: true, Preferred: true, Watcher: true}
	v130    = Behaviour{ServeFirst: true, GetOptions: true, Preferred: true, Watcher: true, Authority: true}
)

// all are both options of a plugin.
func all() *v1beta1.DevicePluginOptions {
	return &v1beta1.DevicePluginOptions{PreStartRequired: true, GetPreferredAllocationAvailable: true}
}

// needs are the names of what was used: what is wanted in brackets, alternatives
// with a bar.
func needs(f Findings) string {
	var out []string
	for _, r := range f.Needs.Requirements {
		name := r.Capability.String()
		if r.Level == capability.Wants {
			name = "(" + name + ")"
		}
		if r.OneOf != "" {
			name = "|" + name
		}
		if r.Source != capability.Observed || len(r.Evidence) == 0 {
			name += " without evidence"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// broken are the texts of what is broken.
func broken(f Findings) string {
	var out []string
	for _, b := range f.Broken {
		out = append(out, b.Text)
	}
	return strings.Join(out, "; ")
}

// TestCallsByRelease: a kubelet of each age calls what it calls, with the
// options it knows.
func TestCallsByRelease(t *testing.T) {
	for _, test := range []struct {
		name      string
		behaviour Behaviour
		told      *v1beta1.DevicePluginOptions
		answered  *v1beta1.DevicePluginOptions
		calls     string
	}{
		{"1.18", v118, all(), all(), "ListAndWatch, Allocate a, PreStartContainer"},
		{"1.24", v124, all(), all(), "ListAndWatch, GetPreferredAllocation, Allocate b, PreStartContainer"},
		{"1.24, options by the call only", v124, nil, all(), "ListAndWatch, Allocate a"},
		{"1.30", v130, all(), all(), "GetDevicePluginOptions, ListAndWatch, GetPreferredAllocation, Allocate b, PreStartContainer"},
		{"1.30, options in the registration only", v130, all(), nil, "GetDevicePluginOptions, ListAndWatch, Allocate a"},
		{"curious, options in the registration only", curious, all(), nil, "GetDevicePluginOptions, ListAndWatch, GetPreferredAllocation, Allocate b, PreStartContainer"},
		{"curious, options by the call only", curious, nil, all(), "GetDevicePluginOptions, ListAndWatch, GetPreferredAllocation, Allocate b, PreStartContainer"},
		{"curious, none", curious, nil, nil, "GetDevicePluginOptions, ListAndWatch, Allocate a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, o := standIn(t, test.behaviour)
			f := good()
			f.told = test.told
			f.options = func() (*v1beta1.DevicePluginOptions, error) { return test.answered, nil }
			if test.answered == nil {
				f.options = func() (*v1beta1.DevicePluginOptions, error) { return &v1beta1.DevicePluginOptions{}, nil }
			}
			f.devices = append(f.devices, &v1beta1.Device{ID: "b", Health: v1beta1.Healthy}, &v1beta1.Device{ID: "c", Health: v1beta1.Unhealthy})
			f.prefer = func(r *v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
				if got := r.ContainerRequests[0]; !slices.Equal(got.AvailableDeviceIDs, []string{"a", "b"}) || got.AllocationSize != 1 {
					t.Errorf("offered %v", got)
				}
				return &v1beta1.PreferredAllocationResponse{ContainerResponses: []*v1beta1.ContainerPreferredAllocationResponse{{DeviceIDs: []string{"b"}}}}, nil
			}
			f.start = func() error { return nil }
			f.serve(t, filepath.Join(o.Dir, f.endpoint))
			if err := f.register(t, o.Dir); err != nil {
				t.Fatal(err)
			}
			seen := see(t, s)
			if got := strings.Join(f.calls, ", "); got != test.calls {
				t.Errorf("calls %s, want %s", got, test.calls)
			}
			want := filepath.Join(o.Dir, f.endpoint)
			if test.behaviour.Authority {
				want = "localhost"
			}
			if f.authority != want {
				t.Errorf("authority %q, want %q", f.authority, want)
			}
			r := seen.Registrations[0]
			if len(seen.Registrations) != 1 || r.DeviceCount != 3 || r.Healthy != 2 || r.Allocated == nil || r.Refused != "" || r.Waiting != "" {
				t.Errorf("%+v", seen)
			}
		})
	}
}

// TestFindings: what a plugin does shows as what it needs.
func TestFindings(t *testing.T) {
	options := func(o *v1beta1.DevicePluginOptions, err error) func() (*v1beta1.DevicePluginOptions, error) {
		return func() (*v1beta1.DevicePluginOptions, error) { return o, err }
	}
	allocates := func(c *v1beta1.ContainerAllocateResponse) func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
		return func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
			return &v1beta1.AllocateResponse{ContainerResponses: []*v1beta1.ContainerAllocateResponse{c}}, nil
		}
	}
	cdi := []*v1beta1.CDIDevice{{Name: "example.com/gpu=0"}}
	const api = "DEVICE_PLUGIN_V1BETA1"
	for _, test := range []struct {
		name                       string
		change                     func(*fake)
		needs, broken, gap, warned string // parts of what is found
	}{
		{"nothing special", func(*fake) {}, api, "", "", ""},
		{"CDI", func(f *fake) { f.allocate = allocates(&v1beta1.ContainerAllocateResponse{CdiDevices: cdi}) }, "DEVICE_CDI_DEVICES " + api, "", "", ""},
		{"CDI or a device node", func(f *fake) {
			f.allocate = allocates(&v1beta1.ContainerAllocateResponse{CdiDevices: cdi, Devices: []*v1beta1.DeviceSpec{{HostPath: "/dev/null"}}})
		}, "(DEVICE_CDI_DEVICES) " + api, "", "", ""},
		{"annotations", func(f *fake) {
			f.allocate = allocates(&v1beta1.ContainerAllocateResponse{Annotations: map[string]string{"a": "b"}})
		}, "DEVICE_CONTAINER_ANNOTATIONS " + api, "", "", ""},
		{"topology", func(f *fake) {
			f.devices[0].Topology = &v1beta1.TopologyInfo{Nodes: []*v1beta1.NUMANode{{ID: 1}}}
		}, api + " DEVICE_TOPOLOGY", "", "", ""},
		{"topology without a node", func(f *fake) { f.devices[0].Topology = &v1beta1.TopologyInfo{} }, api, "", "", ""},
		{"topology of the last of many", func(f *fake) {
			for range 100 {
				f.devices = append(f.devices, &v1beta1.Device{ID: strings.Repeat("x", len(f.devices)), Health: v1beta1.Healthy})
			}
			f.devices[100].Topology = &v1beta1.TopologyInfo{Nodes: []*v1beta1.NUMANode{{ID: 1}}}
		}, api + " DEVICE_TOPOLOGY", "", "", ""},
		{"options by the call only", func(f *fake) {
			f.options = options(&v1beta1.DevicePluginOptions{PreStartRequired: true}, nil)
			f.start = func() error { return nil }
		}, "DEVICE_GET_OPTIONS " + api + " DEVICE_PRESTART_CONTAINER", "RegisterRequest does not have all options", "", ""},
		{"options in the registration only", func(f *fake) {
			f.told = &v1beta1.DevicePluginOptions{PreStartRequired: true}
			f.start = func() error { return nil }
		}, api + " DEVICE_PRESTART_CONTAINER DEVICE_REGISTER_OPTIONS", "GetDevicePluginOptions does not return all options", "", ""},
		{"no GetDevicePluginOptions", func(f *fake) { f.options = nil }, api + " DEVICE_WITHOUT_GET_OPTIONS", "it does not implement GetDevicePluginOptions", "", ""},
		{"an option that is not implemented", func(f *fake) { f.told, f.options = all(), options(all(), nil); f.start = func() error { return nil } },
			api + " DEVICE_PREFERRED_ALLOCATION DEVICE_PRESTART_CONTAINER", "announce GetPreferredAllocation, which it does not implement", "", ""},
		{"no device", func(f *fake) { f.devices = nil }, api, "", "no healthy device here", ""},
		{"devices that come later", func(f *fake) {
			f.before = [][]*v1beta1.Device{nil, {{ID: "a", Health: v1beta1.Unhealthy}}}
			f.devices[0].Topology = &v1beta1.TopologyInfo{Nodes: []*v1beta1.NUMANode{{ID: 1}}}
		}, api + " DEVICE_TOPOLOGY", "", "", ""},
		{"a sick device", func(f *fake) { f.devices[0].Health = v1beta1.Unhealthy }, api, "", "no healthy device here", ""},
		{"a list that fails", func(f *fake) { f.listErr = errors.New("no driver") }, api, "", "ListAndWatch of example.com/gpu failed: no driver", ""},
		{"an allocation that fails", func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) { return nil, errors.New("full") }
		}, api, "", "Allocate of example.com/gpu failed: full", ""},
		{"no Allocate", func(f *fake) { f.allocate = nil }, api, "it does not implement Allocate", "so what it hands out is not known", ""},
		{"an allocation of nothing", func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
				return &v1beta1.AllocateResponse{}, nil
			}
		}, api, "Allocate answers for no container", "", ""},
		{"an allocation that hangs", func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) { select {} }
		}, api, "", "Allocate of example.com/gpu failed: no answer within 1s", ""},
		{"a list that ends", func(f *fake) { f.end = func() error { return nil } }, api, "it ends ListAndWatch of example.com/gpu: every kubelet", "", ""},
		{"a list that fails later", func(f *fake) { f.end = func() error { return errors.New("gone") } }, api, "", "failed after a list of devices, from when on kubelets take them for unhealthy: gone", ""},
		{"a device twice", func(f *fake) { f.devices = append(f.devices, f.devices[0]) }, api, "", "", "it lists a device twice"},
		{"another version", func(f *fake) { f.version = "v1" }, api, "every kubelet refuses the registration: requested API version \"v1\"", "was refused", ""},
		{"no extended resource", func(f *fake) { f.resource = "gpu" }, api, "every kubelet refuses the registration: the ResourceName \"gpu\" is invalid", "was refused", ""},
		{"another socket", func(f *fake) { f.endpoint = "/run/gpu.sock" }, api, "it does not serve at the socket \"/run/gpu.sock\"", "could not be called", "is not the name of a socket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, o := standIn(t, curious)
			f := good()
			test.change(f)
			f.serve(t, filepath.Join(o.Dir, "gpu.sock"))
			_ = f.register(t, o.Dir) // some are refused
			found := see(t, s).Findings()
			if got := needs(found); got != test.needs {
				t.Errorf("needs %s, want %s", got, test.needs)
			}
			for _, part := range []struct{ what, got, want string }{
				{"broken", broken(found), test.broken}, {"gaps", strings.Join(found.Needs.Gaps, "; "), test.gap}, {"warnings", strings.Join(found.Warnings, "; "), test.warned},
			} {
				if !strings.Contains(part.got, part.want) || part.want == "" && part.got != "" {
					t.Errorf("%s: %q, want %q", part.what, part.got, part.want)
				}
			}
		})
	}
}

// TestRegistersBeforeItServes: kubelets before 1.25 wait, later ones refuse, and
// a curious stand-in does neither but notes it.
func TestRegistersBeforeItServes(t *testing.T) {
	for _, test := range []struct {
		name            string
		behaviour       Behaviour
		refused, needs  string
		servesAfterward bool
	}{
		{"1.24", v124, "", "DEVICE_PLUGIN_V1BETA1", true},
		{"1.30", v130, "failed to dial device plugin: context deadline exceeded", "DEVICE_PLUGIN_V1BETA1 DEVICE_REGISTER_BEFORE_SERVE", true},
		{"curious", curious, "", "DEVICE_PLUGIN_V1BETA1 DEVICE_REGISTER_BEFORE_SERVE", true},
		{"curious, and it never serves", curious, "", "DEVICE_PLUGIN_V1BETA1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, o := standIn(t, test.behaviour)
			f := good()
			l, err := net.Listen("unix", filepath.Join(o.Dir, f.endpoint))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := f.register(t, o.Dir); (err != nil) != (test.refused != "") {
				t.Errorf("registration: %v", err)
			}
			if test.servesAfterward {
				f.serveAt(t, l)
			}
			seen := see(t, s)
			if got := seen.Registrations[0].Refused; got != test.refused {
				t.Errorf("refused with %q", got)
			}
			if got := needs(seen.Findings()); got != test.needs {
				t.Errorf("needs %s", got)
			}
			if wait := test.refused == "" && test.servesAfterward; wait != (seen.Registrations[0].Allocated != nil) {
				t.Errorf("%+v", seen.Registrations[0])
			}
		})
	}
}

// TestRegistersWithoutEnd: what is kept is bounded, and the plugin is told.
func TestRegistersWithoutEnd(t *testing.T) {
	s, o := standIn(t, curious)
	f := good()
	f.serve(t, filepath.Join(o.Dir, f.endpoint))
	for range maxRegistrations {
		if err := f.register(t, o.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.register(t, o.Dir); err == nil {
		t.Error("no end")
	}
	seen := see(t, s)
	if len(seen.Registrations) != maxRegistrations || seen.Ignored != 1 || !seen.Registrations[0].Replaced || seen.Registrations[maxRegistrations-1].Replaced {
		t.Errorf("%d registrations, %d ignored", len(seen.Registrations), seen.Ignored)
	}
	found := seen.Findings()
	if !strings.Contains(broken(found), "it registers without end") || len(found.Warnings) != 1 {
		t.Errorf("%+v", found)
	}
	for i := range seen.Registrations {
		seen.Registrations[i].Resource = fmt.Sprintf("example.com/%d", i)
	}
	found = seen.Findings()
	if len(found.Broken) > 0 || !slices.Contains(found.Needs.Gaps, "it registers more often than is looked at: all after the first 32") {
		t.Errorf("many resources: %+v", found)
	}
}

// TestNothingSeen: a plugin that does not register leaves no empty answer.
func TestNothingSeen(t *testing.T) {
	s, o := standIn(t, curious)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, func() bool { return false }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Wait(t.Context(), func() bool { return true }); err != nil {
		t.Error(err)
	}
	if found := s.Observation().Findings(); len(found.Needs.Gaps) != 1 || len(found.Needs.Requirements) > 0 {
		t.Errorf("%+v", found)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(o.Dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := Listen(Options{Dir: filepath.Join(o.Dir, "nowhere")}); err == nil || !strings.Contains(err.Error(), "listen as a kubelet") {
		t.Error(err)
	}
}

func TestExtendedResource(t *testing.T) {
	for name, want := range map[string]bool{
		"example.com/gpu": true, "gpu.intel.com/i915_monitoring": true, "example/gpu": true, "a.b/" + strings.Repeat("x", 63): true,
		"": false, "gpu": false, "/gpu": false, "example.com/": false, "example.com/a/b": false, "Example.com/gpu": false,
		"kubernetes.io/gpu": false, "x.kubernetes.io/gpu": false, "requests.example.com/gpu": false, "example.com/-gpu": false,
		"a.b/" + strings.Repeat("x", 64): false, strings.Repeat("a", 250) + "/x": false, "example..com/gpu": false, "example.com/gp\x00u": false,
	} {
		if got := extendedResource(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
