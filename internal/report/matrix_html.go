package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

type (
	matrixPage struct {
		Caption  string
		Columns  []Column
		Groups   []matrixGroup
		Sections []matrixSection
		Details  []matrixEntry
	}
	// matrixGroup is a heading over the columns of one runtime.
	matrixGroup struct {
		Runtime string
		Span    int
	}
	// matrixSection is the rows of one kind of capability.
	matrixSection struct {
		Kind, Meaning string
		Span          int
		Rows          []matrixRow
	}
	matrixRow struct {
		ID, Prefix, Title, Words string
		Rest                     []string
		Same                     bool
		Cells                    []pageCell
	}
	// matrixEntry is what there is to say about one capability.
	matrixEntry struct {
		ID, Title string
		Facts     []pageFact
		Histories []matrixHistory
		Bugs      []matrixBug
	}
	matrixHistory struct {
		Runtime string
		Runs    []matrixRun
		Note    string
	}
	// matrixRun is a run of releases of neighbouring lines with one state.
	matrixRun struct {
		Span, State, Class, Glyph string
		Columns                   string // the columns it is part of, as numbers
		References                []string
		More                      int
	}
	matrixBug struct{ ID, Runtime, Severity, Text, Affected, Ref string }
)

// maxReferences is how many places in sources a run of releases shows.
const maxReferences = 4

// HTML writes the matrix as one page: a grid, and behind each cell what the
// table it was made from knows of the capability.
func (m *Matrix) HTML(w io.Writer) error {
	body := matrixPage{Caption: m.what() + " by " + m.columnWord(), Columns: m.Columns}
	for _, c := range m.Columns {
		if n := len(body.Groups); n > 0 && body.Groups[n-1].Runtime == c.Runtime {
			body.Groups[n-1].Span++
		} else {
			body.Groups = append(body.Groups, matrixGroup{c.Runtime, 1})
		}
	}
	if m.By == "plugin" {
		s := matrixSection{Kind: "plugins", Meaning: "the releases that have what each requires", Span: len(m.Columns) + 1}
		for _, r := range m.Rows {
			s.Rows = append(s.Rows, m.pluginPageRow(r))
		}
		body.Sections = append(body.Sections, s)
	}
	for _, kind := range capability.Kinds() {
		s := matrixSection{Kind: string(kind), Meaning: kindMeaning(kind), Span: len(m.Columns) + 1}
		for _, r := range m.Rows {
			id, err := capability.Parse(r.ID)
			if err != nil || id.Kind() != kind || m.By == "plugin" {
				continue
			}
			entry, _ := capability.Lookup(id)
			s.Rows = append(s.Rows, m.pageRow(r, entry.Title))
			body.Details = append(body.Details, m.pageEntry(id))
		}
		if len(s.Rows) > 0 {
			body.Sections = append(body.Sections, s)
		}
	}
	p := page{
		Title: "nri-compat matrix", Heading: "What NRI plugins can rely on",
		Lead:         fmt.Sprintf("%s by %s. A cell tells since which release something works, what it depends on, or what happens instead. Choose one to see why.", count(len(m.Rows), "capability", "capabilities"), m.columnWord()),
		ChangedLabel: "changed only", Legend: stateLegend(), Body: body,
	}
	if m.By == "plugin" {
		p.Heading, p.Lead = "Where plugins work", count(len(m.Rows), "plugin", "plugins")+" by release line. A cell tells since which release of a line everything is there that the plugin requires."
	}
	for _, s := range body.Sections {
		p.Kinds = append(p.Kinds, s.Kind)
	}
	for _, g := range body.Groups {
		p.Runtimes = append(p.Runtimes, g.Runtime)
	}
	return p.write(w, "matrix", m.Head, columnStyle(len(m.Columns))+hideColumns(body.Groups))
}

func (m *Matrix) what() string {
	if m.By == "plugin" {
		return "Plugins"
	}
	return "Capabilities"
}

func (m *Matrix) columnWord() string {
	if m.By == "release" {
		return "release"
	}
	return "release line"
}

// pluginPageRow is the row of a plugin. There is nothing behind its cells: check
// says more.
func (m *Matrix) pluginPageRow(r Row) matrixRow {
	name := pageText(r.ID)
	row := matrixRow{Rest: []string{name}, Title: name, Words: strings.ToLower(name)}
	for _, c := range r.Cells {
		class := capability.No.String()
		if n := len(c.Segments); n > 0 {
			class = c.Segments[n-1].State
		} else if c.Text != class {
			class = capability.Unknown.String()
		}
		row.Cells = append(row.Cells, pageCell{Class: class + " one", Lines: []pageLine{{class, c.Text}}})
	}
	return row
}

// hideColumns is the style by which the columns of other runtimes go away.
func hideColumns(groups []matrixGroup) string {
	var b strings.Builder
	first := 2 // the first column is the name
	for i, g := range groups {
		last := first + g.Span - 1
		fmt.Fprintf(&b, ".grid[class*=only-]:not(.only-%s) :is(.r%d, col:nth-child(n+%d):nth-child(-n+%d)) { display: none; }\n", g.Runtime, i, first, last)
		first = last + 1
	}
	return b.String()
}

func (m *Matrix) pageRow(r Row, title string) matrixRow {
	row := matrixRow{ID: r.ID, Title: title, Words: words(r.ID, title)}
	row.Prefix, row.Rest = splitName(r.ID)
	row.Same = !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Text != r.Cells[0].Text })
	group := -1
	for i, c := range r.Cells {
		cell := c.page(m.By == "release")
		cell.Target = r.ID
		if len(c.Segments) > 1 || strings.HasPrefix(c.Text, "with ") {
			cell.Label = c.Text
		}
		if len(cell.Lines) == 1 {
			cell.Class += " one"
		}
		next := i == 0 || m.Columns[i].Runtime != m.Columns[i-1].Runtime
		if next {
			group++
		}
		cell.Class += fmt.Sprintf(" r%d", group)
		if n := len(row.Cells) - 1; !next && row.Cells[n].like(cell) {
			row.Cells[n].Span = max(row.Cells[n].Span, 1) + 1
			continue
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// like tells whether two cells say the same, so that one can stand for both: a
// run of columns is seen at a glance, and there are fewer cells to lay out.
func (c pageCell) like(d pageCell) bool {
	return c.Class == d.Class && c.Label == d.Label && slices.Equal(c.Lines, d.Lines)
}

// page shows a cell for a glance: how the newest releases of the line are, since
// when, and what did harm before. Its label has the rest.
func (c Cell) page(single bool) pageCell {
	if len(c.Segments) == 0 {
		return pageCell{Class: "unknown", Lines: []pageLine{{"unknown", "unknown"}}}
	}
	last := c.Segments[len(c.Segments)-1]
	cell := pageCell{Class: last.State}
	for _, s := range c.Segments {
		if s != last && s.State != capability.Harmful.String() && !(last.State == capability.No.String() && s.State != last.State) {
			continue
		}
		text := s.word()
		if len(c.Segments) > 1 && !single {
			span := s.From + "–" + s.To
			switch {
			case s.ToNewest:
				span = s.From + "+"
			case s.From == s.To:
				span = s.From
			}
			if text = span + " " + text; s.State == capability.Yes.String() {
				text = span
			}
		}
		cell.Lines = append(cell.Lines, pageLine{s.State, text})
	}
	return cell
}

// word says in a word or two what a state comes to.
func (s Segment) word() string {
	switch {
	case s.State == capability.Harmful.String() && s.Effect == capability.Hang.String():
		return "hangs"
	case s.State == capability.Harmful.String():
		return "crashes"
	case s.State == capability.Conditional.String() && s.When != "":
		name := settingName(s.When)
		if i := strings.LastIndex(name, "."); i >= 0 {
			name = name[i+1:]
		}
		return strings.ReplaceAll(name, "_", " ")
	case s.State == capability.No.String() && s.Effect != capability.NoEffect.String():
		return strings.ReplaceAll(s.Effect, "-", " ")
	}
	return s.State
}

func (m *Matrix) pageEntry(id capability.ID) matrixEntry {
	d := NewExplain(m.Head, m.source, id)
	c := d.Capability
	e := matrixEntry{ID: c.ID.String(), Title: c.Title}
	fact := func(name, text string, code bool) {
		if text != "" {
			e.Facts = append(e.Facts, pageFact{name, text, code})
		}
	}
	fact("Without it", c.Consequence, false)
	fact("Instead", c.Instead, false)
	fact("Go API", strings.Join(c.API, ", "), true)
	fact("Protocol", c.Proto, true)
	fact("NRI library", librarySince(c), false)
	fact("Runtime hands over", c.Option, true)
	for _, h := range c.Hazards {
		fact("Hazard", hazardLine(h), false)
	}
	fact("Note", c.Note, false)
	for _, r := range d.Runtimes {
		if h := (matrixHistory{Runtime: r.Runtime, Runs: m.pageRuns(id, r.Runtime), Note: r.Note}); len(h.Runs) > 0 {
			e.Histories = append(e.Histories, h)
		}
	}
	for _, b := range d.Bugs {
		e.Bugs = append(e.Bugs, matrixBug{b.ID, b.Runtime, b.Severity, b.Text, strings.Join(b.Affected, "; "), b.Ref})
	}
	return e
}

// pageRuns joins what neighbouring lines have in common.
func (m *Matrix) pageRuns(id capability.ID, runtime string) []matrixRun {
	var out []matrixRun
	var last Segment
	var span Segment
	for _, s := range m.source.History(id, runtime) {
		seg := newSegment(id, s)
		if len(out) == 0 || seg.State != last.State || seg.Effect != last.Effect || seg.When != last.When {
			out = append(out, matrixRun{State: stateWords(seg), Class: seg.State, Glyph: glyph(seg.State)})
			span = Segment{From: seg.From}
		}
		last, span.To = seg, seg.To
		run := &out[len(out)-1]
		run.Span = segmentSpan(span)
		for n, c := range m.Columns {
			if c.Runtime == runtime && m.shows(c, s) {
				run.Columns = strings.TrimSpace(run.Columns + " " + strconv.Itoa(n))
			}
		}
		for _, ref := range s.Range.References() {
			switch {
			case slices.Contains(run.References, ref):
			case len(run.References) < maxReferences:
				run.References = append(run.References, ref)
			default:
				run.More++
			}
		}
	}
	return out
}

// shows tells whether a run of releases is seen in a column.
func (m *Matrix) shows(c Column, s inference.Segment) bool {
	if m.By == "line" {
		return c.Version == s.Line
	}
	var v inference.Version
	if v.UnmarshalText([]byte(c.Version)) != nil {
		return false
	}
	return v.Line() == s.Line && s.From.Compare(v) <= 0 && v.Compare(s.To) <= 0
}
