package inference

import (
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// The runtimes' built-in default validator (NRI v0.10.0) can be told to reject
// adjustments that the runtime itself is able to make.

const (
	validatorEnable = "nri.default_validator.enable"
	validatorReject = "nri.default_validator.reject_"
)

// validatorRules are the adjustments that each of its switches rejects. The
// three for seccomp tell apart by the profile of the pod, which nobody knows
// beforehand: any of them can reject.
var validatorRules = []struct {
	setting string
	rejects []capability.ID
}{
	{validatorReject + "oci_hook_adjustment", []capability.ID{capability.AdjustOCIHooks}},
	{validatorReject + "namespace_adjustment", []capability.ID{capability.AdjustLinuxNamespaces, capability.AdjustLinuxNamespacesRemoval}},
	{validatorReject + "sysctl_adjustment", []capability.ID{capability.AdjustLinuxSysctl, capability.AdjustLinuxSysctlRemoval}},
	{validatorReject + "runtime_default_seccomp_adjustment", []capability.ID{capability.AdjustLinuxSeccompPolicy, capability.AdjustLinuxSeccompErrnoRet}},
	{validatorReject + "unconfined_seccomp_adjustment", []capability.ID{capability.AdjustLinuxSeccompPolicy, capability.AdjustLinuxSeccompErrnoRet}},
	{validatorReject + "custom_seccomp_adjustment", []capability.ID{capability.AdjustLinuxSeccompPolicy, capability.AdjustLinuxSeccompErrnoRet}},
}

// validated takes the default validator into account: what works but is
// rejected, or may be for all that is known of the configuration, depends on
// the switch that rejects it.
func (s Support) validated(id capability.ID, a capability.Answer) capability.Answer {
	if a.Status() != capability.StatusOK {
		return a
	}
	for _, rule := range validatorRules {
		if !slices.Contains(rule.rejects, id) {
			continue
		}
		enabled := s.table.condition(validatorEnable+"=false", *s.Row, s.values)
		rejects := s.table.condition(rule.setting+"=false", *s.Row, s.values)
		if _, has := s.table.Default(rule.setting, s.Row.Runtime, s.Row.Version); !has || enabled.Met() || rejects.Met() {
			continue
		}
		a.State, a.Effect = capability.Conditional, capability.CreateError
		a.Settings = append(slices.Clone(a.Settings), rejects)
		a.Consequence = "the container is not created: the default validator rejects the adjustment"
		a.Note = "the default validator of the runtime rejects it, or its configuration is not known"
		if !enabled.Known() {
			a.Settings[len(a.Settings)-1] = enabled
		}
	}
	return a
}
