package inference_test

import (
	"fmt"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// A plugin asks in its Configure handler, with what it is given there, and
// refuses to start where something required is missing.
func Example() {
	configure := func(name, version string) error {
		runtime, err := inference.NewRuntime(name, version)
		if err != nil {
			return err
		}
		have := inference.Builtin().Lookup(runtime, nil)
		need := capability.Needs{Requirements: []capability.Requirement{
			{Capability: capability.AdjustCDIDevices},
			{Capability: capability.InputIPAddresses, Level: capability.Wants},
		}}
		report := capability.Check(need, have)
		for _, item := range report.Items {
			fmt.Printf("%s %s: %s\n", item.Requirement.Level, item.Requirement.Capability, item.Status)
		}
		if report.Verdict != capability.Compatible {
			return fmt.Errorf("%s: %s", runtime, report.Verdict)
		}
		return nil
	}
	fmt.Println(configure("containerd", "v2.1.3"))
	fmt.Println(configure("v2", "v2.0.2"))
	// Output:
	// requires ADJUST_CDI_DEVICES: ok
	// wants INPUT_IP_ADDRESSES: ok
	// <nil>
	// requires ADJUST_CDI_DEVICES: missing
	// wants INPUT_IP_ADDRESSES: missing
	// containerd@2.0.2: incompatible
}

// Where does a capability work, and since when?
func ExampleTable_History() {
	for _, s := range inference.Builtin().History(capability.AdjustLinuxSysctl, inference.Containerd) {
		fmt.Println(s.From, s.To, s.Range.State)
	}
	// Output:
	// 1.7.0 1.7.36 no
	// 2.0.0 2.0.14 no
	// 2.1.0 2.1.9 no
	// 2.2.0 2.2.0 no
	// 2.2.1 2.2.9 harmful
	// 2.3.0 2.3.7 yes
	// 2.4.0 2.4.2 yes
}
