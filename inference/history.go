package inference

import "github.com/nri-compat/nri-compat/capability"

// Segment is a run of releases of one line, pre-releases left out, that treat
// a capability alike.
type Segment struct {
	Line     string
	From, To Version
	// ToNewest is set if To is the newest release of its line in the table, so
	// that the run may well go on.
	ToNewest bool
	// Whole is set if the run is the whole line.
	Whole bool
	Range Range
}

// History tells how a capability fares in the releases of a runtime, line by
// line, oldest first. Pre-releases are left out, as is the development
// snapshot; [Table.Ranges] has them.
func (t *Table) History(id capability.ID, runtime string) []Segment {
	var out []Segment
	all := t.Ranges(id, runtime)
	for _, line := range t.lines[runtime] {
		n := 0 // ranges stand line by line, in the order of the lines
		for n < len(all) && all[n].Line == line.name {
			n++
		}
		out = append(out, line.history(all[:n])...)
		all = all[n:]
	}
	return out
}

func (l releaseLine) history(ranges []Range) []Segment {
	var out []Segment
	last := -1
	for _, rel := range l.rows {
		if rel.Version.Prerelease() {
			continue
		}
		at := -1
		for i, r := range ranges {
			if r.From.Compare(rel.Version) <= 0 {
				at = i
			}
		}
		if at < 0 {
			last = -1
			continue
		}
		if at != last {
			out = append(out, Segment{Line: l.name, From: rel.Version, Range: ranges[at]})
			last = at
		}
		out[len(out)-1].To = rel.Version
	}
	if n := len(out); n > 0 {
		out[n-1].ToNewest = last >= 0
		out[0].Whole = n == 1 && last >= 0
	}
	return out
}
