package standin

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// newer returns a message with a field that its API does not have.
func newer[M proto.Message](m M) M {
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
	return m
}

// TestFieldsOfTheFuture: wherever in a message one is, it is told that more may
// be needed.
func TestFieldsOfTheFuture(t *testing.T) {
	allocates := func(c *v1beta1.ContainerAllocateResponse) func(*fake) {
		return func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
				return &v1beta1.AllocateResponse{ContainerResponses: []*v1beta1.ContainerAllocateResponse{c}}, nil
			}
		}
	}
	for name, change := range map[string]func(*fake){
		"ContainerAllocateResponse": allocates(newer(&v1beta1.ContainerAllocateResponse{})),
		"DeviceSpec":                allocates(&v1beta1.ContainerAllocateResponse{Devices: []*v1beta1.DeviceSpec{{}, newer(&v1beta1.DeviceSpec{})}}),
		"CDIDevice":                 allocates(&v1beta1.ContainerAllocateResponse{CdiDevices: []*v1beta1.CDIDevice{newer(&v1beta1.CDIDevice{})}}),
		"Mount":                     allocates(&v1beta1.ContainerAllocateResponse{Envs: map[string]string{"a": "b"}, Mounts: []*v1beta1.Mount{newer(&v1beta1.Mount{})}}),
		"Device":                    func(f *fake) { newer(f.devices[0]) },
		"TopologyInfo":              func(f *fake) { f.devices[0].Topology = newer(&v1beta1.TopologyInfo{}) },
		"NUMANode": func(f *fake) {
			f.devices[0].Topology = &v1beta1.TopologyInfo{Nodes: []*v1beta1.NUMANode{newer(&v1beta1.NUMANode{})}}
		},
		"DevicePluginOptions": func(f *fake) { f.told = newer(&v1beta1.DevicePluginOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			s, o := standIn(t, curious)
			f := good()
			change(f)
			f.serve(t, filepath.Join(o.Dir, f.endpoint))
			if err := f.register(t, o.Dir); err != nil {
				t.Fatal(err)
			}
			if gaps := see(t, s).Findings().Needs.Gaps; !slices.Equal(gaps, []string{name + " has a field that is newer than every kubelet known here"}) {
				t.Errorf("%q", gaps)
			}
		})
	}
}

// TestBounded: what is kept is small, whatever is sent, wherever.
func TestBounded(t *testing.T) {
	huge := strings.Repeat("ä", 1<<19)
	for name, change := range map[string]func(*fake){
		"resource": func(f *fake) { f.resource = huge },
		"version":  func(f *fake) { f.version = huge },
		"endpoint": func(f *fake) { f.endpoint = huge },
		"device": func(f *fake) {
			f.devices[0].ID = huge
			f.devices[0].Topology = &v1beta1.TopologyInfo{Nodes: slices.Repeat([]*v1beta1.NUMANode{{ID: 1}}, 1<<19)}
		},
		"health": func(f *fake) { f.devices = append(f.devices, &v1beta1.Device{ID: "b", Health: huge}) },
		"options": func(f *fake) {
			f.options = func() (*v1beta1.DevicePluginOptions, error) { return nil, errors.New(huge) }
		},
		"preferred": func(f *fake) {
			f.told = all()
			f.prefer = func(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
				ids := append(slices.Repeat([]string{"x"}, 1<<18), huge)
				return &v1beta1.PreferredAllocationResponse{ContainerResponses: []*v1beta1.ContainerPreferredAllocationResponse{{DeviceIDs: ids}}}, nil
			}
		},
		"allocation": func(f *fake) {
			f.allocate = func(*v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
				return &v1beta1.AllocateResponse{ContainerResponses: []*v1beta1.ContainerAllocateResponse{{Envs: map[string]string{huge: ""}, Annotations: map[string]string{huge: ""}}}}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := standIn(t, curious)
			f := good()
			change(f)
			f.serve(t, filepath.Join(o.Dir, "gpu.sock"))
			_ = f.register(t, o.Dir) // some are refused
			text, err := json.Marshal(see(t, s))
			if err != nil || len(text) > 20*maxText {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		})
	}
}

func TestShort(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("x", maxText), strings.Repeat("ä", maxText), "x" + strings.Repeat("ä", maxText), strings.Repeat("\x80", 2*maxText)} {
		got := short(s)
		if begin, cut := strings.CutSuffix(got, "…"); len(got) > maxText+len("…") || cut != (len(s) > maxText) || !strings.HasPrefix(s, begin) || utf8.ValidString(s) != utf8.ValidString(got) && utf8.ValidString(s) {
			t.Errorf("%d bytes of %q: %q", len(got), s[:min(len(s), 9)], got)
		}
	}
}
