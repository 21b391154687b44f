package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

type (
	checkPage struct {
		Plugins []checkSection
		Details []checkEntry
	}
	// checkSection is one plugin: a grid of its capabilities by runtime.
	checkSection struct {
		Name, About    string
		Remarks, Works []string
		Columns        []checkColumn
		Rows           []checkRow
	}
	checkColumn struct{ Runtime, Title, Target, Class, Verdict string }
	checkRow    struct {
		Title, Prefix, Level, Words string
		Rest                        []string
		Same                        bool
		Cells                       []pageCell
	}
	// checkEntry is what there is to say about one cell or one column.
	checkEntry struct {
		ID, Heading, Class, Word, What string
		Facts                          []pageFact
	}
)

// HTML writes the check as one page: for each plugin a grid of what it needs by
// runtime, worst first, and behind each cell why.
func (c *Check) HTML(w io.Writer) error {
	var body checkPage
	style := ""
	for i, plugin := range c.Plugins {
		s := checkSection{Name: pageText(plugin.Name), About: pageText(plugin.about())}
		for _, text := range plugin.Warnings {
			s.Remarks = append(s.Remarks, "Warning: "+pageText(text))
		}
		at := map[string]int{}
		for j, r := range c.Results {
			if r.Plugin == plugin.Name {
				id := fmt.Sprintf("p%d-r%d", i, j)
				s.Columns = append(s.Columns, r.pageColumn(id))
				body.Details = append(body.Details, r.pageEntry(id, c.tableName()))
				body.Details = append(body.Details, s.add(id, r, at)...)
			}
		}
		for j := range s.Rows {
			s.Rows[j].fill(len(s.Columns))
		}
		for _, a := range c.Advice {
			if a.Plugin == plugin.Name {
				s.Works = append(s.Works, a.pageLines()...)
			}
		}
		body.Plugins = append(body.Plugins, s)
		if !strings.Contains(style, columnStyle(len(s.Columns))) {
			style += columnStyle(len(s.Columns))
		}
	}
	p := page{
		Title: "nri-compat check", Heading: c.heading(), Lead: c.Summary.line(len(c.Results)),
		ChangedLabel: "problems only", Body: body,
	}
	for _, e := range c.Errors {
		p.Notices = append(p.Notices, "Could not be checked: "+pageText(e.line()))
	}
	if len(body.Details) > 0 {
		p.Legend = statusLegend()
	}
	return p.write(w, "check", c.Head, style)
}

func (c *Check) heading() string {
	switch {
	case len(c.Errors) > 0:
		return "Not everything could be checked"
	case c.Summary.Incompatible > 0:
		return "Incompatible"
	case c.Summary.Inconclusive > 0:
		return "Inconclusive"
	}
	return "Compatible"
}

func (p CheckPlugin) about() string {
	s := count(p.Required, "required capability", "required capabilities")
	if p.NRI != "" {
		s += ", NRI " + p.NRI
	}
	if p.Ref != "" {
		s += ", read from " + p.Ref
	}
	return s
}

func statusLegend() []legendItem {
	return []legendItem{
		{"yes", glyph("yes"), "ok", "works"},
		{"missing", glyph("missing"), "missing", "does not work; what happens instead"},
		{"conditional", glyph("conditional"), "conditional", "a setting is not as needed"},
		{"harmful", glyph("harmful"), "harmful", "ends or blocks the runtime"},
		{"unknown", glyph("unknown"), "unknown", "could not be decided"},
		{"waived", glyph("waived"), "waived", "does not count"},
	}
}

// class is the look of an outcome.
func (o Outcome) class() string {
	switch {
	case o.Waived != nil:
		return "waived"
	case o.Status == capability.StatusOK.String():
		return "yes"
	case o.spared(), o.Status == capability.StatusMissing.String() && o.Level == capability.Wants.String():
		return "no"
	}
	return o.counted()
}

func (r Result) pageColumn(id string) checkColumn {
	return checkColumn{
		Runtime: r.Runtime.Name, Title: pageText(r.title()), Target: id, Verdict: r.Verdict,
		Class: verdictClass(r.Verdict),
	}
}

func verdictClass(verdict string) string {
	switch verdict {
	case capability.Compatible.String():
		return "yes"
	case capability.Incompatible.String():
		return "missing"
	}
	return "unknown"
}

// pageEntry is what there is to say about a result as a whole.
func (r Result) pageEntry(id, table string) checkEntry {
	e := checkEntry{
		ID: id, Heading: pageText(r.Plugin + " with " + r.title()), Class: verdictClass(r.Verdict), Word: r.Verdict,
		What: pageText(r.Runtime.knowledge(table)),
	}
	e.fact("Releases", strings.Join(r.Runtime.Releases, ", "), false)
	e.fact("Because", r.Runtime.Why, false)
	if s := r.Runtime.NRISwitch; s != nil && !s.Met() {
		e.fact("NRI is off by default", s.Key, true)
	}
	for _, g := range r.Gaps {
		e.fact("Could not be read", g, false)
	}
	for _, b := range r.Bugs {
		e.fact("Known bug", b.ID+" ("+b.Severity+"), touches "+strings.Join(b.Touches, ", ")+": "+b.Text, false)
	}
	for _, b := range r.OtherBugs {
		e.fact("Known bug that any plugin can hit", b.ID+" ("+b.Severity+"): "+b.Text, false)
	}
	return e
}

// add puts the outcomes of a result into the rows, and returns what there is to
// say about each.
func (s *checkSection) add(id string, r Result, at map[string]int) []checkEntry {
	var out []checkEntry
	for _, o := range r.Capabilities {
		row, ok := at[o.ID]
		if !ok {
			row = len(s.Rows)
			at[o.ID] = row
			s.Rows = append(s.Rows, newCheckRow(o))
		}
		target := id + "-" + o.ID
		s.Rows[row].fill(len(s.Columns) - 1)
		s.Rows[row].Cells = append(s.Rows[row].Cells, o.pageCell(target))
		s.Rows[row].Same = s.Rows[row].Same && o.counted() == capability.StatusOK.String()
		out = append(out, o.pageEntry(target, pageText(o.ID+" of "+r.Plugin+" with "+r.title())))
	}
	return out
}

func newCheckRow(o Outcome) checkRow {
	row := checkRow{Words: words(o.ID, ""), Same: true}
	if id, err := capability.Parse(o.ID); err == nil {
		entry, _ := capability.Lookup(id)
		row.Title, row.Words = entry.Title, words(o.ID, entry.Title)
	}
	row.Prefix, row.Rest = splitName(o.ID)
	if o.Level == capability.Wants.String() {
		row.Level = "wanted"
	}
	return row
}

// fill puts empty cells where a result has no outcome for the row.
func (r *checkRow) fill(n int) {
	for len(r.Cells) < n {
		r.Cells = append(r.Cells, pageCell{Class: "no"})
	}
}

func (o Outcome) pageCell(target string) pageCell {
	class, word := o.class(), o.Status
	switch {
	case o.Waived != nil:
		word = "waived, " + o.Status
	case o.spared():
		word = "not needed, " + o.Status
	}
	cell := pageCell{Class: class, Target: target, Lines: []pageLine{{class, word}}}
	if o.effect() == "" {
		cell.Class += " one"
	}
	if e := o.effect(); e != "" {
		cell.Lines = append(cell.Lines, pageLine{"", strings.ReplaceAll(e, "-", " ")})
	}
	return cell
}

func (o Outcome) pageEntry(id, heading string) checkEntry {
	e := checkEntry{ID: id, Heading: heading, Class: o.class(), Word: o.Status, What: pageText(o.why())}
	if o.Waived != nil {
		e.fact("Does not count", o.Waived.line(), false)
	}
	e.fact("Instead", o.Instead, false)
	for _, s := range o.Settings {
		e.fact("Setting", s.Name+"="+s.Want+" is needed; it is "+orNotSet(s.Value)+" ("+s.Origin+")", false)
		e.fact("Set in", s.Key, true)
	}
	for i, ev := range o.Evidence {
		if i == 20 {
			e.fact("Used", fmt.Sprintf("in %d more places", len(o.Evidence)-i), false)
			break
		}
		e.fact("Used", evidenceLine(ev), true)
	}
	e.fact("Level", o.Level+", "+o.Source, false)
	e.fact("One is enough", strings.ReplaceAll(o.OneOf, "/", ", "), false)
	e.fact("Note", o.Note, false)
	for _, ref := range o.References {
		e.fact("See", ref, true)
	}
	return e
}

// fact adds a line unless it is empty.
func (e *checkEntry) fact(name, text string, code bool) {
	if text != "" {
		e.Facts = append(e.Facts, pageFact{name, pageText(text), code})
	}
}

func (a Advice) pageLines() []string {
	var out []string
	for _, id := range a.Nowhere {
		out = append(out, "no known release has "+id)
	}
	for _, runtime := range a.Runtimes {
		if len(a.Nowhere) == 0 {
			out = append(out, a.runtimeLine(runtime))
		}
	}
	return out
}

// pageText is foreign text of bounded length without control characters. The
// templates escape it.
func pageText(s string) string { return clip(plain(clip(s, maxText)), maxText) }
