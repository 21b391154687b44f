package inference

import (
	"cmp"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// AllBugs returns every known bug, by id and runtime.
func (t *Table) AllBugs() []Bug { return slices.Clone(t.rows.Bugs) }

// BugsByID returns the bug with the given id in each runtime that has it.
func (t *Table) BugsByID(id string) []Bug {
	var out []Bug
	for _, b := range t.rows.Bugs {
		if b.ID == id {
			out = append(out, b)
		}
	}
	return out
}

// BugsOf returns the known bugs of a release, worst first.
func (t *Table) BugsOf(r Release) []Bug {
	var out []Bug
	for _, b := range t.rows.Bugs {
		if b.Runtime == r.Runtime && b.affects(r.Version) != nil {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b Bug) int { return cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)) })
	return out
}

func severityRank(severity string) int {
	return slices.Index([]string{"critical", "high", "medium", "low"}, severity)
}

// affects returns the run of releases through which the bug is in v, nil if it
// is not.
func (b Bug) affects(v Version) *Affected {
	for i, a := range b.Affected {
		if a.Line == v.Line() && a.From.Compare(v) <= 0 && (a.Fixed.IsZero() || v.Compare(a.Fixed) < 0) {
			return &b.Affected[i]
		}
	}
	return nil
}

func (b Bug) touches(id capability.ID) bool { return slices.Contains(b.Touches, id) }

// in is the bug as one release has it.
func (b Bug) in(r Release) capability.Bug {
	out := capability.Bug{ID: b.ID, Severity: b.Severity, Text: b.Text}
	if a := b.affects(r.Version); a != nil && !a.Fixed.IsZero() {
		out.Fixed = a.Fixed.String()
	}
	return out
}
