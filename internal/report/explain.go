package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Explain is the document of the explain command for a capability.
type Explain struct {
	Head
	Capability CatalogueEntry   `json:"capability"`
	Runtimes   []RuntimeHistory `json:"runtimes"`
	Bugs       []BugEntry       `json:"bugs"`
}

// CatalogueEntry is what the catalogue says about a capability.
type CatalogueEntry struct {
	capability.Entry
	Kind string `json:"kind"`
	// Draft is set if its number is one of the draft containerd/nri#265.
	Draft bool `json:"draft"`
}

// RuntimeHistory is how a capability fares in one runtime.
type RuntimeHistory struct {
	Runtime string `json:"runtime"`
	// Since is the first release that has it, empty if none does.
	Since string        `json:"since,omitempty"`
	Note  string        `json:"note,omitempty"`
	Lines []LineHistory `json:"lines"`
}

// LineHistory is how a capability fares in one release line.
type LineHistory struct {
	Line       string    `json:"line"`
	Segments   []Segment `json:"segments"`
	References []string  `json:"references"`
}

// BugEntry is a known bug with the releases that have it.
type BugEntry struct {
	ID        string   `json:"id"`
	Runtime   string   `json:"runtime"`
	Severity  string   `json:"severity"`
	Text      string   `json:"text"`
	Ref       string   `json:"ref,omitempty"`
	Touches   []string `json:"touches"`
	AnyPlugin bool     `json:"anyPlugin"`
	Affected  []string `json:"affected"`
}

// NewExplain describes a capability in every runtime.
func NewExplain(head Head, t *inference.Table, id capability.ID) *Explain {
	entry, _ := capability.Lookup(id) // ids come from Parse
	d := &Explain{
		Head: head, Capability: CatalogueEntry{entry, string(id.Kind()), id.Draft()},
		Runtimes: []RuntimeHistory{}, Bugs: []BugEntry{},
	}
	for _, runtime := range inference.RuntimesFor(id) {
		d.Runtimes = append(d.Runtimes, newRuntimeHistory(t, id, runtime))
	}
	for _, b := range t.AllBugs() {
		if slices.Contains(b.Touches, id) {
			d.Bugs = append(d.Bugs, newBugEntry(b))
		}
	}
	return d
}

func newRuntimeHistory(t *inference.Table, id capability.ID, runtime string) RuntimeHistory {
	h := RuntimeHistory{Runtime: runtime, Note: t.Note(id, runtime), Lines: []LineHistory{}}
	for _, s := range t.History(id, runtime) {
		if n := len(h.Lines); n == 0 || h.Lines[n-1].Line != s.Line {
			h.Lines = append(h.Lines, LineHistory{Line: s.Line, Segments: []Segment{}, References: []string{}})
		}
		l := &h.Lines[len(h.Lines)-1]
		segment := newSegment(id, s)
		if gate, _, _ := strings.Cut(segment.When, "="); strings.HasPrefix(gate, "featureGates.") {
			d, _ := t.Default(gate, runtime, s.From) // the table has one, or it is not told
			segment.Default = d.Value
		}
		l.Segments = append(l.Segments, segment)
		l.References = append(l.References, s.Range.References()...)
		good := s.Range.State == capability.Yes || s.Range.State == capability.Partial || s.Range.State == capability.Conditional
		if good && h.Since == "" {
			h.Since = s.From.String()
		}
	}
	return h
}

func newBugEntry(b inference.Bug) BugEntry {
	e := BugEntry{
		ID: b.ID, Runtime: b.Runtime, Severity: b.Severity, Text: b.Text, Ref: b.Ref,
		Touches: []string{}, AnyPlugin: b.AnyPlugin, Affected: []string{},
	}
	for _, id := range b.Touches {
		e.Touches = append(e.Touches, id.String())
	}
	for _, a := range b.Affected {
		span := a.From.String() + " and later " + a.Line
		if !a.Fixed.IsZero() {
			span = fmt.Sprintf("%s to before %s", a.From, a.Fixed)
		}
		if a.Line == "main" {
			span = "main"
		}
		e.Affected = append(e.Affected, span)
	}
	return e
}

// Text writes the catalogue entry and the history of each runtime.
func (d *Explain) Text(w io.Writer, style Style) error {
	c := d.Capability
	p := &printer{w: w}
	p.linef("%s - %s", style.bold(c.ID.String()), c.Title)
	p.linef("")
	field := func(name, value string) {
		if value != "" {
			p.linef("  %-12s %s", name, value)
		}
	}
	field("API", strings.Join(c.API, ", "))
	field("protocol", c.Proto)
	field("library", librarySince(c))
	field("needs", c.Option)
	field("without it", c.Consequence)
	field("instead", c.Instead)
	field("note", c.Note)
	for _, h := range c.Hazards {
		field("hazard", hazardLine(h))
	}
	number := fmt.Sprint(c.Number)
	if c.Draft {
		number += " in the draft of containerd/nri#265"
	}
	field("number", number)
	for _, r := range d.Runtimes {
		p.linef("")
		d.runtimeText(p, r, style)
	}
	if len(d.Bugs) > 0 {
		p.linef("")
	}
	for _, b := range d.Bugs {
		p.linef("  known bug %s of %s (%s): %s", b.ID, b.Runtime, b.Severity, b.Text)
	}
	p.linef("")
	p.linef("%s", d.tableName())
	return p.err
}

func librarySince(c CatalogueEntry) string {
	switch {
	case c.Since != "":
		return "works end to end since NRI " + c.Since
	case c.SinceProto != "" && c.SinceGenerated == "" && c.ID.Kind() == capability.Adjust:
		return "in the protocol since NRI " + c.SinceProto + ", never applied"
	case c.SinceProto != "":
		return "in the protocol since NRI " + c.SinceProto
	case c.SinceCollected != "":
		return "merged since NRI " + c.SinceCollected + ", never effective by itself"
	}
	return ""
}

func hazardLine(h capability.Hazard) string {
	span := ""
	switch {
	case h.From != "" && h.Before != "":
		span = "NRI " + h.From + " to before " + h.Before + ": "
	case h.From != "":
		span = "NRI " + h.From + " and later: "
	case h.Before != "":
		span = "before NRI " + h.Before + ": "
	}
	return span + h.Effect
}

func (d *Explain) runtimeText(p *printer, r RuntimeHistory, style Style) {
	var rows [][]string
	for _, l := range r.joined() {
		for i, s := range l.Segments {
			line := l.Line
			if i > 0 {
				line = ""
			}
			rows = append(rows, []string{"  " + line, segmentSpan(s), stateWords(s)})
		}
	}
	p.linef("  %s", style.bold(r.Runtime))
	if len(rows) > 0 {
		p.do(func(w io.Writer) error { return grid(w, style, nil, rows) })
	}
	if r.Note != "" {
		p.linef("  %s", plain(r.Note))
	}
	if !style.Wide {
		return
	}
	var told []string // the kubelet's lines mostly have the references of the one before
	for _, l := range r.Lines {
		for _, ref := range l.References {
			if r.Runtime != inference.Kubelet || !slices.Contains(told, ref) {
				p.linef("  see %s", ref)
			}
			told = append(told, ref)
		}
	}
}

// joined are the lines of the history, those of the kubelet joined where they
// are alike: each has one release in the table.
func (r RuntimeHistory) joined() []LineHistory {
	if r.Runtime != inference.Kubelet {
		return r.Lines
	}
	var out []LineHistory
	for _, l := range r.Lines {
		n := len(out) - 1
		if n >= 0 && len(l.Segments) == 1 && len(out[n].Segments) == 1 && stateWords(out[n].Segments[0]) == stateWords(l.Segments[0]) {
			first, _, _ := strings.Cut(out[n].Line, " to ")
			segment := out[n].Segments[0]
			segment.To = l.Segments[0].To
			out[n] = LineHistory{Line: first + " to " + l.Line, Segments: []Segment{segment}}
			continue
		}
		out = append(out, l)
	}
	for i := range out[:max(len(out)-1, 0)] {
		out[i].Segments = slices.Clone(out[i].Segments)
		out[i].Segments[0].ToNewest = false // a later line goes on in another way
	}
	return out
}

func segmentSpan(s Segment) string {
	switch {
	case s.ToNewest && s.From != s.To:
		return s.From + " to " + s.To + ", the newest"
	case s.From != s.To:
		return s.From + " to " + s.To
	case s.ToNewest:
		return s.From + ", the newest"
	}
	return s.From
}

func stateWords(s Segment) string {
	text := s.State
	if s.When != "" {
		text += " on " + s.When
	}
	switch s.Default {
	case "true":
		text += ", the default"
	case "false":
		text += ", off by default"
	}
	if s.Effect != capability.NoEffect.String() {
		text += " (" + s.Effect
		if s.When != "" {
			text += " without"
		}
		text += ")"
	}
	return text
}

// Markdown writes the entry and one table a runtime.
func (d *Explain) Markdown(w io.Writer) error {
	c := d.Capability
	p := &printer{w: w}
	p.linef("## %s\n\n%s\n", c.ID, mdText(c.Title))
	p.linef("- without it: %s", mdText(c.Consequence))
	for _, line := range []struct{ name, value string }{
		{"instead", c.Instead}, {"API", strings.Join(c.API, ", ")}, {"protocol", c.Proto}, {"library", librarySince(c)}, {"note", c.Note},
	} {
		if line.value != "" {
			p.linef("- %s: %s", line.name, mdText(line.value))
		}
	}
	for _, r := range d.Runtimes {
		p.linef("\n### %s\n", r.Runtime)
		var rows [][]string
		for _, l := range r.Lines {
			for _, s := range l.Segments {
				rows = append(rows, []string{l.Line, segmentSpan(s), stateWords(s)})
			}
		}
		p.do(func(w io.Writer) error { return mdTable(w, []string{"Line", "Releases", "State"}, rows) })
		if r.Note != "" {
			p.linef("\n%s", mdText(r.Note))
		}
	}
	for _, b := range d.Bugs {
		p.linef("\n- known bug `%s` of %s (%s): %s", b.ID, b.Runtime, b.Severity, mdText(b.Text))
	}
	return p.err
}
