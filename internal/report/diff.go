package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Diff is the document of the diff command: what changes from one runtime to
// another.
type Diff struct {
	Head
	From        RuntimeRange `json:"from"`
	To          RuntimeRange `json:"to"`
	Differences []Difference `json:"differences"`
	// BugsGone and BugsNew are the known bugs that only one of the two has.
	BugsGone []KnownBug     `json:"bugsGone"`
	BugsNew  []KnownBug     `json:"bugsNew"`
	Counts   map[string]int `json:"counts"`
}

// Difference is one capability in which two runtimes differ.
type Difference struct {
	ID    string `json:"id"`
	Shift string `json:"shift" jsonschema:"enum=gained,enum=lost,enum=worse,enum=better,enum=changed,enum=unknown"`
	From  State  `json:"from"`
	To    State  `json:"to"`
}

// NewDiff compares two runtimes.
func NewDiff(head Head, a, b inference.Support) *Diff {
	one := func(s inference.Support) RuntimeRange {
		return newRuntimeRange(inference.Group{Outcomes: []inference.Outcome{{Support: s}}})
	}
	d := &Diff{
		Head: head, From: one(a), To: one(b), Differences: []Difference{},
		BugsGone: bugsOnlyIn(a, b), BugsNew: bugsOnlyIn(b, a), Counts: map[string]int{},
	}
	for _, diff := range inference.Diff(a, b) {
		d.Counts[string(diff.Shift)]++
		d.Differences = append(d.Differences, Difference{
			diff.Capability.String(), string(diff.Shift),
			NewState(diff.Capability, diff.From), NewState(diff.Capability, diff.To),
		})
	}
	return d
}

func bugsOnlyIn(a, b inference.Support) []KnownBug {
	out := []KnownBug{}
	other := b.Bugs()
	for _, bug := range a.Bugs() {
		if !slices.ContainsFunc(other, func(o inference.Bug) bool { return o.ID == bug.ID && o.Runtime == bug.Runtime }) {
			out = append(out, newKnownBug(bug))
		}
	}
	return out
}

// Loses tells whether something that was there is not there any more, or does
// more harm than before.
func (d *Diff) Loses() bool {
	return d.Counts[string(inference.Lost)] > 0 || d.Counts[string(inference.Worse)] > 0
}

// Unsure tells whether something could not be compared.
func (d *Diff) Unsure() bool { return d.Counts[string(inference.Unsure)] > 0 }

// shifts are the kinds of change in the order in which they are shown.
var shifts = []struct {
	shift inference.Shift
	mark  string
}{
	{inference.Lost, "-"}, {inference.Worse, "!"}, {inference.Unsure, "?"},
	{inference.Gained, "+"}, {inference.Better, "~"}, {inference.Changed, "~"},
}

// Text writes what is lost, then what is gained.
func (d *Diff) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	p.linef("from  %s   %s", d.From.title(), d.From.knowledge(d.tableName()))
	p.linef("to    %s   %s", d.To.title(), d.To.knowledge(d.tableName()))
	p.linef("")
	if rows := d.rows(); len(rows) > 0 {
		p.do(func(w io.Writer) error {
			return grid(w, style, []string{"", "CAPABILITY", "CHANGE", "FROM", "TO"}, rows)
		})
	}
	if f, t := d.From.NRISwitch, d.To.NRISwitch; f != nil && t != nil && f.Met() != t.Met() {
		p.linef("NRI by default: %s, then %s", onOff(f.Met()), onOff(t.Met()))
	}
	for _, b := range d.BugsNew {
		p.linef("new known bug %s (%s): %s", b.ID, b.Severity, b.Text)
	}
	for _, b := range d.BugsGone {
		p.linef("gone: known bug %s (%s)", b.ID, b.Severity)
	}
	p.linef("%s", d.summary())
	return p.err
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (d *Diff) rows() [][]string {
	var rows [][]string
	for _, s := range shifts {
		for _, diff := range d.Differences {
			if diff.Shift == string(s.shift) {
				rows = append(rows, []string{s.mark, diff.ID, diff.Shift, diff.From.short(), diff.To.short()})
			}
		}
	}
	return rows
}

// short words a state in one or two words.
func (s State) short() string {
	text := s.State
	for _, set := range s.Settings {
		text += fmt.Sprintf(" on %s=%s (is %s)", set.Name, set.Want, orNotSet(set.Value))
	}
	if s.Effect != capability.NoEffect.String() && s.State != capability.Conditional.String() {
		text += " (" + s.Effect + ")"
	}
	return text
}

func (d *Diff) summary() string {
	n := func(s inference.Shift) int { return d.Counts[string(s)] }
	line := fmt.Sprintf("%d gained, %d lost", n(inference.Gained), n(inference.Lost))
	if worse := n(inference.Worse); worse > 0 {
		line += fmt.Sprintf(", %d worse", worse)
	}
	if other := n(inference.Changed) + n(inference.Better); other > 0 {
		line += fmt.Sprintf(", %d changed", other)
	}
	if unsure := n(inference.Unsure); unsure > 0 {
		line += fmt.Sprintf(", %d unknown", unsure)
	}
	return line
}

// Markdown writes the differences as a table.
func (d *Diff) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## %s to %s: %s\n", mdText(d.From.title()), mdText(d.To.title()), d.summary())
	rows := d.rows()
	for i := range rows {
		rows[i] = rows[i][1:]
	}
	p.do(func(w io.Writer) error { return mdTable(w, []string{"Capability", "Change", "From", "To"}, rows) })
	for _, b := range d.BugsNew {
		p.linef("\n- new known bug `%s` (%s): %s", b.ID, b.Severity, mdText(b.Text))
	}
	for _, b := range d.BugsGone {
		p.linef("\n- gone: known bug `%s` (%s)", b.ID, b.Severity)
	}
	return p.err
}
