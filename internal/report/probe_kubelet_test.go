package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// TestProbeWithKubelet: the kubelet is in every format, whatever strings a node
// holds, and JSON fits its schema.
func TestProbeWithKubelet(t *testing.T) {
	const evil = "a\x1b[31m|b\nc`<d>\u202e"
	values := inference.Values{"featureGates.KubeletPodResourcesGet": {Value: "true", Origin: evil}}
	kubelet := func(version string, served inference.Served) *NodeKubelet {
		claims := []inference.Claim{{Version: version, Origin: "the kubelet"}, {Version: "v1.33.0", Origin: evil}}
		k := NewNodeKubelet(inference.Builtin().ObserveKubelet(inference.KubeletObservation{
			Claims: claims, Served: map[capability.ID]inference.Served{capability.PodresGet: served},
		}, values), claims)
		k.Problems = append(k.Problems, evil)
		return k
	}
	full := kubelet("v1.34.1", inference.ServedOff)
	full.Inside, full.Process = evil, &Process{PID: 7, Exe: evil}
	full.Config = &NodeConfig{Files: []string{evil}, Settings: []ConfigSetting{{Name: "featureGates." + evil, Value: "true", Key: "--feature-gates"}}, Notes: []string{evil}}
	full.PodResources = &KubeletPodResources{Socket: evil, Get: "off", GetAllocatableResources: "on"}
	full.Registration = &KubeletRegistration{Socket: evil, Answer: evil, Versions: []string{"v1beta1", evil}, Left: []string{evil}}
	none := inference.Builtin().Observe(inference.Observation{}, nil)
	none.Why = evil
	runtime, err := inference.NewRuntime("containerd", "v2.1.3")
	if err != nil {
		t.Fatal(err)
	}
	some := inference.Builtin().Lookup(runtime, nil)
	schema := mustCompile("../../testdata/schema/probe.v1.json")
	for _, test := range []struct {
		name    string
		nri     string
		support inference.Support
		kubelet *NodeKubelet
		says    []string // of the text
		not     string
	}{
		{"all of it, without a container runtime", "unknown", none, full, []string{
			"no container runtime\n", "\nkubelet 1.34.1 inside ", "  version v1.34.1: the kubelet says so\n",
			"  contradiction: the kubelet says it is 1.34.1, ", "  contradiction: featureGates.KubeletPodResourcesGet is true (",
			" is true (--feature-gates)\n", " answers, Get is off, GetAllocatableResources is on\n", " is alive and serves v1beta1, ",
			"  38 capabilities: ", "PODRES_GET needs featureGates.KubeletPodResourcesGet=true, which is false (its pod resources service)",
		}, "unknown runtime"},
		{"of no known release", "unknown", none, kubelet("vX", inference.ServedOff), []string{"kubelet 1.33.0   table "}, " inside "},
		{"beside a container runtime", "on", some, kubelet("v1.36.0", inference.ServedOn), []string{"containerd 2.1.3   NRI v0.8.0", "\nkubelet 1.36.0   table "}, "no container runtime"},
		{"no kubelet", "on", some, nil, []string{"containerd 2.1.3   NRI v0.8.0"}, "kubelet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := NewProbe(NewHead("probe", "v1", inference.Builtin()), test.nri, test.support)
			doc.Kubelet = test.kubelet
			for _, format := range Formats(doc) {
				var b bytes.Buffer
				if err := Write(&b, doc, format, Style{}); err != nil {
					t.Fatalf("%s: %v", format, err)
				}
				text := b.String()
				var err error
				switch format {
				case JSON:
					err = validateJSON(schema, b.Bytes())
					if strings.Contains(text, `"kubelet": {`) != (test.kubelet != nil) {
						err = fmt.Errorf("the kubelet is wrongly there or not")
					}
				case Text, Markdown:
					err = noControls(b.Bytes(), "\n")
				}
				if err != nil {
					t.Errorf("%s: %v", format, err)
				}
				if format != Text {
					continue
				}
				for _, says := range test.says {
					if !strings.Contains(text, says) {
						t.Errorf("no %q in\n%s", says, text)
					}
				}
				if strings.Contains(text, test.not) {
					t.Errorf("%q in\n%s", test.not, text)
				}
			}
		})
	}
}
