package inference

import (
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// Outcome is the verdict for one plugin on one runtime.
type Outcome struct {
	Support Support
	// Below is the container runtime that a kubelet was checked together with;
	// nil for a runtime by itself.
	Below  *Support
	Report capability.Report
}

// Group is a run of neighbouring releases of one runtime with the same
// outcome; a single runtime is a group of one.
type Group struct {
	// Outcomes are oldest first.
	Outcomes []Outcome
}

// First and Last are the outcomes at the ends of the run.
func (g Group) First() Outcome { return g.Outcomes[0] }

// Last is the outcome of the newest release of the run.
func (g Group) Last() Outcome { return g.Outcomes[len(g.Outcomes)-1] }

// LookupAll looks up several runtimes.
func (t *Table) LookupAll(runtimes []Runtime, values Values) []Support {
	supports := make([]Support, len(runtimes))
	for i, r := range runtimes {
		supports[i] = t.Lookup(r, values)
	}
	return supports
}

// Evaluate checks a plugin's needs against each runtime and joins neighbours
// with the same outcome: the same verdict, for the same reasons. The groups
// keep the order of the runtimes.
func (t *Table) Evaluate(need capability.Needs, supports []Support) []Group {
	return t.EvaluateEach(func(Support) capability.Needs { return need }, supports)
}

// EvaluateEach is [Table.Evaluate] for needs that depend on the runtime, such as
// those of a plugin of which something is excused on some releases.
func (t *Table) EvaluateEach(need func(Support) capability.Needs, supports []Support) []Group {
	var groups []Group
	for _, s := range supports {
		o := Outcome{Support: s, Report: capability.Check(need(s), s)}
		if n := len(groups); n > 0 && t.joins(groups[n-1].Last(), o) {
			groups[n-1].Outcomes = append(groups[n-1].Outcomes, o)
			continue
		}
		groups = append(groups, Group{[]Outcome{o}})
	}
	return groups
}

// joins tells whether b may stand in one group with a: both are rows of the
// table, with no other release of the table between them, and alike.
func (t *Table) joins(a, b Outcome) bool {
	if a.Support.Match != Exact || b.Support.Match != Exact || a.Support.observed || b.Support.observed || a.Support.Runtime.Name != b.Support.Runtime.Name {
		return false
	}
	if a.Report.Verdict != b.Report.Verdict || !slices.EqualFunc(a.Report.Items, b.Report.Items, alike) || !slices.Equal(a.Report.Gaps, b.Report.Gaps) {
		return false
	}
	if !sameSwitch(a.Support, b.Support) {
		return false
	}
	for _, r := range t.rows.Releases {
		if r.Runtime == a.Support.Runtime.Name && !r.Version.Prerelease() &&
			r.Version.Compare(a.Support.Runtime.Version) > 0 && r.Version.Compare(b.Support.Runtime.Version) < 0 {
			return false
		}
	}
	return a.Support.Runtime.Version.Compare(b.Support.Runtime.Version) < 0
}

// alike tells whether a person would be told the same about two items.
func alike(a, b capability.Item) bool {
	x, y := a.Answer, b.Answer
	if a.Requirement.Level != b.Requirement.Level || a.Requirement.Note != b.Requirement.Note {
		return false // excused in one only, or for another reason
	}
	return a.Status == b.Status && a.Counts == b.Counts && x.State == y.State && x.Effect == y.Effect && x.Note == y.Note &&
		slices.Equal(x.Settings, y.Settings) &&
		slices.EqualFunc(x.Bugs, y.Bugs, func(m, n capability.Bug) bool { return m.ID == n.ID })
}

// sameSwitch tells whether NRI is on by default in both or in neither.
func sameSwitch(a, b Support) bool {
	x, xok := a.NRISwitch()
	y, yok := b.NRISwitch()
	return xok == yok && x.Value == y.Value
}

// Worst orders groups for display: incompatible first, those that do harm
// before the others, then inconclusive, then compatible; otherwise as given.
func Worst(groups []Group) []Group {
	out := slices.Clone(groups)
	slices.SortStableFunc(out, func(a, b Group) int { return badness(b) - badness(a) })
	return out
}

func badness(g Group) int {
	r := g.Last().Report
	n := 0
	switch r.Verdict {
	case capability.Incompatible:
		n = 200
	case capability.Inconclusive:
		n = 100
	}
	for _, i := range r.Items {
		if i.Status == capability.StatusHarmful {
			n += 50
			break
		}
	}
	return n
}
