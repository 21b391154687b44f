package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

// DifferenceKind tells how declaration and detection differ.
type DifferenceKind string

const (
	// NotDetected: declared as required or wanted, but not seen in the plugin.
	NotDetected DifferenceKind = "declared-not-detected"
	// NotDeclared: seen in the plugin, but in no list of the manifest. It stays
	// required.
	NotDeclared DifferenceKind = "detected-not-declared"
	// OtherAlternative: seen in the plugin as an alternative to what is declared
	// as required, but in no list of the manifest. It is only wanted.
	OtherAlternative DifferenceKind = "alternative-not-declared"
	// StaleExclusion: excluded, but not seen in the plugin either.
	StaleExclusion DifferenceKind = "excluded-not-detected"
)

// Difference is one capability on which manifest and plugin do not agree.
type Difference struct {
	Capability capability.ID  `json:"capability"`
	Kind       DifferenceKind `json:"kind"`
	// List is the list of the manifest that names it: "requires", "wants" or
	// "excludes"; empty for [NotDeclared] and [OtherAlternative].
	List string `json:"list,omitempty"`
}

// String says the difference in one sentence.
func (d Difference) String() string {
	switch d.Kind {
	case NotDetected:
		return fmt.Sprintf("%s is declared in %q but was not detected", d.Capability, d.List)
	case OtherAlternative:
		return fmt.Sprintf("%s was detected but is not declared; it counts as wanted, since an alternative to it is required", d.Capability)
	case StaleExclusion:
		return fmt.Sprintf("%s is declared in \"excludes\" but was not detected, so the exclusion can go", d.Capability)
	}
	return fmt.Sprintf("%s was detected but is not declared; it counts as required", d.Capability)
}

// Apply returns the plugin as its author declares it, and where declaration and
// detection differ, sorted by capability name. It changes neither argument.
//
// "requires" makes a capability required, and adds one that was not detected
// with source declared; "wants" does the same with the level wants; "excludes"
// drops what was detected. What was detected and is not in the manifest stays as
// it is: silence is no declaration. That holds for alternatives too, unless the
// manifest requires one of them: then it says what it takes, and the others are
// only wanted. Gaps stay too, because a manifest does not
// make unreadable code readable; for a plugin that nothing could be read of use
// [Manifest.Declared].
func Apply(p found.Plugin, m Manifest) (found.Plugin, []Difference) {
	detected := map[capability.ID]capability.Requirement{}
	for _, r := range capability.Normalize(p.Requirements) {
		detected[r.Capability] = r
	}
	var reqs []capability.Requirement
	var diffs []Difference
	settled := map[string]bool{} // groups of detected alternatives of which one is required
	declare := func(entries []Entry, list string, level capability.Level) {
		for _, e := range entries {
			r, ok := detected[e.Capability]
			if !ok {
				diffs = append(diffs, Difference{e.Capability, NotDetected, list})
				r = capability.Requirement{Capability: e.Capability, Source: capability.Declared}
			}
			delete(detected, e.Capability)
			if r.OneOf != "" && level == capability.Requires {
				settled[r.OneOf] = true
			}
			reqs = append(reqs, m.declared(r, e, list, level))
		}
	}
	declare(m.Requires, "requires", capability.Requires)
	declare(m.Wants, "wants", capability.Wants)
	for _, e := range m.Excludes {
		if _, ok := detected[e.Capability]; !ok {
			diffs = append(diffs, Difference{e.Capability, StaleExclusion, "excludes"})
		}
		delete(detected, e.Capability)
	}
	for id, r := range detected {
		kind := NotDeclared
		if settled[r.OneOf] {
			r.Level, r.OneOf, kind = capability.Wants, "", OtherAlternative
		}
		diffs = append(diffs, Difference{id, kind, ""})
		reqs = append(reqs, r)
	}
	slices.SortFunc(diffs, func(a, b Difference) int {
		return cmp.Compare(a.Capability.String(), b.Capability.String())
	})
	p.Requirements = capability.Normalize(reqs)
	p.Supports = slices.Clone(m.Runtimes)
	if m.Plugin != "" {
		p.Name = m.Plugin
	}
	return p, diffs
}

// declared returns r with what the manifest says of it.
func (m Manifest) declared(r capability.Requirement, e Entry, list string, level capability.Level) capability.Requirement {
	if e.OneOf != "" || level == capability.Requires {
		r.OneOf = e.OneOf // what is only wanted stays an alternative to the others
	}
	r.Level = level
	r.Unproven = false
	if e.Reason != "" {
		r.Note = e.Reason
	}
	r.Evidence = append(slices.Clone(r.Evidence), capability.Evidence{
		Kind: "manifest", File: m.Name, Line: e.Line, Detail: list,
	})
	return r
}

// Declared returns the plugin that the manifest alone describes, for a plugin
// that cannot be read by other means. A manifest that names nothing required or
// wanted leaves a gap: it does not say that the plugin needs nothing.
func (m Manifest) Declared() found.Plugin {
	p, _ := Apply(found.Plugin{Name: m.Name, Ref: m.Name, Path: m.Name, Reader: "manifest"}, m)
	if len(p.Requirements) == 0 {
		p.Gaps = append(p.Gaps, m.Name+" names no capability in \"requires\" or \"wants\"")
	}
	return p
}
