package report

import (
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// PluginNeeds is a plugin as a row of a matrix.
type PluginNeeds struct {
	Name  string
	Needs capability.Needs
}

// NewMatrixOfPlugins tells in which releases of each line plugins work. The
// lines are restricted to those of the runtimes in only, unless that is nil.
func NewMatrixOfPlugins(head Head, t *inference.Table, plugins []PluginNeeds, only []inference.Runtime, values inference.Values) *Matrix {
	var needs capability.Needs
	for _, p := range plugins {
		needs.Requirements = append(needs.Requirements, p.Needs.Requirements...)
	}
	m := newLineMatrix(head, t, inference.RuntimesForNeeds(needs), only)
	m.By, m.Total = "plugin", len(plugins)
	for _, p := range plugins {
		advice := newAdvice(p.Name, t.Advise(p.Needs, inference.Runtimes(), values), nil)
		row := Row{ID: p.Name, Cells: []Cell{}}
		for _, c := range m.Columns {
			row.Cells = append(row.Cells, pluginCell(c, advice.Fits, t, p.Needs))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// pluginCell tells where in a line a plugin works. Of a plugin that could not
// be read as a whole only a "no" is sure.
func pluginCell(c Column, fits []Fit, t *inference.Table, need capability.Needs) Cell {
	cell := Cell{Segments: []Segment{}}
	gaps := len(need.Gaps) > 0
	var parts []string
	for _, f := range fits {
		if f.Runtime != c.Runtime || f.Line != c.Version {
			continue
		}
		seg := Segment{From: f.From, To: f.To, ToNewest: f.ToNewest, State: capability.Yes.String(), Effect: capability.NoEffect.String()}
		if len(f.With) > 0 {
			seg.State, seg.When = capability.Conditional.String(), strings.Join(f.With, ", ")
		}
		if gaps {
			seg.State = capability.Unknown.String()
		}
		cell.Segments = append(cell.Segments, seg)
		parts = append(parts, fitInCell(f, firstRelease(t, c)))
	}
	switch {
	case len(parts) == 0 && lackedBy(c, t, need):
		cell.Text = "no"
	case len(parts) == 0 || gaps:
		cell.Text = "unknown"
	default:
		cell.Text = strings.Join(parts, "; ")
	}
	return cell
}

// lackedBy tells whether each release of a line is known to lack something that
// is required. A line that has had pre-releases only, and a runtime that decides
// about nothing of it, are known to lack nothing.
func lackedBy(c Column, t *inference.Table, need capability.Needs) bool {
	lacks := false
	for _, r := range t.Releases(c.Runtime) {
		if r.Version.Line() != c.Version || r.Version.Prerelease() {
			continue
		}
		items := capability.Check(need, t.Lookup(inference.Runtime{Name: r.Runtime, Version: r.Version}, nil)).Items
		lacks = slices.ContainsFunc(items, func(i capability.Item) bool {
			return i.Decides() && (i.Counts == capability.StatusMissing || i.Counts == capability.StatusHarmful)
		})
		if !lacks {
			return false
		}
	}
	return lacks
}

func fitInCell(f Fit, first string) string {
	with := ""
	if len(f.With) > 0 {
		names := make([]string, len(f.With))
		for i, w := range f.With {
			names[i] = settingName(w)
		}
		with = "with " + strings.Join(names, ", ")
	}
	span := f.From + "–" + f.To
	switch {
	case f.ToNewest && f.From == first:
		span = ""
	case f.ToNewest:
		span = f.From + "+"
	case f.From == f.To:
		span = f.From
	}
	text := strings.TrimSpace(span + " " + with)
	if text == "" {
		return "yes"
	}
	return text
}

// firstRelease is the oldest release of a column's line that is no
// pre-release.
func firstRelease(t *inference.Table, c Column) string {
	releases := t.Releases(c.Runtime)
	at := slices.IndexFunc(releases, func(r inference.Release) bool {
		return r.Version.Line() == c.Version && !r.Version.Prerelease()
	})
	if at < 0 {
		return ""
	}
	return releases[at].Version.String()
}
