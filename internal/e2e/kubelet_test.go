//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nri-compat/nri-compat/internal/kubelet"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// TestKubeletWire: what the package takes from the texts of a kubelet is what a
// kubelet says.
func TestKubeletWire(t *testing.T) {
	binary := testruntime.BuildKubelet(t, "v1.34.1")
	running := testruntime.StartKubelet(t, binary)
	if v, err := kubelet.Version(t.Context(), fmt.Sprintf("/proc/%d/exe", running.PID)); v != "v1.34.1" || err != nil {
		t.Errorf("version %q, %v", v, err)
	}
	for _, test := range []struct {
		gate string
		get  kubelet.Served
	}{{"true", kubelet.On}, {"false", kubelet.Off}} {
		t.Run("Get gate "+test.gate, func(t *testing.T) {
			k := testruntime.StartKubelet(t, binary, "--feature-gates=KubeletPodResourcesGet="+test.gate)
			got, err := kubelet.AskPodResources(t.Context(), k.PodResources)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&kubelet.PodResources{Get: test.get, Allocatable: kubelet.On}, got); d != "" {
				t.Error(d)
			}
			k.Stop()
			if got, err := kubelet.AskPodResources(t.Context(), k.PodResources); got != nil || err != nil {
				t.Errorf("after its end: %+v, %v", got, err)
			}
		})
	}
}

// TestRegistrationProbe: a kubelet refuses the registration at once, names its
// version, and logs the two lines that are announced.
func TestRegistrationProbe(t *testing.T) {
	k := testruntime.StartKubelet(t, testruntime.BuildKubelet(t, "v1.34.1"))
	before := len(k.Log(named("device plugin")))
	got, err := kubelet.ProbeRegistration(t.Context(), k.Registration)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Versions, []string{"v1beta1"}) {
		t.Errorf("%+v", got)
	}
	lines := k.AwaitLog(t, before+2, named("device plugin"))[before:]
	if len(lines) != 2 || !strings.HasPrefix(lines[0].Message, "I") || !strings.HasPrefix(lines[1].Message, "E") ||
		!strings.Contains(lines[1].Message, kubelet.UnsupportedVersion) {
		t.Errorf("logged %q", lines)
	}
}

// named keeps the lines of a kubelet that have a text in them.
func named(text string) func(testruntime.Line) bool {
	return func(l testruntime.Line) bool { return strings.Contains(l.Message, text) }
}
