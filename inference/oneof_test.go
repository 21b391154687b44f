package inference

import (
	"slices"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// oneOf is the need of one of some capabilities.
func oneOf(ids ...capability.ID) capability.Needs {
	var n capability.Needs
	for _, id := range ids {
		n.Requirements = append(n.Requirements, capability.Requirement{Capability: id, OneOf: "g"})
	}
	return n
}

func and(needs ...capability.Needs) capability.Needs {
	var n capability.Needs
	for _, o := range needs {
		n.Requirements = append(n.Requirements, capability.Normalize(o.Requirements)...)
	}
	return n
}

// TestAdviseOneOf: where one of some alternatives is, and which setting it
// takes; what stands alone is as strict as ever.
func TestAdviseOneOf(t *testing.T) {
	gate := []string{"featureGates.DynamicResourceAllocation=true"}
	type fit struct {
		runtime, from string
		with          []string
	}
	for _, test := range []struct {
		name    string
		need    capability.Needs
		fits    []fit // the first of each run, until it goes on without a setting
		nowhere []capability.ID
	}{
		{"two versions", oneOf(capability.DRAV1, capability.DRAV1beta1), []fit{{Kubelet, "1.32.0", gate}, {Kubelet, "1.34.0", nil}}, nil},
		{"one of them alone", and(oneOf(capability.DRAV1, capability.DRAV1beta1), oneOf(capability.DRAV1)), []fit{{Kubelet, "1.34.0", nil}}, nil},
		{"one that is nowhere, one that is", oneOf(capability.ProtoShutdown, capability.AdjustCDIDevices),
			[]fit{{Containerd, "1.7.30", []string{"cri.enable_cdi=true"}}, {Containerd, "2.1.0", nil}, {CRIO, "1.34.0", nil}}, nil},
		{"none is anywhere", oneOf(capability.ProtoShutdown, capability.ProtoCapabilityAdvertisement), nil, []capability.ID{capability.ProtoCapabilityAdvertisement, capability.ProtoShutdown}},
		{"one family or the other", oneOf(capability.AdjustCDIDevices, capability.DeviceCDIDevices),
			[]fit{{Containerd, "1.7.30", []string{"cri.enable_cdi=true"}}, {Containerd, "2.1.0", nil}, {CRIO, "1.34.0", nil},
				{Kubelet, "1.28.0", []string{"featureGates.DevicePluginCDIDevices=true"}}, {Kubelet, "1.29.0", nil}}, nil},
	} {
		a := Builtin().Advise(test.need, Runtimes(), nil)
		if !slices.Equal(a.Nowhere, test.nowhere) {
			t.Errorf("%s: nowhere %v, want %v", test.name, a.Nowhere, test.nowhere)
		}
		var got []fit
		for _, f := range a.Fits {
			if n := len(got); n == 0 || got[n-1].runtime != f.Runtime || !slices.Equal(got[n-1].with, f.With) {
				got = append(got, fit{f.Runtime, f.From.String(), f.With})
			}
		}
		if !slices.EqualFunc(got, test.fits, func(a, b fit) bool {
			return a.runtime == b.runtime && a.from == b.from && slices.Equal(a.with, b.with)
		}) {
			t.Errorf("%s: %v, want %v", test.name, got, test.fits)
		}
	}
}
