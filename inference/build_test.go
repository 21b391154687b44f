package inference

import (
	"slices"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func TestAdviseBuild(t *testing.T) {
	for _, test := range []struct {
		exprs   []string
		nri     string
		oldest  string
		given   []capability.ID // some of those given up
		not     []capability.ID // some of those that are not
		unknown int
	}{
		{[]string{"containerd@>=1.7.26"}, "v0.8.0", "containerd@1.7.26",
			[]capability.ID{capability.AdjustLinuxSysctl, capability.SubscribeValidateContainerAdjustment},
			// Its API is older; that no release has it makes it no loss.
			[]capability.ID{capability.AdjustCDIDevices, capability.UpdateEvictContainer}, 0},
		{[]string{"containerd@2.1.0"}, "v0.8.0", "containerd@2.1.0", nil, []capability.ID{capability.AdjustLinuxSysctl}, 0},
		// What does harm wherever it has an API is not given up.
		{[]string{"containerd@2.1.9", "containerd@2.2.1"}, "v0.8.0", "containerd@2.1.9",
			[]capability.ID{capability.AdjustLinuxRDTClos}, []capability.ID{capability.AdjustLinuxSysctl}, 0},
		{[]string{"containerd@2.4", "cri-o@1.34.0"}, "v0.10.0", "cri-o@1.34.0", []capability.ID{capability.AdjustLinuxSysctl}, nil, 0},
		{[]string{"containerd@2.1.0", "containerd@9.9.9", "containerd@1.6.39"}, "v0.8.0", "containerd@2.1.0", nil, nil, 2},
		{[]string{"containerd@9.9.9"}, "", "", nil, nil, 1},
		{nil, "", "", nil, nil, 0},
	} {
		var supports []Support
		for _, expr := range test.exprs {
			runtimes, err := Builtin().Select(expr)
			if err != nil {
				t.Fatal(err)
			}
			supports = append(supports, Builtin().LookupAll(runtimes, nil)...)
		}
		a := AdviseBuild(supports)
		oldest := ""
		if a.NRI != "" {
			oldest = a.Oldest.String()
		}
		if a.NRI != test.nri || oldest != test.oldest || len(a.Unknown) != test.unknown {
			t.Errorf("%v: %s of %s, %d unknown", test.exprs, a.NRI, oldest, len(a.Unknown))
		}
		gives := func(id capability.ID) bool {
			return slices.ContainsFunc(a.Given, func(g GivenUp) bool { return g.Capability == id })
		}
		for _, id := range test.given {
			if !gives(id) {
				t.Errorf("%v: %s is not given up", test.exprs, id)
			}
		}
		for _, id := range test.not {
			if gives(id) {
				t.Errorf("%v: %s is given up", test.exprs, id)
			}
		}
	}
}
