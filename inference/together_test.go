package inference

import (
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func pair(t *testing.T, kubelet, runtime string, assume ...string) Pair {
	t.Helper()
	values := Values{}
	for _, s := range assume {
		name, v, err := Builtin().ParseAssumption(s)
		if err != nil {
			t.Fatal(err)
		}
		values[name] = v
	}
	var supports []Support
	for _, s := range []string{runtime, kubelet} {
		r, err := ParseRuntime(s)
		if err != nil {
			t.Fatal(err)
		}
		supports = append(supports, Builtin().Lookup(r, values))
	}
	p, err := NewPair(supports)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCDIDevicesNeedBoth: the kubelet hands them on, the container runtime
// injects them.
func TestCDIDevicesNeedBoth(t *testing.T) {
	const on = "cri.enable_cdi=true"
	for _, test := range []struct {
		kubelet, runtime string
		assume           []string
		state, status    string
	}{
		{"kubelet@1.32.0", "containerd@1.7.20", nil, "conditional", "conditional"},
		{"kubelet@1.32.0", "containerd@1.7.20", []string{on}, "conditional", "ok"},
		{"kubelet@1.32.0", "containerd@1.7.2", []string{on}, "conditional", "ok"},
		{"kubelet@1.32.0", "containerd@1.7.1", []string{on}, "no", "missing"},
		{"kubelet@1.31.0", "containerd@1.7.1", []string{on}, "conditional", "ok"}, // by annotations
		{"kubelet@1.31.0", "containerd@1.7.1", nil, "conditional", "conditional"},
		{"kubelet@1.31.0", "containerd@1.6.39", []string{on}, "no", "missing"},
		{"kubelet@1.32.0", "containerd@2.0.0", nil, "conditional", "ok"},
		{"kubelet@1.32.0", "containerd@2.0.0", []string{"cri.enable_cdi=false"}, "conditional", "conditional"},
		{"kubelet@1.32.0", "containerd@2.4.2", []string{"cri.enable_cdi=false"}, "yes", "ok"}, // the setting is gone
		{"kubelet@1.32.0", "containerd@9.9.9", nil, "unknown", "unknown"},
		{"kubelet@1.32.0", "cri-o@1.28.0", nil, "yes", "ok"},
		{"kubelet@1.32.0", "cri-o@main", nil, "yes", "ok"},
		{"kubelet@1.32.0", "cri-o@1.27.0", nil, "no", "missing"},
		{"kubelet@1.31.0", "cri-o@1.27.0", nil, "yes", "ok"},
		{"kubelet@1.31.0", "cri-o@1.25.0", nil, "unknown", "unknown"},
		{"kubelet@1.28.0", "containerd@2.1.0", nil, "conditional", "conditional"},
		{"kubelet@1.28.0", "containerd@1.7.20", []string{on, "featureGates.DevicePluginCDIDevices=true"}, "conditional", "ok"},
		{"kubelet@1.28.0", "containerd@1.7.20", []string{on}, "conditional", "conditional"},
		{"kubelet@1.27.0", "containerd@2.1.0", nil, "no", "missing"},
		{"kubelet@1.99.0", "containerd@2.1.0", nil, "unknown", "unknown"},
		{"kubelet@1.99.0", "containerd@1.6.39", nil, "no", "missing"},
	} {
		a := pair(t, test.kubelet, test.runtime, test.assume...).Answer(capability.DeviceCDIDevices)
		if a.State.String() != test.state || a.Status().String() != test.status {
			t.Errorf("%s and %s %v: %s, %s; want %s, %s", test.kubelet, test.runtime, test.assume, a.State, a.Status(), test.state, test.status)
		}
		if a.Status() == capability.StatusMissing && a.Effect != capability.Dropped {
			t.Errorf("%s and %s: effect %s", test.kubelet, test.runtime, a.Effect)
		}
	}
}

// TestPairAnswersEachForItself: apart from what needs both, the pair says what
// the one that decides says.
func TestPairAnswersEachForItself(t *testing.T) {
	p := pair(t, "kubelet@1.25.0", "containerd@2.2.1")
	for _, id := range capability.All() {
		if id == capability.DeviceCDIDevices {
			continue
		}
		want := p.Runtime.Answer(id)
		if id.Kind().Family() == capability.Kubelet {
			want = p.Kubelet.Answer(id)
		}
		if got := p.Answer(id); got.State != want.State || got.Effect != want.Effect || got.State == capability.Unknown {
			t.Errorf("%s: %s, %s", id, got.State, want.State)
		}
	}
}

func TestNewPairRefuses(t *testing.T) {
	lookup := func(names ...string) []Support {
		var out []Support
		for _, name := range names {
			r, err := ParseRuntime(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, Builtin().Lookup(r, nil))
		}
		return out
	}
	for _, supports := range [][]Support{
		nil, lookup("kubelet@1.32.0"), lookup("containerd@2.1.0", "cri-o@1.34.0"), lookup("kubelet@1.32.0", "kubelet@1.33.0"),
		lookup("kubelet@1.32.0", "containerd@2.1.0", "containerd@2.1.1"),
	} {
		if _, err := NewPair(supports); err == nil || !strings.Contains(err.Error(), "one kubelet and one container runtime") {
			t.Errorf("%d runtimes: %v", len(supports), err)
		}
	}
}
