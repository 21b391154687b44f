package capability

import "slices"

// Groups returns what is needed: the alternatives of each group together, every
// other requirement by itself, in the order of their first members.
func (n Needs) Groups() [][]Requirement {
	var groups [][]Requirement
	at := map[string]int{}
	for _, r := range n.Requirements {
		i, seen := at[r.OneOf]
		if r.OneOf == "" || !seen {
			at[r.OneOf] = len(groups)
			groups = append(groups, []Requirement{r})
			continue
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// Required counts what is required. Alternatives count as one, which is
// required if any of them is.
func (n Needs) Required() int {
	count := 0
	for _, group := range n.Groups() {
		if slices.ContainsFunc(group, func(r Requirement) bool { return r.Level == Requires }) {
			count++
		}
	}
	return count
}

// weigh fills in with which status each item counts, see [Item.Counts].
func weigh(items []Item) {
	best := map[string]Status{}
	for _, i := range items {
		b, seen := best[i.Requirement.OneOf]
		if !seen || i.Status.Rank() < b.Rank() {
			best[i.Requirement.OneOf] = i.Status
		}
	}
	for n := range items {
		i := &items[n]
		i.Counts = i.Status
		if i.Requirement.OneOf != "" && i.Status != StatusHarmful {
			i.Counts = best[i.Requirement.OneOf]
		}
	}
}
