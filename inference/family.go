package inference

import (
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// FamilyOf returns the family of the capabilities that a runtime decides
// about: the kubelet's own for the kubelet, those of NRI for every other.
func FamilyOf(runtime string) capability.Family {
	if runtime == Kubelet {
		return capability.Kubelet
	}
	return capability.NRI
}

// CapabilitiesOf returns the capabilities that a runtime decides about, sorted
// by name.
func CapabilitiesOf(runtime string) []capability.ID { return capability.OfFamily(FamilyOf(runtime)) }

// RuntimesFor returns the runtimes that decide about any of the capabilities,
// in display order; without a capability those of NRI.
func RuntimesFor(ids ...capability.ID) []string {
	return slices.DeleteFunc(Runtimes(), func(name string) bool {
		if len(ids) == 0 {
			return FamilyOf(name) != capability.NRI
		}
		return !slices.ContainsFunc(ids, func(id capability.ID) bool { return id.Kind().Family() == FamilyOf(name) })
	})
}

func needed(need capability.Needs) []capability.ID {
	var ids []capability.ID
	for _, r := range need.Requirements {
		ids = append(ids, r.Capability)
	}
	return ids
}

// RuntimesForNeeds returns the runtimes that decide about anything a plugin
// needs, in display order; those of NRI if nothing is known to be needed.
func RuntimesForNeeds(need capability.Needs) []string {
	return RuntimesFor(needed(need)...)
}

// NeedsDecidedBy returns the part of what a plugin needs that a runtime decides
// about, with all gaps: of alternatives all, if it decides about one.
func NeedsDecidedBy(runtime string, need capability.Needs) capability.Needs {
	out := capability.Needs{Gaps: need.Gaps}
	for _, group := range need.Groups() {
		if decides(runtime, group) {
			out.Requirements = append(out.Requirements, group...)
		}
	}
	return out
}

// decides tells whether a runtime decides about any of some alternatives.
func decides(runtime string, group []capability.Requirement) bool {
	return slices.ContainsFunc(group, func(r capability.Requirement) bool {
		return r.Capability.Kind().Family() == FamilyOf(runtime)
	})
}

// elsewhere is the answer of a runtime about a capability that another one
// decides about: nothing. It is neither no, since the plugin may well have it
// from the other one, nor yes.
func elsewhere(id capability.ID, runtime string) capability.Answer {
	if id.Kind().Family() == capability.Kubelet {
		return capability.Answer{Note: fmt.Sprintf("the kubelet decides about it, not %s: check it against a kubelet", runtime)}
	}
	return capability.Answer{Note: "the container runtime decides about it, not the kubelet: check it against containerd or CRI-O"}
}
