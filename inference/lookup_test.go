package inference

import (
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func TestLookupMatches(t *testing.T) {
	for _, test := range []struct {
		runtime string
		match   Match
		row     string
		nri     string
	}{
		{"containerd://2.0.5-k3s1.32", VendorBuild, "2.0.5", "v0.8.0"},
		{"cri-o://1.30.14-6.rhaos4.17.gitfa27f6f.el9", VendorBuild, "1.30.14", "v0.6.0"},
		{"containerd@2.0.0-rc.5", Exact, "2.0.0-rc.5", "v0.6.1"},
		{"containerd@2.0.0-rc.6", Exact, "2.0.0-rc.6", "v0.7.0"},
		{"containerd@1.7.0-36-g7dd7a09.m", VendorBuild, "1.7.0", "v0.3.0"},
		{"containerd@2.4.2+unknown", Exact, "2.4.2", "v0.12.3"},
		{"containerd@2.0.12", NearestOlder, "2.0.11", "v0.8.0"},
		{"containerd@2.4.77", NewerThanTable, "2.4.2", "v0.12.3"},
		{"containerd@2.4.77-k3s1", NewerThanTable, "2.4.2", "v0.12.3"},
		{"containerd@2.2.0-rc.7", NearestOlder, "2.2.0-rc.1", "v0.10.0"},
		{"containerd@2.1.0-alpha.0", NoMatch, "", ""},
		{"containerd@9.9.9", NoMatch, "", ""},
		{"containerd@2.5.0", NoMatch, "", ""},
		{"cri-o@1.37.0", NoMatch, "", ""},
		{"cri-o@main", Exact, "main", "v0.12.0"},
		{"containerd@1.6.39", BeforeNRI, "", ""},
		{"containerd@1.7.0-beta.0", BeforeNRI, "", ""},
		{"cri-o@1.25.9", BeforeNRI, "", ""},
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
		if s.Match != test.match || row != test.row || s.NRI() != test.nri {
			t.Errorf("%s: %s, row %s, NRI %s; want %s, %s, %s", test.runtime, s.Match, row, s.NRI(), test.match, test.row, test.nri)
		}
		if s.Match != Exact && s.Why == "" {
			t.Errorf("%s: match %s is not explained", test.runtime, s.Match)
		}
	}
}

// TestNoMatchKnowsNothing: a line that the table lacks has no answer, however
// sure the neighbouring lines are.
func TestNoMatchKnowsNothing(t *testing.T) {
	s := Builtin().Lookup(Runtime{Name: Containerd, Version: Version{Major: 2, Minor: 5}}, nil)
	for _, id := range capability.All() {
		if a := s.Answer(id); a.State != capability.Unknown {
			t.Errorf("%s: %s", id, a.State)
		}
	}
	if !s.Set().Empty() || s.Bugs() != nil || s.NRI() != "" {
		t.Error("something is claimed of an unknown line")
	}
}

func TestSettings(t *testing.T) {
	const cdi, huge, blockio = "ADJUST_CDI_DEVICES", "ADJUST_LINUX_HUGEPAGE_LIMITS", "ADJUST_LINUX_BLOCKIO_CLASS"
	for _, test := range []struct {
		runtime, capability string
		assume              []string
		want                capability.Status
	}{
		{"containerd@1.7.30", cdi, nil, capability.StatusConditional},
		{"containerd@1.7.30", cdi, []string{"cri.enable_cdi=true"}, capability.StatusOK},
		{"containerd@1.7.30", cdi, []string{"cri.enable_cdi=default"}, capability.StatusConditional},
		{"containerd@1.7.29", cdi, []string{"cri.enable_cdi=true"}, capability.StatusMissing},
		{"containerd@2.1.0", cdi, []string{"cri.enable_cdi=false"}, capability.StatusOK},
		{"containerd@2.4.2", huge, nil, capability.StatusConditional},
		{"containerd@2.4.2", huge, []string{"cri.disable_hugetlb_controller=false"}, capability.StatusOK},
		{"containerd@2.4.2", blockio, []string{"blockio_config_file=/etc/blockio.yaml"}, capability.StatusOK},
		{"cri-o@1.30.0", blockio, nil, capability.StatusConditional},
		{"containerd@1.7.30", "ADJUST_MOUNTS", nil, capability.StatusOK},
		{"containerd@1.7.30", "ADJUST_MOUNTS", []string{"nri.enabled=default"}, capability.StatusConditional},
		{"containerd@2.0.0", "ADJUST_MOUNTS", []string{"nri.enabled=default"}, capability.StatusOK},
		{"containerd@2.0.0", "ADJUST_MOUNTS", []string{"nri.enabled=false"}, capability.StatusConditional},
		{"cri-o@1.29.13", "ADJUST_MOUNTS", []string{"nri.enabled=default"}, capability.StatusConditional},
		{"cri-o@1.30.0", "ADJUST_MOUNTS", []string{"nri.enabled=default"}, capability.StatusOK},
	} {
		values := Values{}
		for _, s := range test.assume {
			name, v, err := Builtin().ParseAssumption(s)
			if err != nil {
				t.Fatal(err)
			}
			values[name] = v
		}
		r, err := ParseRuntime(test.runtime)
		if err != nil {
			t.Fatal(err)
		}
		id, err := capability.Parse(test.capability)
		if err != nil {
			t.Fatal(err)
		}
		a := Builtin().Lookup(r, values).Answer(id)
		if a.Status() != test.want {
			t.Errorf("%s on %s with %v: %s (%+v), want %s", test.capability, test.runtime, test.assume, a.Status(), a, test.want)
		}
	}
}

func TestParseAssumptionRefuses(t *testing.T) {
	for _, bad := range []string{"", "=", "cri.enable_cdi", "cri.enable_cdi=yes", "nothing=true", "nri.enabled=", "=true"} {
		if name, v, err := Builtin().ParseAssumption(bad); err == nil {
			t.Errorf("ParseAssumption(%q) = %s, %+v", bad, name, v)
		}
	}
}

// TestEveryConditionCanBeDecided: a conditional state names a setting whose
// default is known in that very release, and where to change it.
func TestEveryConditionCanBeDecided(t *testing.T) {
	table := Builtin()
	n := 0
	for _, rel := range table.Releases("") {
		s := table.Lookup(Runtime{Name: rel.Runtime, Version: rel.Version}, nil)
		for _, id := range CapabilitiesOf(rel.Runtime) {
			a := s.Answer(id)
			for _, set := range a.Settings {
				n++
				if !set.Known() || set.Key == "" || set.Origin != "default" {
					t.Errorf("%s on %s %s: %+v", id, rel.Runtime, rel.Version, set)
				}
			}
			if a.State == capability.Unknown && a.Note == "" {
				t.Errorf("%s on %s %s: unknown, and nothing says why", id, rel.Runtime, rel.Version)
			}
		}
		if set, ok := s.NRISwitch(); ok == (rel.Runtime == Kubelet) || set.Met() != rel.NRIEnabled {
			t.Errorf("%s %s: NRI enabled %v in the row, the setting says %+v", rel.Runtime, rel.Version, rel.NRIEnabled, set)
		}
	}
	if n == 0 {
		t.Error("no conditional state was looked at")
	}
}

func TestBugs(t *testing.T) {
	has := func(runtime, id string) bool {
		r, err := ParseRuntime(runtime)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range Builtin().Lookup(r, nil).Bugs() {
			if b.ID == id {
				return true
			}
		}
		return false
	}
	for _, test := range []struct {
		runtime, id string
		want        bool
	}{
		{"containerd@2.3.7", "unsolicited-update-deadlock", true},
		{"containerd@2.4.0-beta.0", "unsolicited-update-deadlock", false},
		{"containerd@1.7.15", "plugin-registration-deadlock", true},
		{"containerd@1.7.16", "plugin-registration-deadlock", false},
		{"containerd@1.7.25", "plugin-sync-race", true},
		{"containerd@1.7.26", "plugin-sync-race", false},
		{"containerd@2.0.3", "runtime-name-v2", true},
		{"containerd@2.0.4", "runtime-name-v2", false},
		{"containerd@2.2.5", "nil-sandbox-getips-panic", true},
		{"containerd@2.2.6", "nil-sandbox-getips-panic", false},
		{"cri-o@1.30.14", "plugin-registration-deadlock", true},
		{"cri-o@1.31.0", "plugin-registration-deadlock", false},
		{"cri-o@1.26.3", "update-partial-nil-crash", true},
		{"cri-o@1.26.4", "update-partial-nil-crash", false},
		{"cri-o@main", "unsolicited-update-deadlock", true},
		{"cri-o@1.34.0", "sysctl-adjust-panics-crio", false},
		{"cri-o@1.35.0", "sysctl-adjust-panics-crio", true},
		{"cri-o@main", "sysctl-adjust-panics-crio", false},
	} {
		if got := has(test.runtime, test.id); got != test.want {
			t.Errorf("%s has %s: %v, want %v", test.runtime, test.id, got, test.want)
		}
	}
}

// TestHarmIsTold: a state that crashes the runtime has a known bug that says
// so, and the other way round no bug of that kind is without a harmful state.
func TestHarmIsTold(t *testing.T) {
	table := Builtin()
	for _, rel := range table.Releases("") {
		s := table.Lookup(Runtime{Name: rel.Runtime, Version: rel.Version}, nil)
		for _, id := range capability.All() {
			if a := s.Answer(id); a.State == capability.Harmful && len(a.Bugs) == 0 {
				t.Errorf("%s on %s %s is harmful and no known bug says why", id, rel.Runtime, rel.Version)
			}
		}
	}
}
