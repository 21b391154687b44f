package inference

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Verify checks a table file: a whole table, or an overlay for the built-in
// one, which has no origins. It returns everything that is wrong, each a
// [FileError]; a file that cannot be decoded gives one.
func Verify(r io.Reader, name string) []error {
	f, _, err := readFile(r, name)
	if err != nil {
		return []error{err}
	}
	base := Builtin()
	whole := len(f.rows.Origins) > 0
	if whole {
		base = nil
	}
	var out []error
	for _, p := range f.problems(base) {
		out = append(out, f.errorf(f.lines[p.section][p.row], "%v", p.err))
	}
	if whole {
		out = append(out, f.complete()...)
	} else if err := f.explained(); err != nil {
		out = append(out, err)
	}
	return out
}

// VerifyBuiltin checks the table that is part of the program, its canonical
// form included.
func VerifyBuiltin() []error {
	out := Verify(bytes.NewReader(builtinJSON), "builtin")
	f, _, err := readFile(bytes.NewReader(builtinJSON), "builtin")
	if err != nil {
		return out
	}
	if text, err := f.canonical(); err != nil {
		out = append(out, err)
	} else if !bytes.Equal(text, builtinJSON) {
		out = append(out, f.errorf(firstDifference(text, builtinJSON), "the table is not in canonical form"))
	}
	return out
}

// complete checks what a whole table must have: every capability in every
// release, in order, and nothing an overlay alone may have.
func (f *file) complete() []error {
	var out []error
	fail := func(section string, row int, format string, args ...any) {
		out = append(out, f.errorf(f.lines[section][row], format, args...))
	}
	if err := checkDate(f.version); err != nil {
		out = append(out, f.errorf(0, "version: %v", err))
	}
	rows := f.rows.Releases
	for i := 1; i < len(rows); i++ {
		if cmp.Or(cmp.Compare(rows[i-1].Runtime, rows[i].Runtime), rows[i-1].Version.Compare(rows[i].Version)) >= 0 {
			fail("releases", i, "%s %s stands behind a newer release", rows[i].Runtime, rows[i].Version)
		}
	}
	for i := 1; i < len(f.ranges); i++ {
		if compareRanges(f.ranges[i-1], f.ranges[i]) >= 0 {
			fail("ranges", i, "%s of %s from %s is out of order", f.ranges[i].Capability, f.ranges[i].Runtime, f.ranges[i].From)
		}
	}
	for i, r := range f.ranges {
		if !r.To.IsZero() {
			fail("ranges", i, "only an overlay's range has a to")
		}
	}
	return append(out, f.holes()...)
}

// holes finds the releases that have no range for a capability.
func (f *file) holes() []error {
	byCell := map[cellKey][]Range{}
	for _, r := range f.ranges {
		key := cellKey{r.Capability, r.Runtime, r.Line}
		byCell[key] = append(byCell[key], r)
	}
	var out []error
	for i, rel := range f.rows.Releases {
		for _, id := range CapabilitiesOf(rel.Runtime) {
			if _, ok := latest(byCell[cellKey{id, rel.Runtime, rel.Version.Line()}], rel.Version); !ok {
				out = append(out, f.errorf(f.lines["releases"][i], "%s %s has no range for %s", rel.Runtime, rel.Version, id))
			}
		}
	}
	return out
}

func compareRanges(a, b Range) int {
	return cmp.Or(cmp.Compare(a.Capability.String(), b.Capability.String()),
		cmp.Compare(a.Runtime, b.Runtime), a.From.Compare(b.From))
}

// Canonical reads a table file and returns it in the form in which the
// built-in table is kept: one row a line, keys and ranges in a fixed order.
// An error is a [FileError]; whether the rows make sense is not checked, see
// [Verify].
func Canonical(r io.Reader, name string) ([]byte, error) {
	f, _, err := readFile(r, name)
	if err != nil {
		return nil, err
	}
	return f.canonical()
}

// canonical writes the table as it is embedded: one row a line, sorted.
func (f *file) canonical() ([]byte, error) {
	rows := f.rows
	ranges := slices.Clone(f.ranges)
	slices.SortStableFunc(ranges, compareRanges)
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"schemaVersion\":%d,\n\"version\":%q", f.schemaVersion, f.version)
	err := errors.Join(
		writeRows(&b, "origins", rows.Origins),
		writeRows(&b, "releases", rows.Releases),
		writeRows(&b, "settings", rows.Settings),
		writeRows(&b, "bugs", rows.Bugs),
		writeRows(&b, "notes", rows.Notes),
		writeRows(&b, "changes", rows.Changes),
		writeRows(&b, "ranges", ranges),
	)
	b.WriteString("\n}\n")
	return b.Bytes(), err
}

func firstDifference(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return lineAt(b, int64(n))
}
