package inference

import (
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// TestKubeletAnswers pins what kubelets do, by state and by the status that a
// plugin gets with the feature gates as they are by default.
func TestKubeletAnswers(t *testing.T) {
	for _, test := range []struct {
		runtime, capability, state, effect, status string
		assume                                     []string
	}{
		{"kubelet@1.10.0", "DEVICE_PLUGIN_V1BETA1", "conditional", "refused", "ok", nil},
		{"kubelet@1.37.2", "DEVICE_PLUGIN_V1BETA1", "yes", "none", "ok", nil},
		{"kubelet@1.27.0", "DEVICE_CDI_DEVICES", "no", "dropped", "missing", nil},
		{"kubelet@1.28.3", "DEVICE_CDI_DEVICES", "conditional", "dropped", "conditional", nil},
		{"kubelet@1.28.3", "DEVICE_CDI_DEVICES", "conditional", "dropped", "ok", []string{"featureGates.DevicePluginCDIDevices=true"}},
		{"kubelet@1.29.0", "DEVICE_CDI_DEVICES", "conditional", "dropped", "ok", nil},
		{"kubelet@1.29.0", "DEVICE_CDI_DEVICES", "conditional", "dropped", "conditional", []string{"featureGates.DevicePluginCDIDevices=false"}},
		{"kubelet@1.31.0", "DEVICE_CDI_DEVICES", "yes", "none", "ok", []string{"featureGates.DevicePluginCDIDevices=false"}},
		{"kubelet@1.31.0", "DEVICE_CDI_VIA_ANNOTATIONS", "yes", "none", "ok", nil},
		{"kubelet@1.32.0", "DEVICE_CDI_VIA_ANNOTATIONS", "no", "dropped", "missing", nil},
		{"kubelet@1.18.9", "DEVICE_PREFERRED_ALLOCATION", "no", "never-called", "missing", nil},
		{"kubelet@1.19.0", "DEVICE_PREFERRED_ALLOCATION", "yes", "none", "ok", nil},
		{"kubelet@1.24.17", "DEVICE_REGISTER_BEFORE_SERVE", "yes", "none", "ok", nil},
		{"kubelet@1.25.0", "DEVICE_REGISTER_BEFORE_SERVE", "no", "refused", "missing", nil},
		{"kubelet@1.24.17", "DEVICE_WITHOUT_GET_OPTIONS", "yes", "none", "ok", nil},
		{"kubelet@1.25.0", "DEVICE_WITHOUT_GET_OPTIONS", "no", "refused", "missing", nil},
		{"kubelet@1.24.17", "DEVICE_REGISTER_OPTIONS", "yes", "none", "ok", nil},
		{"kubelet@1.25.0", "DEVICE_REGISTER_OPTIONS", "no", "dropped", "missing", nil},
		{"kubelet@1.24.17", "DEVICE_GET_OPTIONS", "no", "never-called", "missing", nil},
		{"kubelet@1.25.0", "DEVICE_GET_OPTIONS", "yes", "none", "ok", nil},
		{"kubelet@1.15.0", "DEVICE_TOPOLOGY", "no", "dropped", "missing", nil},
		{"kubelet@1.17.0", "DEVICE_TOPOLOGY", "conditional", "dropped", "conditional", nil},
		{"kubelet@1.18.0", "DEVICE_TOPOLOGY", "conditional", "dropped", "ok", nil},
		{"kubelet@1.30.0", "DEVICE_TOPOLOGY", "partial", "none", "ok", nil},
		{"kubelet@1.30.0", "DEVICE_TOPOLOGY", "conditional", "dropped", "conditional", []string{"topologyManagerPolicy=none"}},
		{"kubelet@1.30.0", "DEVICE_TOPOLOGY", "conditional", "dropped", "conditional", []string{"topologyManagerPolicy=default"}},
		{"kubelet@1.30.0", "DEVICE_TOPOLOGY", "conditional", "dropped", "ok", []string{"topologyManagerPolicy=restricted"}},
		{"kubelet@1.17.0", "DEVICE_TOPOLOGY", "conditional", "dropped", "conditional", []string{"topologyManagerPolicy=restricted"}},
		{"kubelet@1.15.0", "DEVICE_TOPOLOGY", "no", "dropped", "missing", []string{"topologyManagerPolicy=restricted"}},
		{"kubelet@1.26.15", "PODRES_UNLIMITED_RATE", "yes", "none", "ok", nil},
		{"kubelet@1.27.0", "PODRES_UNLIMITED_RATE", "no", "dropped", "missing", nil},
		{"kubelet@1.12.0", "PODRES_UNLIMITED_RATE", "no", "never-called", "missing", nil},
		{"kubelet@1.33.0", "PODRES_GET", "conditional", "never-called", "conditional", nil},
		{"kubelet@1.34.0", "PODRES_GET", "conditional", "never-called", "ok", nil},
		{"kubelet@1.36.0", "PODRES_GET", "yes", "none", "ok", nil},
		{"kubelet@1.37.0", "PODRES_POD_LEVEL", "conditional", "empty", "conditional", nil},
		{"kubelet@1.37.0", "PODS_API_V1ALPHA1", "conditional", "never-called", "ok", nil},
		{"kubelet@1.31.0", "DRA_V1ALPHA2", "no", "refused", "missing", nil},
		{"kubelet@1.33.0", "DRA_V1ALPHA3_STRUCTURED", "conditional", "refused", "conditional", nil},
		{"kubelet@1.34.0", "DRA_V1ALPHA3_STRUCTURED", "no", "refused", "missing", nil},
		{"kubelet@1.34.0", "DRA_V1", "conditional", "refused", "ok", nil},
		{"kubelet@1.34.0", "DRA_V1", "conditional", "refused", "conditional", []string{"featureGates.DynamicResourceAllocation=false"}},
		{"kubelet@1.35.0", "DRA_V1", "yes", "none", "ok", []string{"featureGates.DynamicResourceAllocation=false"}},
		{"kubelet@1.34.0", "DRA_UNKNOWN_SERVICES", "no", "refused", "missing", nil},
		{"kubelet@1.28.0", "DRA_UNKNOWN_SERVICES", "unknown", "none", "unknown", nil},
		{"kubelet@1.38.0-beta.0", "DRA_V1", "yes", "none", "ok", nil},
		{"kubelet@1.38.0", "DRA_V1", "yes", "none", "ok", nil},
		{"kubelet@1.9.0", "DEVICE_PLUGIN_V1BETA1", "unknown", "none", "unknown", nil},
		{"kubelet@1.39.0", "DEVICE_PLUGIN_V1BETA1", "unknown", "none", "unknown", nil},
	} {
		r, err := ParseRuntime(test.runtime)
		if err != nil {
			t.Fatal(err)
		}
		id, err := capability.Parse(test.capability)
		if err != nil {
			t.Fatal(err)
		}
		values := Values{}
		for _, s := range test.assume {
			name, v, err := Builtin().ParseAssumption(s)
			if err != nil {
				t.Fatal(err)
			}
			values[name] = v
		}
		a := Builtin().Lookup(r, values).Answer(id)
		if a.State.String() != test.state || a.Effect.String() != test.effect || a.Status().String() != test.status {
			t.Errorf("%s on %s %v: %s, %s, %s; want %s, %s, %s", id, test.runtime, test.assume, a.State, a.Effect, a.Status(), test.state, test.effect, test.status)
		}
	}
}

// TestKubeletUnknown: the README says how much of the kubelet the table leaves
// unknown.
func TestKubeletUnknown(t *testing.T) {
	var unknown []string
	for _, id := range CapabilitiesOf(Kubelet) {
		for _, r := range Builtin().Ranges(id, Kubelet) {
			if r.State == capability.Unknown {
				unknown = append(unknown, id.String()+" "+r.Line)
			}
		}
	}
	if want := "DRA_UNKNOWN_SERVICES 1.26 to 1.31"; len(unknown) != 6 || unknown[0] != "DRA_UNKNOWN_SERVICES 1.26" || unknown[5] != "DRA_UNKNOWN_SERVICES 1.31" {
		t.Errorf("%v are unknown, want %s: say so in the README too", unknown, want)
	}
}

// TestKubeletMatch: every patch release of a minor is answered by its row.
func TestKubeletMatch(t *testing.T) {
	for _, test := range []struct {
		runtime, row string
		match        Match
	}{
		{"kubelet@1.28.0", "1.28.0", Exact},
		{"kubelet@1.28.15", "1.28.0", Exact},
		{"kubelet@v1.30.4-gke.1348000", "1.30.0", VendorBuild},
		{"kubelet@v1.30.0+k3s1", "1.30.0", VendorBuild},
		{"kubelet@1.38.0-beta.0", "1.38.0-beta.0", Exact},
		{"kubelet@1.38.0", "1.38.0-beta.0", NewerThanTable},
		{"kubelet@1.28.0-rc.0", "", NoMatch},
		{"kubelet@1.9.3", "", NoMatch},
		{"kubelet@1.39.0", "", NoMatch},
		{"kubelet@main", "", NoMatch},
	} {
		r, err := ParseRuntime(test.runtime)
		if err != nil {
			t.Fatal(err)
		}
		s := Builtin().Lookup(r, nil)
		row := ""
		if s.Row != nil {
			row = s.Row.Version.String()
		}
		if s.Match != test.match || row != test.row || (s.Why == "") != (test.runtime == "kubelet@"+test.row) || s.NRI() != "" {
			t.Errorf("%s: %s, row %s, why %q", test.runtime, s.Match, row, s.Why)
		}
	}
}

// TestKubeletBugs: bugs go by patch release although rows do not.
func TestKubeletBugs(t *testing.T) {
	for _, test := range []struct {
		runtime, id string
		want        bool
	}{
		{"kubelet@1.25.9", "device-pods-terminated-on-kubelet-restart", false},
		{"kubelet@1.25.10", "device-pods-terminated-on-kubelet-restart", true},
		{"kubelet@v1.25.13+k3s1", "device-pods-terminated-on-kubelet-restart", true},
		{"kubelet@1.25.14", "device-pods-terminated-on-kubelet-restart", false},
		{"kubelet@1.28.0", "device-pods-terminated-on-kubelet-restart", false},
		{"kubelet@1.34.2", "device-watchdog-kills-kubelet", true},
		{"kubelet@1.34.3", "device-watchdog-kills-kubelet", false},
		{"kubelet@1.33.9", "device-restarted-container-not-recognised", true},
		{"kubelet@1.34.7", "device-restarted-container-not-recognised", false},
		{"kubelet@1.36.9", "device-health-wrong-pod", true},
		{"kubelet@1.37.0", "device-health-wrong-pod", false},
	} {
		r, err := ParseRuntime(test.runtime)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(Builtin().Lookup(r, nil).Bugs(), func(b Bug) bool { return b.ID == test.id })
		if got != test.want {
			t.Errorf("%s has %s: %v", test.runtime, test.id, got)
		}
	}
}

// TestFamiliesKeepApart: no runtime answers for what another one decides, and
// what it does not answer never makes a plugin incompatible.
func TestFamiliesKeepApart(t *testing.T) {
	for _, runtime := range []string{"containerd@2.1.0", "containerd@1.6.39", "cri-o@1.34.0", "kubelet@1.30.0"} {
		r, err := ParseRuntime(runtime)
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range []Values{nil, {NRIEnabled: {Value: "false", Origin: "assumed"}}, {TopologyManagerPolicy: {Value: "none", Origin: "assumed"}}} {
			s := Builtin().Lookup(r, values)
			for _, id := range capability.All() {
				if id.Kind().Family() == FamilyOf(r.Name) {
					continue
				}
				need := capability.Needs{Requirements: []capability.Requirement{{Capability: id}}}
				if a := s.Answer(id); a.State != capability.Unknown || a.Note == "" || capability.Check(need, s).Verdict != capability.Inconclusive {
					t.Errorf("%s on %s: %s, %q", id, runtime, a.State, a.Note)
				}
			}
		}
		for _, id := range Builtin().Lookup(r, nil).Set().IDs() {
			if id.Kind().Family() != FamilyOf(r.Name) {
				t.Errorf("%s has %s", runtime, id)
			}
		}
	}
}

func TestSelectKubelet(t *testing.T) {
	for _, test := range []struct {
		expr string
		n    int
		says string
	}{
		{"kubelet@>=1.27", 11, ""},
		{"kubelet@>=1.27.0 <1.30.0", 3, ""},
		{"kubelet@1.28", 1, ""},
		{"kubelet@1.28.x", 1, ""},
		{"kubelet@all", 28, ""},
		{"kubelet@1.28.3", 1, ""},
		{"kubelet@>=1.28.3", 0, "minor releases of the kubelet"},
		{"kubelet@<1.25.14 || >=1.27", 0, "minor releases of the kubelet"},
		{"kubelet@>=2", 0, "no release in the table matches: it has 1.10.0 to 1.37.0"},
	} {
		got, err := Builtin().Select(test.expr)
		if len(got) != test.n || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("Select(%q) = %d, %v", test.expr, len(got), err)
		}
	}
}

// TestAdviseFamilies: every runtime is looked through for its own part only.
func TestAdviseFamilies(t *testing.T) {
	need := capability.Needs{Requirements: []capability.Requirement{
		{Capability: capability.DeviceCDIDevices}, {Capability: capability.AdjustCDIDevices},
	}}
	a := Builtin().Advise(need, Runtimes(), nil)
	for runtime, want := range map[string]string{Kubelet: "1.28.0", Containerd: "1.7.30", CRIO: "1.34.0"} {
		if f, ok := a.Oldest(runtime, false); !ok || f.From.String() != want {
			t.Errorf("%s from %s, want %s", runtime, f.From, want)
		}
	}
	if len(a.Nowhere) != 0 {
		t.Errorf("nowhere: %v", a.Nowhere)
	}
	a = Builtin().Advise(capability.Needs{Requirements: need.Requirements[:1]}, Runtimes(), nil)
	if f, ok := a.Oldest(Containerd, false); ok {
		t.Errorf("a device plugin works with containerd %s", f.From)
	}
}

// TestMatchesKubelet: a line of the kubelet stands for all its patch releases.
func TestMatchesKubelet(t *testing.T) {
	r, err := ParseRuntime("kubelet@v1.28.3-gke.1")
	if err != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string]bool{
		"kubelet@1.28": true, "kubelet@1.28.x": true, "kubelet@>=1.27 <1.29": true, "kubelet@all": true, "kubelet@1.28.3": true,
		"kubelet@1.28.4": false, "kubelet@1.29": false, "kubelet@<1.28": false, "containerd@all": false,
	} {
		if got, err := Builtin().Matches(expr, r); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", expr, got, err, want)
		}
	}
}

func TestAdviceKnowsOnlyWhatWasAsked(t *testing.T) {
	need := func(ids ...capability.ID) (n capability.Needs) {
		for _, id := range ids {
			n.Requirements = append(n.Requirements, capability.Requirement{Capability: id})
		}
		return n
	}
	for _, c := range []struct {
		name     string
		need     capability.Needs
		runtimes []string
		nowhere  []capability.ID
	}{
		{"another runtime decides", need(capability.AdjustCDIDevices, capability.DeviceCDIDevices), []string{Containerd}, nil},
		{"some releases are unknown", need(capability.DRAUnknownServices), []string{Kubelet}, nil},
		{"all lack it", need(capability.ProtoShutdown, capability.DeviceCDIDevices), []string{Containerd, CRIO}, []capability.ID{capability.ProtoShutdown}},
	} {
		if got := Builtin().Advise(c.need, c.runtimes, nil).Nowhere; !slices.Equal(got, c.nowhere) {
			t.Errorf("%s: nowhere %v, want %v", c.name, got, c.nowhere)
		}
	}
}
