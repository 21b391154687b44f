package inference

import (
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func TestObserve(t *testing.T) {
	set := func(ids ...capability.ID) *capability.Set {
		s := capability.NewSet(ids...)
		return &s
	}
	for _, test := range []struct {
		name        string
		seen        Observation
		runtime     string
		match       Match
		nri, origin string
		contradicts string
		id          capability.ID
		state       capability.State
	}{
		{"a release that reports its NRI", Observation{Name: "containerd", Version: "v2.3.7", NRIVersion: "v0.12.0", Timeouts: true},
			"containerd@2.3.7", Exact, "v0.12.0", "reported", "", capability.AdjustLinuxSysctl, capability.Yes},
		{"one that does not", Observation{Name: "cri-o", Version: "1.35.6", Timeouts: true},
			"cri-o@1.35.6", Exact, "v0.11.0", "table", "", capability.AdjustLinuxSysctl, capability.Harmful},
		{"the name v2", Observation{Name: "v2", Version: "v2.0.2", Timeouts: true},
			"containerd@2.0.2", Exact, "v0.8.0", "table", "", capability.AdjustCDIDevices, capability.No},
		{"a fork", Observation{Name: "containerd", Version: "v2.0.5", Timeouts: true,
			Binary: &Binary{Name: "containerd", Version: "v2.0.5-k3s1", Fork: "github.com/k3s-io/containerd/v2", NRI: "v0.8.0"}},
			"containerd@2.0.5", VendorBuild, "v0.8.0", "binary", "", capability.AdjustMounts, capability.Yes},
		{"an unstamped build with its executable", Observation{Name: "containerd", Version: "2.4.2+unknown",
			Binary: &Binary{Name: "containerd", Version: "v2.4.2", NRI: "v0.12.3"}},
			"containerd@2.4.2+unknown", Exact, "v0.12.3", "binary", "", capability.AdjustMounts, capability.Yes},
		{"only the executable", Observation{Binary: &Binary{Name: "containerd", Version: "v1.7.35", NRI: "v0.8.0"}},
			"containerd@1.7.35", Exact, "v0.8.0", "binary", "", capability.AdjustMounts, capability.Yes},
		{"another NRI than its release", Observation{Name: "containerd", Version: "v2.2.9",
			Binary: &Binary{Name: "containerd", Version: "v2.2.9", NRI: "v0.12.0"}},
			"containerd@2.2.9", Exact, "v0.12.0", "binary", "NRI v0.12.0 (binary), but v0.11.0 (table)", capability.AdjustLinuxSysctl, capability.Yes},
		{"another release than it says", Observation{Name: "containerd", Version: "v2.1.0",
			Binary: &Binary{Name: "containerd", Version: "v2.0.14", NRI: "v0.8.0"}},
			"containerd@2.0.14", Exact, "v0.8.0", "binary", "says it is 2.1.0, its executable says 2.0.14", capability.AdjustCDIDevices, capability.No},
		{"a hash instead of a version", Observation{Name: "containerd", Version: "07269b2", Timeouts: true},
			"containerd@0.0.0", NoMatch, "", "handshake", "", capability.AdjustLinuxMemoryPolicy, capability.No},
		{"a foreign runtime of an old NRI", Observation{Name: "robin", Version: "5.3.11"},
			"robin@0.0.0", NoMatch, "", "handshake", "", capability.AdjustCDIDevices, capability.No},
		{"nothing from the handshake that it does not show", Observation{Name: "robin", Version: "5.3.11", Timeouts: true},
			"robin@0.0.0", NoMatch, "", "handshake", "", capability.AdjustLinuxNamespaces, capability.Unknown},
		{"a foreign runtime that reports its NRI", Observation{Name: "robin", Version: "5.3.11", NRIVersion: "v0.12.0", Timeouts: true},
			"robin@0.0.0", NoMatch, "v0.12.0", "reported", "", capability.AdjustLinuxSysctl, capability.Yes},
		{"advertised, by an unknown runtime", Observation{Name: "robin", Version: "5.3.11", NRIVersion: "v0.13.0", Advertised: set(capability.AdjustCDIDevices, 41)},
			"robin@0.0.0", Advertised, "v0.13.0", "reported", "", capability.AdjustCDIDevices, capability.Yes},
		{"not advertised", Observation{Name: "containerd", Version: "v2.4.2", Advertised: set(capability.AdjustMounts)},
			"containerd@2.4.2", Exact, "v0.12.3", "table", "", capability.AdjustCDIDevices, capability.No},
		{"advertised, but harmful", Observation{Name: "containerd", Version: "v2.2.9", Advertised: set(capability.AdjustLinuxSysctl)},
			"containerd@2.2.9", Exact, "v0.11.0", "table", "advertises ADJUST_LINUX_SYSCTL, of which the table says harmful", capability.AdjustLinuxSysctl, capability.Harmful},
		{"nothing at all", Observation{}, "@0.0.0", NoMatch, "", "", "", capability.AdjustMounts, capability.Unknown},
		{"NRI without a version", Observation{Name: "containerd", Version: "v2.3.7", NRIVersion: "0.0.0-unknown"},
			"containerd@2.3.7", Exact, "v0.12.0", "table", "", capability.AdjustMounts, capability.Yes},
	} {
		s := Builtin().Observe(test.seen, nil)
		if got := s.Runtime.String(); got != test.runtime || s.Match != test.match || s.NRI() != test.nri || s.NRIOrigin() != test.origin {
			t.Errorf("%s: %s, %s, NRI %q (%s)", test.name, got, s.Match, s.NRI(), s.NRIOrigin())
		}
		if got := strings.Join(s.Contradictions, "; "); test.contradicts == "" && got != "" || !strings.Contains(got, test.contradicts) {
			t.Errorf("%s: contradictions %q", test.name, got)
		}
		if a := s.Answer(test.id); a.State != test.state {
			t.Errorf("%s: %s is %s (%s), want %s", test.name, test.id, a.State, a.Note, test.state)
		}
	}
}
