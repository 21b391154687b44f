package rows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// Found is a release that was read.
type Found struct {
	Runtime string
	Version inference.Version
	// Date is the day of the tag, empty if only that of the commit is known.
	Date string
	// Day is the day of the commit, for a release whose tag was not there.
	Day string
	NRI string
	// Patch is the release that was read, if another one has the row that answers
	// for it; zero else.
	Patch  inference.Version
	Report *probe.Report
}

// Comparison is what a run found out next to what the table says.
type Comparison struct {
	old   *Document
	found []Found
	only  []capability.ID // empty for all

	// Compared counts the cells of releases that are in the table and were
	// read; Equal, Different and Unknown are its parts.
	Compared, Equal, Different, Unknown int
	// Open counts the cells among Unknown that the table does not decide either.
	Open int
	// Cells are the cells that differ or are not decided, of all releases that
	// were read, in the order of capabilities and releases.
	Cells []Cell
	// Facts are the other things that differ.
	Facts []Fact
	// Added are the releases that the table does not have.
	Added []Found
	// Unread are releases of the table that no source was given for.
	Unread []inference.Release
}

// Cell is one capability of one release.
type Cell struct {
	Runtime    string
	Version    inference.Version
	Capability capability.ID
	// Old is what the table says; only its verdict, with an unknown state for a
	// release that it does not have.
	Old probe.Verdict
	New probe.Verdict
	// Added is set if the table does not have the release.
	Added bool
}

// Fact is a difference in what a release's row or a setting says.
type Fact struct {
	Runtime  string
	Version  inference.Version
	What     string
	Old, New string
	// Why says why the new value is not known, if it is not.
	Why string
}

// Compare compares releases with a table. The releases may come in any order.
// If capabilities are named, those alone are compared, and nothing else of
// releases that the table has.
func Compare(d *Document, found []Found, only ...capability.ID) *Comparison {
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(strings.Compare(a.Runtime, b.Runtime), a.Version.Compare(b.Version))
	})
	c := &Comparison{old: d, found: found, only: only}
	cells := d.cells()
	read := map[string]bool{}
	for _, f := range found {
		read[f.Runtime+" "+f.Version.String()] = true
		row := d.release(f.Runtime, f.Version)
		if row == nil {
			c.Added = append(c.Added, f)
		} else if len(only) == 0 {
			c.facts(*row, f)
		}
		for _, id := range inference.CapabilitiesOf(f.Runtime) {
			if row != nil && !c.compares(id) {
				continue
			}
			c.cell(id, f, row != nil, cells[cellKey{f.Runtime, f.Version, id}])
		}
	}
	slices.SortStableFunc(c.Cells, func(a, b Cell) int {
		return cmp.Or(strings.Compare(a.Capability.String(), b.Capability.String()),
			strings.Compare(a.Runtime, b.Runtime), a.Version.Compare(b.Version))
	})
	for _, r := range d.Releases {
		if !read[r.Runtime+" "+r.Version.String()] {
			c.Unread = append(c.Unread, r)
		}
	}
	return c
}

// compares tells whether a capability is to be compared.
func (c *Comparison) compares(id capability.ID) bool {
	return len(c.only) == 0 || slices.Contains(c.only, id)
}

func (c *Comparison) cell(id capability.ID, f Found, known bool, old *inference.Range) {
	v := f.Report.Verdicts[id]
	cell := Cell{Runtime: f.Runtime, Version: f.Version, Capability: id, New: v, Added: !known}
	if old != nil {
		cell.Old = probe.Verdict{State: old.State, Effect: old.Effect, When: old.When}
	}
	if known {
		c.Compared++
	}
	switch {
	case v.State == capability.Unknown:
		if known {
			c.Unknown++
		}
		if known && cell.Old.State == capability.Unknown {
			c.Open++
		}
	case known && v.Same(cell.Old):
		c.Equal++
		return
	case known:
		c.Different++
	default:
		return // a new release has nothing to differ from
	}
	c.Cells = append(c.Cells, cell)
}

// facts compares what the rows say besides capabilities.
func (c *Comparison) facts(row inference.Release, f Found) {
	add := func(what, old, new, why string) {
		if old != new || why != "" {
			c.Facts = append(c.Facts, Fact{f.Runtime, f.Version, what, old, new, why})
		}
	}
	new, problems := f.row()
	if new.Date != "" && f.Date != "" {
		add("date", row.Date, new.Date, "")
	}
	add("nri", row.NRI, new.NRI, "")
	add("name", row.Name, new.Name, problems["name"])
	add("nriEnabled", fmt.Sprint(row.NRIEnabled), fmt.Sprint(new.NRIEnabled), problems["nriEnabled"])
	for _, s := range f.settings() {
		d, ok := c.old.setting(s.Name, f.Runtime, f.Version)
		if s.Absent && s.Why == "" {
			continue // a setting that is gone decides nothing any more
		}
		if !ok {
			add("setting "+s.Name, "", s.Value, s.Why)
			continue
		}
		add("setting "+s.Name, d.Value, s.Value, s.Why)
		if s.Why == "" {
			add("key of setting "+s.Name, d.Key, s.Key, "")
		}
	}
}

// row is the row of a release as it was read, with the reasons for what could
// not be, by the name of the column.
func (f Found) row() (inference.Release, map[string]string) {
	problems := map[string]string{}
	out := inference.Release{
		Runtime: f.Runtime, Version: f.Version, Date: cmp.Or(f.Date, f.Day), NRI: f.NRI, Name: f.Report.Name.Value,
	}
	if inference.FamilyOf(f.Runtime) != capability.NRI {
		if out.Date == "" {
			problems["date"] = "the day of the release is not in what was read: let the Go client fetch it, or add the row by hand"
		}
		return out, problems // it neither has NRI nor introduces itself to NRI plugins
	}
	if f.Report.Name.Why != "" {
		problems["name"] = f.Report.Name.Why
	}
	on := f.Report.Settings[inference.NRIEnabled]
	out.NRIEnabled = on.Value == "true"
	if on.Why != "" || on.Absent || on.Value != "true" && on.Value != "false" {
		problems["nriEnabled"] = cmp.Or(on.Why, "the release has no switch for NRI where it used to be")
	}
	return out, problems
}

// settings returns the settings that were read, by name.
func (f Found) settings() []probe.Setting {
	var out []probe.Setting
	for _, s := range f.Report.Settings {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b probe.Setting) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// setting returns the default that the table has for a setting.
func (d *Document) setting(name, runtime string, v inference.Version) (found inference.Default, ok bool) {
	for _, s := range d.Settings {
		if s.Setting == name && s.Runtime == runtime && s.From.Compare(v) <= 0 {
			found, ok = s, true
		}
	}
	return found, ok
}

// NewLines are the release lines that the table does not have yet, as
// "RUNTIME LINE". For these a person must say which of the known bugs they have.
func (c *Comparison) NewLines() []string {
	known := map[string]bool{}
	for _, r := range c.old.Releases {
		known[r.Runtime+" "+r.Version.Line()] = true
	}
	var out []string
	for _, f := range c.Added {
		if line := f.Runtime + " " + f.Version.Line(); !known[line] && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// OpenBugs are the bugs that the newest line of a runtime has, for which a new
// line must be looked at.
func (c *Comparison) OpenBugs(runtime string) []string {
	var newest inference.Version
	for _, r := range c.old.Releases {
		if r.Runtime == runtime && !r.Version.Main && r.Version.Compare(newest) > 0 {
			newest = r.Version
		}
	}
	var out []string
	for _, b := range c.old.Bugs {
		for _, a := range b.Affected {
			if b.Runtime == runtime && a.Line == newest.Line() && a.Fixed.IsZero() {
				out = append(out, b.ID)
			}
		}
	}
	return out
}
