package rows

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// Print writes what would change, grouped by capability and release line, and
// what a person must decide.
func (c *Comparison) Print(w io.Writer) {
	for _, f := range c.found {
		if !f.Patch.IsZero() {
			fmt.Fprintf(w, "%s %s was read, which the row of %s answers for.\n\n", f.Runtime, f.Patch, f.Version)
		}
	}
	if len(c.Added) > 0 {
		fmt.Fprintf(w, "New releases:\n")
		for _, f := range c.Added {
			row, _ := f.row()
			fmt.Fprintf(w, "  %s %s, %s", row.Runtime, row.Version, cmp.Or(row.Date, "day not known"))
			if inference.FamilyOf(row.Runtime) == capability.NRI {
				fmt.Fprintf(w, ": NRI %s, reports the name %q, NRI %s by default", row.NRI, row.Name, onOff(row.NRIEnabled))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
	c.printFacts(w)
	c.printCells(w, "Changes of capabilities:", func(cell Cell) bool { return cell.New.State != capability.Unknown })
	c.printCells(w, "For a person to decide:", func(cell Cell) bool { return cell.New.State == capability.Unknown && !cell.open() })
	c.printCells(w, "Not decided, as the table says:", Cell.open)
	c.printNew(w)
	for _, line := range c.NewLines() {
		runtime, _, _ := strings.Cut(line, " ")
		fmt.Fprintf(w, "%s is a new line: add it to \"affected\" of the bugs that it has. Its predecessor has %s.\n\n", line, cmp.Or(strings.Join(c.OpenBugs(runtime), ", "), "none"))
	}
	if len(c.Unread) > 0 {
		what := spans(c.Unread)
		if len(what) > 200 {
			what = fmt.Sprintf("%d releases", len(c.Unread))
		}
		fmt.Fprintf(w, "Not read, kept as they are: %s.\n\n", what)
	}
	fmt.Fprintf(w, "%d cells compared, %d derived: %d equal, %d different; %d not decided.\n", c.Compared, c.Equal+c.Different, c.Equal, c.Different, c.Unknown)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (c *Comparison) printFacts(w io.Writer) {
	if len(c.Facts) == 0 {
		return
	}
	fmt.Fprintln(w, "Changes of rows and settings:")
	facts := slices.Clone(c.Facts)
	slices.SortStableFunc(facts, func(a, b Fact) int { return strings.Compare(a.Runtime+a.What, b.Runtime+b.What) })
	for i := 0; i < len(facts); {
		j := i
		for j+1 < len(facts) && sameFact(facts[i], facts[j+1]) {
			j++
		}
		f := facts[i]
		fmt.Fprintf(w, "  %s %s: %s: ", f.Runtime, span(f.Version, facts[j].Version), f.What)
		if f.Why != "" {
			fmt.Fprintf(w, "not decided: %s\n", f.Why)
		} else {
			fmt.Fprintf(w, "%q → %q\n", f.Old, f.New)
		}
		i = j + 1
	}
	fmt.Fprintln(w)
}

func sameFact(a, b Fact) bool {
	return a.Runtime == b.Runtime && a.What == b.What && a.Old == b.Old && a.New == b.New && a.Why == b.Why && a.Version.Line() == b.Version.Line()
}

func span(from, to inference.Version) string {
	if from == to {
		return from.String()
	}
	return from.String() + " to " + to.String()
}

// printCells writes cells, neighbours of a line that say the same as one.
func (c *Comparison) printCells(w io.Writer, title string, which func(Cell) bool) {
	var cells []Cell
	for _, cell := range c.Cells {
		if which(cell) {
			cells = append(cells, cell)
		}
	}
	if len(cells) == 0 {
		return
	}
	fmt.Fprintln(w, title)
	previous := capability.ID(0)
	for i := 0; i < len(cells); {
		j := i
		for j+1 < len(cells) && sameCell(cells[i], cells[j+1]) {
			j++
		}
		cell := cells[i]
		if i == 0 || cell.Capability != previous {
			fmt.Fprintf(w, "  %s\n", cell.Capability)
			previous = cell.Capability
		}
		fmt.Fprintf(w, "    %s %s (line %s, %d): ", cell.Runtime, span(cell.Version, cells[j].Version), cell.Version.Line(), j-i+1)
		if cell.New.State == capability.Unknown {
			fmt.Fprintf(w, "%s; %s\n", describe(cell), cell.New.Why)
		} else {
			fmt.Fprintf(w, "%s → %s\n", cell.Old, cell.New)
			fmt.Fprintf(w, "      %s\n", evidence(cell.New))
		}
		i = j + 1
	}
	fmt.Fprintln(w)
}

// open tells whether neither the table nor a probe decides a cell.
func (cell Cell) open() bool {
	return !cell.Added && cell.New.State == capability.Unknown && cell.Old.State == capability.Unknown
}

func describe(cell Cell) string {
	if cell.Added {
		return "not decided"
	}
	return "the table says " + cell.Old.String()
}

func sameCell(a, b Cell) bool {
	return a.Capability == b.Capability && a.Runtime == b.Runtime && a.Version.Line() == b.Version.Line() &&
		a.Old.Same(b.Old) && a.New.Same(b.New) && a.New.Why == b.New.Why && a.Added == b.Added
}

func evidence(v probe.Verdict) string {
	text := strings.Join(v.Files, ", ")
	if v.In != "" {
		text += " (" + v.In + ")"
	}
	return strings.TrimSpace(text)
}

// printNew writes in what new releases differ from the one before them in
// their line, or in the line before it.
func (c *Comparison) printNew(w io.Writer) {
	cells := c.old.cells()
	for _, f := range c.Added {
		before, _ := c.before(f)
		if before.IsZero() {
			continue
		}
		var lines []string
		for _, d := range c.differs(f, cells) {
			mark := ""
			if rank(d.now) > rank(d.was) {
				mark = "  LOST"
			} else if c.ungated(f, d) {
				mark = "  WITHOUT ITS SETTING"
			}
			lines = append(lines, fmt.Sprintf("    %s: %s → %s  %s%s", d.id, d.was, d.now, evidence(d.now), mark))
		}
		lines = append(lines, c.newDefaults(f)...)
		lines = append(lines, c.newGates(f)...)
		if len(lines) == 0 {
			fmt.Fprintf(w, "%s %s treats every capability as %s does.\n\n", f.Runtime, f.Version, before)
			continue
		}
		slices.Sort(lines)
		fmt.Fprintf(w, "%s %s differs from %s:\n%s\n\n", f.Runtime, f.Version, before, strings.Join(lines, "\n"))
	}
}

// newDefaults are the settings of a new release that have another default than
// in the one before it, or one that could not be read. They change what
// conditional capabilities amount to.
func (c *Comparison) newDefaults(f Found) []string {
	before, report := c.before(f)
	var out []string
	for _, s := range f.settings() {
		was, had := "", false
		if report != nil {
			old, ok := report.Settings[s.Name]
			was, had = old.Value, ok && !old.Absent && old.Why == ""
		} else if old, ok := c.old.setting(s.Name, f.Runtime, before); ok {
			was, had = old.Value, true
		}
		switch {
		case s.Why != "":
			out = append(out, fmt.Sprintf("    setting %s: not decided: %s", s.Name, s.Why))
		case s.Absent || had && was == s.Value:
		case had:
			out = append(out, fmt.Sprintf("    setting %s: %q → %q  %s", s.Name, was, s.Value, s.At))
		default:
			out = append(out, fmt.Sprintf("    setting %s: new, %q by default  %s", s.Name, s.Value, s.At))
		}
	}
	return out
}

// newGates are the feature gates of a new kubelet that no rule knows and that the
// release before it did not ask for, or is not known not to.
func (c *Comparison) newGates(f Found) []string {
	if inference.FamilyOf(f.Runtime) == capability.NRI {
		return nil
	}
	_, before := c.before(f)
	var out []string
	for _, s := range f.Report.Config {
		same := func(o probe.Setting) bool { return o.Key == s.Key }
		if before == nil || !slices.ContainsFunc(before.Config, same) {
			out = append(out, fmt.Sprintf("    %s, which no rule knows, is asked for: %s", s.Key, s.At))
		}
	}
	return out
}

// difference is a capability that a new release treats otherwise than the one
// before it.
type difference struct {
	id       capability.ID
	was, now probe.Verdict
}

func (c *Comparison) differs(f Found, cells map[cellKey]*inference.Range) []difference {
	before, report := c.before(f)
	var out []difference
	for _, id := range inference.CapabilitiesOf(f.Runtime) {
		d := difference{id: id, now: f.Report.Verdicts[id]}
		if report != nil {
			d.was = report.Verdicts[id]
		} else if r := cells[cellKey{f.Runtime, before, id}]; r != nil {
			d.was = probe.Verdict{State: r.State, Effect: r.Effect, When: r.When}
		}
		if !d.now.Same(d.was) && d.now.State != capability.Unknown && d.was.State != capability.Unknown {
			out = append(out, d)
		}
	}
	return out
}

// before returns the newest release older than one that was added, with its
// report if it was read too.
func (c *Comparison) before(f Found) (v inference.Version, report *probe.Report) {
	for _, r := range c.old.Releases {
		if r.Runtime == f.Runtime && r.Version.Compare(f.Version) < 0 && r.Version.Compare(v) > 0 {
			v = r.Version
		}
	}
	for _, g := range c.found {
		if g.Runtime == f.Runtime && g.Version.Compare(f.Version) < 0 && g.Version.Compare(v) >= 0 {
			v, report = g.Version, g.Report
		}
	}
	return v, report
}
