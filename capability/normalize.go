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

// takeOut looks for a capability that stands alone and in a group. If the group
// needs more, which one of its members can make it, the capability is left to
// the group. Otherwise alone wins. It tells whether it found one.
func takeOut(reqs []Requirement) bool {
	levels := map[string]Level{}
	for _, r := range reqs {
		if level, seen := levels[r.OneOf]; !seen || r.Level < level {
			levels[r.OneOf] = r.Level
		}
	}
	for a := range reqs {
		for g := range reqs {
			group := reqs[g].OneOf
			switch {
			case reqs[a].OneOf != "" || group == "" || reqs[a].Capability != reqs[g].Capability:
			case levels[group] < reqs[a].Level:
				reqs[a].OneOf = group
				return true
			default:
				settle(reqs, group, reqs[a].Capability)
				return true
			}
		}
	}
	return false
}

// settle dissolves a group because one of its members is needed alone.
func settle(reqs []Requirement, group string, alone ID) {
	for i := range reqs {
		r := &reqs[i]
		if r.OneOf != group {
			continue
		}
		r.OneOf = ""
		if r.Capability != alone {
			r.Level = Wants
			r.Note = cmp.Or(r.Note, "an alternative to "+alone.String())
		}
	}
}
