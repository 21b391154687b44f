package inference

import (
	"cmp"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// BuildAdvice says which version of the NRI library is the newest whose API no
// release of some runtimes lacks a part of, and what is given up with it.
//
// It is advice, not a rule: a plugin built with a newer library works on older
// runtimes as long as it uses nothing that they lack. With the advised version
// the compiler keeps it from doing so.
type BuildAdvice struct {
	// NRI is the advised version, with "v"; empty if no runtime is known.
	NRI string
	// Oldest is the first of the runtimes that carries that version.
	Oldest Runtime
	// Given are the capabilities that the API of that version has no words for
	// although some of the runtimes have them, sorted by name.
	Given []GivenUp
	// Unknown are runtimes that the table knows nothing of, or that have no NRI.
	Unknown []Support
}

// GivenUp is a capability that a plugin cannot use with the advised version.
type GivenUp struct {
	Capability capability.ID
	// Since is the first NRI version whose API has it.
	Since string
	// First is the first of the runtimes on which it works, perhaps with a
	// setting; On counts them.
	First Runtime
	On    int
}

// AdviseBuild advises which version of the NRI library to build a plugin with
// that is meant for the given runtimes.
func AdviseBuild(supports []Support) BuildAdvice {
	var a BuildAdvice
	var lowest NRIVersion
	var known []Support
	for _, s := range supports {
		v, err := ParseNRIVersion(s.NRI())
		if s.Row == nil || err != nil {
			a.Unknown = append(a.Unknown, s)
			continue
		}
		known = append(known, s)
		if a.NRI == "" || v.Compare(lowest) < 0 {
			a.NRI, a.Oldest, lowest = s.NRI(), s.Runtime, v
		}
	}
	if a.NRI == "" {
		return a
	}
	library := Library{Version: lowest}
	for _, id := range capability.All() {
		e, ok := capability.Lookup(id)
		if !ok || e.SinceProto == "" || library.has(e.SinceProto) {
			continue
		}
		g := GivenUp{Capability: id, Since: e.SinceProto}
		for _, s := range known {
			switch s.Answer(id).State {
			case capability.Yes, capability.Partial, capability.Conditional:
				if g.On == 0 {
					g.First = s.Runtime
				}
				g.On++
			}
		}
		if g.On > 0 {
			a.Given = append(a.Given, g)
		}
	}
	slices.SortFunc(a.Given, func(x, y GivenUp) int { return cmp.Compare(x.Capability.String(), y.Capability.String()) })
	return a
}
