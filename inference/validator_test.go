package inference

import (
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func TestDefaultValidator(t *testing.T) {
	on := Value{"true", "assumed"}
	unknown := Value{Origin: "unknown"}
	for _, test := range []struct {
		runtime string
		values  Values
		id      capability.ID
		want    capability.Status
	}{
		{"containerd@2.2.0", nil, capability.AdjustOCIHooks, capability.StatusOK},
		{"containerd@2.2.0", Values{validatorEnable: on}, capability.AdjustOCIHooks, capability.StatusOK},
		{"containerd@2.2.0", Values{validatorReject + "oci_hook_adjustment": on}, capability.AdjustOCIHooks, capability.StatusOK},
		{"containerd@2.2.0", Values{validatorEnable: on, validatorReject + "oci_hook_adjustment": on}, capability.AdjustOCIHooks, capability.StatusConditional},
		{"containerd@2.2.0", Values{validatorEnable: on, validatorReject + "oci_hook_adjustment": on}, capability.AdjustMounts, capability.StatusOK},
		{"containerd@2.2.0", Values{validatorEnable: unknown, validatorReject + "oci_hook_adjustment": unknown}, capability.AdjustOCIHooks, capability.StatusUnknown},
		{"containerd@2.1.0", Values{validatorEnable: on, validatorReject + "oci_hook_adjustment": on}, capability.AdjustOCIHooks, capability.StatusOK},
		{"containerd@2.3.0", Values{validatorEnable: on, validatorReject + "sysctl_adjustment": on}, capability.AdjustLinuxSysctl, capability.StatusConditional},
		{"containerd@2.2.9", Values{validatorEnable: on, validatorReject + "sysctl_adjustment": on}, capability.AdjustLinuxSysctl, capability.StatusHarmful},
		{"cri-o@1.34.0", Values{validatorEnable: on, validatorReject + "custom_seccomp_adjustment": on}, capability.AdjustLinuxSeccompPolicy, capability.StatusConditional},
		{"cri-o@1.33.0", Values{validatorEnable: on, validatorReject + "namespace_adjustment": on}, capability.AdjustLinuxNamespaces, capability.StatusMissing},
	} {
		r, err := ParseRuntime(test.runtime)
		if err != nil {
			t.Fatal(err)
		}
		if got := Builtin().Lookup(r, test.values).Answer(test.id); got.Status() != test.want {
			t.Errorf("%s on %s with %v: %s, want %s", test.id, test.runtime, test.values, got.Status(), test.want)
		}
	}
	// Where the validator's settings are not known, what it cannot reject is.
	if got := Builtin().Lookup(Runtime{Name: Containerd, Version: Version{Major: 2, Minor: 3}}, Values{validatorEnable: unknown}).Answer(capability.AdjustMounts); got.Status() != capability.StatusOK {
		t.Errorf("ADJUST_MOUNTS: %s", got.Status())
	}
}
