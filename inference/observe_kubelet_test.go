package inference

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nri-compat/nri-compat/capability"
)

func TestObserveKubelet(t *testing.T) {
	get, allocatable := capability.PodresGet, capability.PodresGetAllocatable
	served := func(g, a Served) map[capability.ID]Served { return map[capability.ID]Served{get: g, allocatable: a} }
	file := func(v string) Values {
		return Values{"featureGates.KubeletPodResourcesGet": {Value: v, Origin: "/kubelet.yaml"}}
	}
	says := func(v string) []Claim { return []Claim{{v, "the kubelet"}} }
	for _, test := range []struct {
		name           string
		o              KubeletObservation
		values         Values
		version        string
		match          Match
		why            string
		get            string // the status of PODRES_GET
		contradictions []string
	}{
		{"a release", KubeletObservation{Claims: says("v1.34.1"), Served: served(ServedOn, ServedOn)}, nil, "1.34.1", Exact, "like every patch release of 1.34", "ok", nil},
		{"a vendor's", KubeletObservation{Claims: says("v1.30.4+k3s1")}, nil, "1.30.4", VendorBuild, "", "conditional", nil},
		{"nothing", KubeletObservation{}, nil, "", NoMatch, "nothing tells which release it is", "unknown", nil},
		{"no version", KubeletObservation{Claims: says("vX")}, nil, "", NoMatch, "invalid runtime", "unknown", nil},
		{"the next best", KubeletObservation{Claims: []Claim{{"vX", "a"}, {"v1.36.0", "b"}}}, nil, "1.36.0", Exact, "", "ok", nil},
		{"a release that nobody knows", KubeletObservation{Claims: says("v1.99.0"), Served: served(ServedOff, ServedOn)}, nil, "1.99.0", NoMatch, "no release line 1.99", "unknown", nil},
		{"two versions", KubeletObservation{Claims: []Claim{{"v1.34.1", "the kubelet"}, {"v1.33.0-k3s1", "its build information"}, {"v1.34.1+k3s1", "its path"}}}, nil,
			"1.34.1", Exact, "", "ok", []string{"the kubelet says it is 1.34.1, its build information says 1.33.0"}},
		{"the gate is off, as the file says", KubeletObservation{Claims: says("v1.34.1"), Served: served(ServedOff, ServedOn)}, file("false"), "1.34.1", Exact, "", "conditional", nil},
		{"the file says on, the kubelet off", KubeletObservation{Claims: says("v1.34.1"), Served: served(ServedOff, ServedOn)}, file("true"), "1.34.1", Exact, "", "conditional",
			[]string{"featureGates.KubeletPodResourcesGet is true (/kubelet.yaml), but the kubelet answers as if it were false"}},
		{"off although on by default", KubeletObservation{Claims: says("v1.34.1"), Served: served(ServedOff, ServedOn)}, nil, "1.34.1", Exact, "", "conditional",
			[]string{"featureGates.KubeletPodResourcesGet is true by default and set nowhere, but the kubelet answers as if it were false"}},
		{"on although off by default", KubeletObservation{Claims: says("v1.33.0"), Served: served(ServedOn, ServedOn)}, nil, "1.33.0", Exact, "", "ok",
			[]string{"featureGates.KubeletPodResourcesGet is false by default and set nowhere, but the kubelet answers as if it were true"}},
		{"settings that nobody could read", KubeletObservation{Claims: says("v1.33.0"), Served: served(ServedOn, ServedOn)}, Values{"featureGates.KubeletPodResourcesGet": {Origin: "unknown"}},
			"1.33.0", Exact, "", "ok", nil},
		{"assumed", KubeletObservation{Claims: says("v1.33.0"), Served: served(ServedOn, ServedOn)}, Values{"featureGates.KubeletPodResourcesGet": {Value: "false", Origin: "assumed"}},
			"1.33.0", Exact, "", "conditional", nil},
		{"too old to serve it", KubeletObservation{Claims: says("v1.26.0"), Served: served(ServedOff, ServedOn)}, nil, "1.26.0", Exact, "", "unknown",
			[]string{"PODRES_GET is off in the pod resources service of the kubelet, which is not so in 1.26.0"}},
		{"too new not to", KubeletObservation{Claims: says("v1.36.0"), Served: served(ServedAbsent, ServedOn)}, nil, "1.36.0", Exact, "", "unknown",
			[]string{"PODRES_GET is absent in the pod resources service of the kubelet, which is not so in 1.36.0"}},
		{"too new for a gate", KubeletObservation{Claims: says("v1.36.0"), Served: served(ServedOff, ServedOn)}, nil, "1.36.0", Exact, "", "unknown",
			[]string{"PODRES_GET is off in the pod resources service of the kubelet, which is not so in 1.36.0"}},
		{"the socket alone: before", KubeletObservation{Served: served(ServedAbsent, ServedAbsent)}, nil, "", NoMatch, "it is 1.20 or older", "unknown", nil},
		{"the socket alone: between", KubeletObservation{Served: served(ServedAbsent, ServedOn)}, nil, "", NoMatch, "it is 1.21 to 1.26", "unknown", nil},
		{"the socket alone: gate off", KubeletObservation{Served: served(ServedOff, ServedOn)}, nil, "", NoMatch, "it is 1.27 to 1.35", "unknown", nil},
		{"the socket alone: on", KubeletObservation{Served: served(ServedOn, ServedOn)}, nil, "", NoMatch, "it is 1.27 or newer", "unknown", nil},
		{"the socket alone: what cannot be", KubeletObservation{Served: served(ServedOn, ServedAbsent)}, nil, "", NoMatch, "nothing tells which release it is", "unknown", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := len(test.values)
			s := Builtin().ObserveKubelet(test.o, test.values)
			version := ""
			if !s.Runtime.Version.IsZero() {
				version = s.Runtime.Version.String()
			}
			if s.Runtime.Name != Kubelet || version != test.version || s.Match != test.match || !strings.Contains(s.Why, test.why) {
				t.Errorf("%s, %s, %q", s.Runtime, s.Match, s.Why)
			}
			if got := s.Answer(get).Status().String(); got != test.get {
				t.Errorf("PODRES_GET is %s, want %s", got, test.get)
			}
			if d := cmp.Diff(test.contradictions, s.Contradictions); d != "" {
				t.Error(d)
			}
			if len(test.values) != given {
				t.Error("the values of the caller were changed")
			}
			if s.NRI() != "" || s.Answer(capability.AdjustMounts).State != capability.Unknown {
				t.Error("it answers for the container runtime")
			}
		})
	}
}
