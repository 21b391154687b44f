package inference_test

import (
	"context"
	"fmt"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// guarded is a plugin that looks at the runtime before it becomes active.
type guarded struct {
	podIPs bool // the runtime tells the addresses of pods
}

var _ stub.ConfigureInterface = (*guarded)(nil)

// Configure refuses a runtime that would drop the CDI devices of this plugin
// without a word, and falls back where the runtime does not tell pod addresses.
// An error from Configure keeps the plugin from being registered; a runtime of
// which nothing is known is given the benefit of the doubt, with a warning.
func (g *guarded) Configure(_ context.Context, _, name, version string) (api.EventMask, error) {
	runtime, err := inference.NewRuntime(name, version)
	if err != nil {
		fmt.Println("warning:", err)
		return 0, nil
	}
	have := inference.Builtin().Lookup(runtime, nil)
	g.podIPs = have.Answer(capability.InputIPAddresses).Status() == capability.StatusOK

	report := capability.Check(capability.Needs{Requirements: []capability.Requirement{
		{Capability: capability.EventCreateContainer},
		{Capability: capability.AdjustCDIDevices},
	}}, have)
	switch report.Verdict {
	case capability.Incompatible:
		for _, item := range report.Items {
			if item.Status != capability.StatusOK {
				return 0, fmt.Errorf("%s %s: %s is %s (%s)", runtime.Name, runtime.Version,
					item.Requirement.Capability, item.Status, item.Answer.Effect)
			}
		}
	case capability.Inconclusive:
		fmt.Println("warning: not everything is known of", runtime.Name, runtime.Version)
	}
	return 0, nil // 0 is every event that the plugin has a handler for
}

// A plugin asks the table in its own Configure handler.
func Example_configure() {
	for _, r := range [][2]string{{"containerd", "v2.1.3"}, {"v2", "v2.0.2"}, {"cri-o", "1.34.2"}, {"containerd", "2.9.0"}} {
		g := &guarded{}
		_, err := g.Configure(context.Background(), "", r[0], r[1])
		fmt.Println(r[0], r[1], "error:", err, "pod IPs:", g.podIPs)
	}
	// Output:
	// containerd v2.1.3 error: <nil> pod IPs: true
	// v2 v2.0.2 error: containerd 2.0.2: ADJUST_CDI_DEVICES is missing (dropped) pod IPs: false
	// cri-o 1.34.2 error: <nil> pod IPs: true
	// warning: not everything is known of containerd 2.9.0
	// containerd 2.9.0 error: <nil> pod IPs: false
}
