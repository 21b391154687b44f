package cmd

import (
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// deciding leaves out the runtimes that decide about nothing of what is needed,
// if others that were asked for do: with a kubelet and a container runtime each
// plugin is checked against the one that it is for. Where none does they stay,
// and say so.
func deciding(need capability.Needs, supports []inference.Support) []inference.Support {
	if len(need.Requirements) == 0 {
		return supports
	}
	names := inference.RuntimesForNeeds(need)
	left := slices.DeleteFunc(slices.Clone(supports), func(s inference.Support) bool {
		return s.Runtime.Name != "" && !slices.Contains(names, s.Runtime.Name)
	})
	if len(left) == 0 {
		return supports
	}
	return left
}

// runtimeNames lists the runtimes that were asked about and that decide about
// something of what is needed, each once.
func runtimeNames(need capability.Needs, supports []inference.Support) []string {
	var names []string
	for _, name := range inference.RuntimesForNeeds(need) {
		if slices.ContainsFunc(supports, func(s inference.Support) bool { return s.Runtime.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}
