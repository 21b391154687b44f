package inference

import (
	"cmp"
	"io"
	"slices"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

// Overlay returns the table with the rows of a file laid over it: rows of the
// same key are replaced, others are added, and each range decides the releases
// from its From to its To, or to the end of the line. Every release row and
// range of an overlay must say Because. The receiver is unchanged, also on
// error; errors are of type [FileError] and name the line.
func (t *Table) Overlay(r io.Reader, name string) (*Table, error) {
	f, text, err := readFile(r, name)
	if err != nil {
		return nil, err
	}
	for _, p := range f.problems(t) {
		return nil, f.errorf(f.lines[p.section][p.row], "%v", p.err)
	}
	if err := f.explained(); err != nil {
		return nil, err
	}
	out := &Table{
		version: t.version,
		origin:  t.origin + "+" + name,
		sum:     sync.OnceValue(func() string { return digest([]byte(t.SHA256()), text) }),
		rows:    overlaySections(t.rows, f.rows),
	}
	out.index()
	out.ranges = overlayRanges(t.ranges, out, f.ranges)
	return out, nil
}

// explained checks that an overlay gives its reasons.
func (f *file) explained() error {
	for i, r := range f.rows.Releases {
		if r.Because == "" {
			return f.errorf(f.lines["releases"][i], "release %s %s of an overlay needs because", r.Runtime, r.Version)
		}
	}
	for i, r := range f.ranges {
		if r.Because == "" {
			return f.errorf(f.lines["ranges"][i], "range %s of %s from %s of an overlay needs because", r.Capability, r.Runtime, r.From)
		}
	}
	return nil
}

func overlaySections(base, over sections) sections {
	out := sections{
		Origins:  overlayRows(base.Origins, over.Origins, func(a, b Origin) bool { return a.Runtime == b.Runtime }),
		Releases: overlayRows(base.Releases, over.Releases, func(a, b Release) bool { return a.Runtime == b.Runtime && a.Version == b.Version }),
		Settings: overlayRows(base.Settings, over.Settings, func(a, b Default) bool {
			return a.Setting == b.Setting && a.Runtime == b.Runtime && a.From == b.From
		}),
		Bugs:    overlayRows(base.Bugs, over.Bugs, func(a, b Bug) bool { return a.ID == b.ID && a.Runtime == b.Runtime }),
		Notes:   overlayRows(base.Notes, over.Notes, func(a, b Note) bool { return a.Capability == b.Capability && a.Runtime == b.Runtime }),
		Changes: slices.Concat(base.Changes, over.Changes),
	}
	slices.SortStableFunc(out.Releases, func(a, b Release) int {
		return cmp.Or(cmp.Compare(a.Runtime, b.Runtime), a.Version.Compare(b.Version))
	})
	slices.SortStableFunc(out.Settings, func(a, b Default) int { return a.From.Compare(b.From) })
	return out
}

func overlayRows[T any](base, over []T, same func(a, b T) bool) []T {
	out := slices.Clone(base)
	for _, row := range over {
		if i := slices.IndexFunc(out, func(b T) bool { return same(b, row) }); i >= 0 {
			out[i] = row
		} else {
			out = append(out, row)
		}
	}
	return out
}

// overRanges answers from the lines that an overlay touches, and from the
// table below for all others.
type overRanges struct {
	over map[cellKey][]Range
	base rangeSource
	// lines are the release lines of each runtime, oldest first.
	lines map[string][]string
}

func (o overRanges) ranges(id capability.ID, runtime, line string) []Range {
	if line == "" {
		var out []Range
		for _, l := range o.lines[runtime] {
			out = append(out, o.ranges(id, runtime, l)...)
		}
		return out
	}
	if over, ok := o.over[cellKey{id, runtime, line}]; ok {
		return over
	}
	return o.base.ranges(id, runtime, line)
}

func overlayRanges(base rangeSource, t *Table, over []Range) rangeSource {
	o := overRanges{over: map[cellKey][]Range{}, base: base, lines: map[string][]string{}}
	for _, name := range Runtimes() {
		o.lines[name] = t.Lines(name)
	}
	for _, r := range over {
		key := cellKey{r.Capability, r.Runtime, r.Line}
		o.over[key] = t.splice(o.ranges(key.id, key.runtime, key.line), r)
	}
	return o
}

// splice puts a run into the ranges of a line: release by release, so that
// what stood there before comes back after the run.
func (t *Table) splice(ranges []Range, run Range) []Range {
	var out []Range
	for _, rel := range t.line(run.Runtime, run.Line).rows {
		cell, ok := run, run.From.Compare(rel.Version) <= 0 && (run.To.IsZero() || rel.Version.Compare(run.To) <= 0)
		if !ok {
			cell, ok = latest(ranges, rel.Version)
		}
		if !ok || len(out) > 0 && sameCell(out[len(out)-1], cell) {
			continue
		}
		cell.Source, cell.tail = cell.Sources(), nil
		if cell.At.IsZero() && len(cell.Files) > 0 {
			cell.At = cell.From // the files stay those of the tag they were seen at
		}
		cell.From, cell.To = rel.Version, Version{}
		out = append(out, cell)
	}
	return out
}

func sameCell(a, b Range) bool {
	return a.State == b.State && a.When == b.When && a.Effect == b.Effect && a.Because == b.Because
}
