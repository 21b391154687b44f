package standin

import (
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// TestPreferred: of what a plugin prefers counts what it was offered, as with a
// kubelet; where that is nothing any device is allocated.
func TestPreferred(t *testing.T) {
	for _, test := range []struct {
		chosen []string
		call   string
		odd    int
	}{
		{[]string{"b"}, "Allocate b", 0},
		{[]string{"b", "a"}, "Allocate b", 0},
		{[]string{"x", "b"}, "Allocate b", 1},
		{[]string{"x", "y"}, "Allocate a", 2},
		{nil, "Allocate a", 0},
	} {
		s, o := standIn(t, curious)
		f := good()
		f.told = &v1beta1.DevicePluginOptions{GetPreferredAllocationAvailable: true}
		f.devices = append(f.devices, &v1beta1.Device{ID: "b", Health: v1beta1.Healthy})
		f.prefer = func(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
			return &v1beta1.PreferredAllocationResponse{ContainerResponses: []*v1beta1.ContainerPreferredAllocationResponse{{DeviceIDs: test.chosen}}}, nil
		}
		f.serve(t, filepath.Join(o.Dir, f.endpoint))
		if err := f.register(t, o.Dir); err != nil {
			t.Fatal(err)
		}
		r := see(t, s).Registrations[0]
		if !slices.Contains(f.calls, test.call) || len(r.Oddities) != test.odd || !slices.Equal(r.Preferred, bounded(test.chosen)) {
			t.Errorf("%q: %q, %q, preferred %q", test.chosen, f.calls, r.Oddities, r.Preferred)
		}
	}
}
