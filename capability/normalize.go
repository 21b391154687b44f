package capability

import (
	"cmp"
	"slices"
	"strings"
)

// Normalize returns requirements sorted by capability name with one entry a
// capability. Where a capability was given twice, the stronger level wins, the
// evidence is joined, and it counts as unproven only if every entry was.
//
// Groups get the names of their members, sorted and joined by "/", as names; a
// group of one is none. Where a capability is required alone and in a group as
// well, alone wins: with it the group is settled, so that the alternatives to it
// are only wanted. A capability in two groups has an entry in each.
func Normalize(reqs []Requirement) []Requirement {
	out := make([]Requirement, 0, len(reqs))
	for _, r := range reqs {
		r.Evidence = slices.Clone(r.Evidence)
		out = append(out, r)
	}
	out = joinEqual(out)
	for settled := false; !settled; {
		nameGroups(out)
		out = joinEqual(out)
		settled = !takeOut(out)
	}
	slices.SortFunc(out, func(a, b Requirement) int {
		return cmp.Or(cmp.Compare(a.Capability.String(), b.Capability.String()), cmp.Compare(a.OneOf, b.OneOf))
	})
	return out
}

// joinEqual joins the entries with the same capability and group, in the order
// of the first of them.
func joinEqual(reqs []Requirement) []Requirement {
	type key struct {
		id    ID
		group string
	}
	at := make(map[key]int, len(reqs))
	out := reqs[:0]
	for _, r := range reqs {
		k := key{r.Capability, r.OneOf}
		if i, seen := at[k]; seen {
			out[i].join(r)
			continue
		}
		at[k] = len(out)
		out = append(out, r)
	}
	return out
}

// join adds to a requirement what another one of the same capability says.
func (r *Requirement) join(o Requirement) {
	r.Level = min(r.Level, o.Level)
	r.Unproven = r.Unproven && o.Unproven
	if r.Note == "" {
		r.Note = o.Note
	}
	for _, e := range o.Evidence {
		if !slices.Contains(r.Evidence, e) {
			r.Evidence = append(r.Evidence, e)
		}
	}
}

// nameGroups names each group by its members; one with a single member loses
// its name.
func nameGroups(reqs []Requirement) {
	members := map[string][]string{}
	for _, r := range reqs {
		if name := r.Capability.String(); r.OneOf != "" && !slices.Contains(members[r.OneOf], name) {
			members[r.OneOf] = append(members[r.OneOf], name)
		}
	}
	for i := range reqs {
		list := members[reqs[i].OneOf]
		slices.Sort(list)
		reqs[i].OneOf = ""
		if len(list) > 1 {
			reqs[i].OneOf = strings.Join(list, "/")
		}
	}
}

// takeOut looks for capabilities that stand alone and in a group. If a group
// needs more, which one of its members can make it, the capability is left to
// the group. Otherwise alone wins, and the group is dissolved: the alternatives
// are only wanted. It tells whether it found any.
func takeOut(reqs []Requirement) bool {
	levels := map[string]Level{}
	alone := map[ID]Level{}
	for _, r := range reqs {
		if level, seen := levels[r.OneOf]; !seen || r.Level < level {
			levels[r.OneOf] = r.Level
		}
		if r.OneOf == "" {
			alone[r.Capability] = r.Level
		}
	}
	left := map[ID]string{}    // capabilities that are left to a group
	settled := map[string]ID{} // groups, each with what is needed alone
	for _, r := range reqs {
		if level, ok := alone[r.Capability]; ok && r.OneOf != "" && levels[r.OneOf] < level {
			left[r.Capability] = r.OneOf
		}
	}
	for _, r := range reqs {
		_, stands := alone[r.Capability]
		_, leaves := left[r.Capability]
		if _, done := settled[r.OneOf]; r.OneOf != "" && stands && !leaves && !done {
			settled[r.OneOf] = r.Capability
		}
	}
	for i := range reqs {
		r := &reqs[i]
		if r.OneOf == "" {
			r.OneOf = left[r.Capability]
			continue
		}
		id, ok := settled[r.OneOf]
		if !ok {
			continue
		}
		r.OneOf = ""
		if r.Capability != id {
			r.Level = Wants
			r.Note = cmp.Or(r.Note, "an alternative to "+id.String())
		}
	}
	return len(left)+len(settled) > 0
}
