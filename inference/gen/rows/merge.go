package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// Frozen returns the releases that are in the table and would change in what
// users are told of them. The development snapshot is no release.
func (c *Comparison) Frozen() []inference.Release {
	changed := map[string]bool{}
	for _, cell := range c.Cells {
		if !cell.Added && cell.New.State != capability.Unknown {
			changed[cell.Runtime+" "+cell.Version.String()] = true
		}
	}
	for _, f := range c.Facts {
		if f.Why == "" {
			changed[f.Runtime+" "+f.Version.String()] = true
		}
	}
	var out []inference.Release
	for _, r := range c.old.Releases {
		if !r.Version.Main && changed[r.Runtime+" "+r.Version.String()] {
			out = append(out, r)
		}
	}
	return out
}

// Merge returns the table with what was found. Changes of frozen releases need
// a reason, which is kept with the day in the table's changes.
func (c *Comparison) Merge(because, day string) (*Document, error) {
	for _, f := range c.found {
		if !f.Patch.IsZero() {
			return nil, fmt.Errorf("%s %s has no row of its own: the one of %s says what that release does, and known bugs say what changed since", f.Runtime, f.Patch, f.Version)
		}
	}
	frozen := c.Frozen()
	if len(frozen) > 0 && strings.TrimSpace(because) == "" {
		return nil, fmt.Errorf("%s: rows of published releases would change: say why with -because, or do not write", spans(frozen))
	}
	lost, ungated := c.Lost(), c.Ungated()
	if len(lost) > 0 && strings.TrimSpace(because) == "" {
		return nil, fmt.Errorf("new releases would lose what the release before has, which may be a probe that lost its way: %s: look at the source, then say why with -because", strings.Join(lost, "; "))
	}
	if len(ungated) > 0 && strings.TrimSpace(because) == "" {
		return nil, fmt.Errorf("new releases would have without a setting what was off by default in the release before, which may be another name for the setting: %s: look at the source, then say why with -because", strings.Join(ungated, "; "))
	}
	for _, f := range c.Added {
		row, problems := f.row()
		for column, why := range problems {
			return nil, fmt.Errorf("%s %s: column %s: %s", row.Runtime, row.Version, column, why)
		}
	}
	d := *c.old
	d.Releases = c.releases()
	d.Settings = c.settings()
	d.Ranges = c.ranges(d.Releases)
	if reason := strings.TrimSpace(because); reason != "" && len(frozen)+len(lost)+len(ungated) > 0 {
		for _, doubt := range slices.Concat(lost, ungated) {
			reason += "; " + doubt
		}
		if len(frozen) == 0 {
			frozen = c.addedRows()
		}
		d.Changes = append(slices.Clone(d.Changes), inference.Change{Date: day, Releases: spans(frozen), Because: reason})
	}
	if len(frozen)+len(c.Added) > 0 {
		d.Version = max(d.Version, day) // as text, days are in the order of time
	}
	return &d, nil
}

// Lost names what new releases do not have any more, as "RUNTIME VERSION:
// CAPABILITY".
func (c *Comparison) Lost() []string {
	cells := c.old.cells()
	var out []string
	for _, f := range c.Added {
		for _, d := range c.differs(f, cells) {
			if rank(d.now) > rank(d.was) {
				out = append(out, fmt.Sprintf("%s %s: %s", f.Runtime, f.Version, d.id))
			}
		}
	}
	return out
}

// Ungated names what new releases have without a setting that was off by default
// in the release before and is not there any more, as "RUNTIME VERSION: CAPABILITY".
func (c *Comparison) Ungated() []string {
	cells := c.old.cells()
	var out []string
	for _, f := range c.Added {
		for _, d := range c.differs(f, cells) {
			if c.ungated(f, d) {
				out = append(out, fmt.Sprintf("%s %s: %s", f.Runtime, f.Version, d.id))
			}
		}
	}
	return out
}

func (c *Comparison) ungated(f Found, d difference) bool {
	name, _, _ := strings.Cut(d.was.When, "=")
	if d.was.State != capability.Conditional || d.now.State == capability.No || !f.Report.Settings[name].Absent {
		return false
	}
	before, report := c.before(f)
	if report != nil {
		return report.Settings[name].Value != "true"
	}
	was, ok := c.old.setting(name, f.Runtime, before)
	return !ok || was.Value != "true"
}

// rank orders states by how little of a capability is there; what is not known
// loses nothing.
func rank(v probe.Verdict) int {
	return slices.Index([]capability.State{capability.Yes, capability.Conditional, capability.Partial, capability.No, capability.Harmful}, v.State)
}

func (c *Comparison) addedRows() []inference.Release {
	var out []inference.Release
	for _, f := range c.Added {
		row, _ := f.row()
		out = append(out, row)
	}
	return out
}

func (c *Comparison) releases() []inference.Release {
	out := slices.Clone(c.old.Releases)
	for _, f := range c.found {
		row, problems := f.row()
		if len(c.only) > 0 && c.old.release(f.Runtime, f.Version) != nil {
			continue
		}
		at := slices.IndexFunc(out, func(r inference.Release) bool { return r.Runtime == f.Runtime && r.Version == f.Version })
		if at < 0 {
			out = append(out, row)
			continue
		}
		out[at].NRI = row.NRI
		if f.Date != "" {
			out[at].Date = row.Date
		}
		if problems["name"] == "" {
			out[at].Name = row.Name
		}
		if problems["nriEnabled"] == "" {
			out[at].NRIEnabled = row.NRIEnabled
		}
	}
	sortReleases(out)
	return out
}

// settings builds the rows of every setting anew, from one release to the
// next. A setting that could not be read or is gone keeps the row before.
func (c *Comparison) settings() []inference.Default {
	var out []inference.Default
	type key struct{ name, runtime string }
	var order []key
	for _, s := range c.old.Settings {
		if k := (key{s.Setting, s.Runtime}); !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	for _, k := range order {
		var rows []inference.Default
		versions := c.versions(k.runtime)
		for _, v := range versions {
			row, ok := c.old.setting(k.name, k.runtime, v)
			for _, f := range c.found {
				s, has := f.Report.Settings[k.name]
				if len(c.only) > 0 && c.old.release(f.Runtime, f.Version) != nil {
					continue
				}
				if f.Runtime == k.runtime && f.Version == v && has && s.Why == "" && !s.Absent {
					row, ok = inference.Default{Setting: k.name, Runtime: k.runtime, Value: s.Value, Key: s.Key}, true
				}
			}
			if !ok {
				continue
			}
			row.From = v
			if n := len(rows); n == 0 || rows[n-1].Value != row.Value || rows[n-1].Key != row.Key {
				rows = append(rows, row)
			}
		}
		out = append(out, rows...)
	}
	return out
}

// versions returns all versions of a runtime, old and new, in order.
func (c *Comparison) versions(runtime string) []inference.Version {
	var out []inference.Version
	for _, r := range c.old.Releases {
		if r.Runtime == runtime {
			out = append(out, r.Version)
		}
	}
	for _, f := range c.Added {
		if f.Runtime == runtime {
			out = append(out, f.Version)
		}
	}
	slices.SortFunc(out, inference.Version.Compare)
	return out
}

// ranges builds the ranges of every line anew. A range that says what one of
// the table said from the same release on keeps that one's sources.
func (c *Comparison) ranges(releases []inference.Release) []inference.Range {
	old := c.old.cells()
	found := map[string]*probe.Report{}
	for _, f := range c.found {
		found[f.Runtime+" "+f.Version.String()] = f.Report
	}
	var out []inference.Range
	for _, id := range capability.All() {
		for i, rel := range releases {
			if inference.FamilyOf(rel.Runtime) != id.Kind().Family() {
				continue
			}
			cell := c.merged(id, rel, old[cellKey{rel.Runtime, rel.Version, id}], found[rel.Runtime+" "+rel.Version.String()])
			if i > 0 && len(out) > 0 {
				last := out[len(out)-1]
				sameLine := last.Capability == id && last.Runtime == rel.Runtime && last.Line == rel.Version.Line()
				if sameLine && last.State == cell.State && last.When == cell.When && last.Effect == cell.Effect {
					continue
				}
			}
			out = append(out, cell)
		}
	}
	return out
}

// merged is one cell as the new table has it, as a range that begins there.
func (c *Comparison) merged(id capability.ID, rel inference.Release, old *inference.Range, report *probe.Report) inference.Range {
	cell := inference.Range{Capability: id, Runtime: rel.Runtime, Line: rel.Version.Line(), From: rel.Version}
	if report != nil && (old == nil || c.compares(id)) {
		v := report.Verdicts[id]
		same := old != nil && v.Same(probe.Verdict{State: old.State, Effect: old.Effect, When: old.When})
		if v.State != capability.Unknown && !same || old == nil {
			cell.State, cell.Effect, cell.When, cell.Files = v.State, v.Effect, v.When, v.Files
			return cell
		}
	}
	if old == nil {
		return cell // not reached: a release of the table has all cells
	}
	cell.State, cell.Effect, cell.When = old.State, old.Effect, old.When
	if old.From == rel.Version {
		cell.Source = old.Sources()
	} else if report != nil && report.Verdicts[id].State != capability.Unknown {
		cell.Files = report.Verdicts[id].Files
	}
	return cell
}

// spans names releases as runs of neighbours: "containerd 2.2.1 to 2.2.9; cri-o main".
func spans(releases []inference.Release) string {
	var parts []string
	for i := 0; i < len(releases); {
		j := i
		for j+1 < len(releases) && releases[j+1].Runtime == releases[i].Runtime && releases[j+1].Version.Line() == releases[i].Version.Line() {
			j++
		}
		part := releases[i].Runtime + " " + releases[i].Version.String()
		if j > i {
			part += " to " + releases[j].Version.String()
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, "; ")
}
