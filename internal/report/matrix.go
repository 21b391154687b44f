package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Matrix is the document of the matrix command: capabilities by release lines
// or by releases, or plugins by release lines.
type Matrix struct {
	Head
	// By is "line" or "release", or "plugin" where the rows are plugins and the
	// columns lines.
	By      string   `json:"by" jsonschema:"enum=line,enum=release,enum=plugin"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	// Total counts the capabilities that were looked at, Same those left out
	// because they are the same in every column.
	Total int `json:"total"`
	Same  int `json:"same"`

	source *inference.Table // for a page, which explains every cell
}

// Column is a release line or a release of one runtime.
type Column struct {
	Runtime string `json:"runtime"`
	// Version is the line, such as "1.7", or the release.
	Version string `json:"version"`
}

// Row is one capability, or one plugin, in every column.
type Row struct {
	ID    string `json:"id"`
	Cells []Cell `json:"cells"`
}

// Cell is one capability in one column.
type Cell struct {
	// Text is the cell as it is shown: "yes", "no", "1.7.26+", "crashes" ….
	Text string `json:"text"`
	// Segments are the runs of releases of the line that treat it alike; one for
	// a single release.
	Segments []Segment `json:"segments"`
}

// Segment is a run of releases with one state.
type Segment struct {
	From     string `json:"from"`
	To       string `json:"to"`
	ToNewest bool   `json:"toNewest"`
	State    string `json:"state" jsonschema:"enum=unknown,enum=yes,enum=partial,enum=conditional,enum=no,enum=harmful"`
	Effect   string `json:"effect" jsonschema:"enum=none,enum=refused,enum=create-error,enum=dropped,enum=empty,enum=never-called,enum=crash,enum=hang"`
	When     string `json:"when,omitempty"`
	// Default is the default of a feature gate that it depends on, "true" or
	// "false"; only told by explain.
	Default string `json:"default,omitempty"`
}

// NewMatrixByLine compares capabilities over the release lines of the runtimes
// that decide about them. The lines are restricted to those of the releases in
// only, unless that is nil.
func NewMatrixByLine(head Head, t *inference.Table, ids []capability.ID, only []inference.Runtime) *Matrix {
	m := newLineMatrix(head, t, inference.RuntimesFor(ids...), only)
	m.Total = len(ids)
	for _, id := range ids {
		row := Row{ID: id.String(), Cells: []Cell{}}
		history := map[string][]inference.Segment{}
		for _, c := range m.Columns {
			if _, ok := history[c.Runtime]; !ok {
				history[c.Runtime] = t.History(id, c.Runtime)
			}
			row.Cells = append(row.Cells, lineCell(id, c.Version, history[c.Runtime]))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// newLineMatrix returns a matrix with a column for each release line; lines that
// have had pre-releases only are left out unless they are named.
func newLineMatrix(head Head, t *inference.Table, runtimes []string, only []inference.Runtime) *Matrix {
	m := &Matrix{Head: head, By: "line", Columns: []Column{}, Rows: []Row{}, source: t}
	for _, runtime := range runtimes {
		for _, line := range t.Lines(runtime) {
			c := Column{runtime, line}
			if asked(only, runtime, line) && line != "main" && (only != nil || firstRelease(t, c) != "") {
				m.Columns = append(m.Columns, c)
			}
		}
	}
	return m
}

func asked(only []inference.Runtime, runtime, line string) bool {
	return only == nil || slices.ContainsFunc(only, func(r inference.Runtime) bool {
		return r.Name == runtime && r.Version.Line() == line
	})
}

func lineCell(id capability.ID, line string, history []inference.Segment) Cell {
	cell := Cell{Segments: []Segment{}}
	var parts []string
	for _, s := range history {
		if s.Line != line {
			continue
		}
		cell.Segments = append(cell.Segments, newSegment(id, s))
		if text := segmentText(s); text != "" {
			parts = append(parts, text)
		}
	}
	cell.Text = strings.Join(parts, "; ")
	if cell.Text == "" {
		cell.Text = "no"
	}
	if len(cell.Segments) == 0 {
		cell.Text = "unknown"
	}
	return cell
}

func newSegment(id capability.ID, s inference.Segment) Segment {
	effect := s.Range.Effect
	if e, ok := capability.Lookup(id); ok && s.Range.State == capability.No && effect == capability.NoEffect {
		effect = e.Effect
	}
	return Segment{
		From: s.From.String(), To: s.To.String(), ToNewest: s.ToNewest,
		State: s.Range.State.String(), Effect: effect.String(), When: s.Range.When,
	}
}

// segmentText words a run of releases; empty for a plain no, which goes
// without saying next to the others.
func segmentText(s inference.Segment) string {
	what := stateInCell(s.Range.State, s.Range.Effect, s.Range.When)
	if s.Range.State == capability.No {
		what = ""
	}
	switch {
	case what == "" || s.Whole:
		return what
	case s.ToNewest && what == "yes":
		return s.From.String() + "+"
	case s.ToNewest:
		return s.From.String() + "+ " + what
	case s.From == s.To:
		return s.From.String() + " " + what
	case what == "yes":
		return s.From.String() + "–" + s.To.String()
	}
	return s.From.String() + "–" + s.To.String() + " " + what
}

// stateInCell words a state as a cell shows it.
func stateInCell(state capability.State, effect capability.Effect, when string) string {
	switch {
	case state == capability.Harmful && effect == capability.Hang:
		return "hangs"
	case state == capability.Harmful:
		return "crashes"
	case state == capability.Conditional && when != "":
		return "with " + settingName(when)
	}
	return state.String()
}

func settingName(when string) string {
	name, want, _ := strings.Cut(when, "=")
	if want == "true" || want == "set" {
		return name
	}
	return when
}

// NewMatrixByRelease compares capabilities over single releases.
func NewMatrixByRelease(head Head, t *inference.Table, ids []capability.ID, runtimes []inference.Runtime, values inference.Values) *Matrix {
	m := &Matrix{Head: head, By: "release", Columns: []Column{}, Rows: []Row{}, Total: len(ids), source: t}
	var supports []inference.Support
	for _, r := range runtimes {
		m.Columns = append(m.Columns, Column{r.Name, r.Version.String()})
		supports = append(supports, t.Lookup(r, values))
	}
	for _, id := range ids {
		row := Row{ID: id.String(), Cells: []Cell{}}
		for i, s := range supports {
			row.Cells = append(row.Cells, releaseCell(m.Columns[i].Version, s.Answer(id)))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

func releaseCell(version string, a capability.Answer) Cell {
	seg := Segment{From: version, To: version, State: a.State.String(), Effect: a.Effect.String()}
	for _, s := range a.Settings {
		seg.When = s.Name + "=" + s.Want
	}
	text := stateInCell(a.State, a.Effect, seg.When)
	return Cell{Text: text, Segments: []Segment{seg}}
}

// DropSame leaves out the capabilities that are the same in every column.
func (m *Matrix) DropSame() {
	rows := slices.DeleteFunc(slices.Clone(m.Rows), func(r Row) bool {
		return !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Text != r.Cells[0].Text })
	})
	m.Same += len(m.Rows) - len(rows)
	m.Rows = emptyNotNull(rows)
}

func (m *Matrix) table() (header []string, rows [][]string) {
	header = []string{"CAPABILITY"}
	if m.By == "plugin" {
		header = []string{"PLUGIN"}
	}
	for _, c := range m.Columns {
		header = append(header, c.Runtime+" "+c.Version)
	}
	for _, r := range m.Rows {
		row := []string{r.ID}
		for _, c := range r.Cells {
			row = append(row, c.Text)
		}
		rows = append(rows, row)
	}
	return header, rows
}

// Text writes the matrix in columns.
func (m *Matrix) Text(w io.Writer, style Style) error {
	header, rows := m.table()
	p := &printer{w: w}
	p.do(func(w io.Writer) error { return grid(w, style, header, rows) })
	p.linef("")
	p.linef("%s", m.legend())
	return p.err
}

func (m *Matrix) legend() string {
	s := count(len(m.Rows), "capability", "capabilities")
	if m.By == "plugin" {
		s = count(len(m.Rows), "plugin", "plugins")
	}
	if m.Same > 0 {
		s += fmt.Sprintf(" differ, %d are the same everywhere", m.Same)
	}
	return s + "; " + m.tableName()
}

// Markdown writes the matrix as a table.
func (m *Matrix) Markdown(w io.Writer) error {
	header, rows := m.table()
	header[0] = strings.ToUpper(header[0][:1]) + strings.ToLower(header[0][1:])
	p := &printer{w: w}
	p.do(func(w io.Writer) error { return mdTable(w, header, rows) })
	p.linef("\n%s", mdText(m.legend()))
	return p.err
}

// CSV writes a header row and one row a capability, and nothing else.
func (m *Matrix) CSV(w io.Writer) error {
	header, rows := m.table()
	header[0] = strings.ToLower(header[0])
	c := csv.NewWriter(w)
	c.UseCRLF = true // RFC 4180
	if err := c.Write(header); err != nil {
		return err
	}
	return c.WriteAll(rows)
}
