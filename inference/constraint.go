package inference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Select returns the runtimes that an expression names, oldest first:
//
//	containerd@1.7.24          that release, known to the table or not
//	containerd://2.0.5-k3s1    any form that [ParseRuntime] reads
//	containerd@1.7             the newest release of line 1.7
//	containerd@1.7.x           the whole line
//	containerd@>=1.7.7 <2.2    every release of the table in that range
//	containerd@all             every release of the table
//	cri-o@main                 the development snapshot
//	kubelet@>=1.27             minor releases of the kubelet
//
// Lines, ranges and "all" contain releases only; a pre-release is selected by
// naming it. An expression that is malformed or selects nothing is an error of
// type [RuntimeError].
func (t *Table) Select(expr string) ([]Runtime, error) {
	c, err := parseConstraint(expr)
	if err != nil {
		return nil, err
	}
	if c.pass == nil {
		return []Runtime{c.one}, nil
	}
	all, err := t.matching(expr, c.name, c.pass)
	if err == nil && c.newest {
		all = all[len(all)-1:]
	}
	return all, err
}

// Matches tells whether a runtime is one that an expression of [Table.Select]
// names, whether the table knows its release or not: a vendor's build counts as
// the release that it is built on, unless the expression names a build itself.
// The errors are those of Select, except that a range which selects nothing is
// none.
func (t *Table) Matches(expr string, r Runtime) (bool, error) {
	c, err := parseConstraint(expr)
	if err != nil {
		return false, err
	}
	if c.pass == nil {
		same := r.Name == c.one.Name && r.Version.Compare(c.one.Version) == 0
		return same && (c.one.Upstream() || r == c.one), nil
	}
	canonical, ok := canonicalRuntime(c.name)
	if !ok {
		_, err := t.matching(expr, c.name, c.pass)
		return false, err
	}
	if r.Name != canonical || r.Version.Prerelease() || !c.pass(r.Version) {
		return false, nil
	}
	if !c.newest || canonical == Kubelet {
		return true, nil // the row of a line of the kubelet stands for all of it
	}
	all, err := t.matching(expr, c.name, c.pass)
	return err == nil && r.Version.Compare(all[len(all)-1].Version) == 0, err
}

// constraint is an expression that names runtimes.
type constraint struct {
	one    Runtime // what it names if pass is nil
	name   string  // of the runtime, as it was given
	pass   func(Version) bool
	newest bool // only the newest release that passes
}

func parseConstraint(expr string) (constraint, error) {
	name, version, ok := strings.Cut(strings.TrimSpace(expr), "@")
	if !ok || strings.Contains(expr, "://") || strings.ContainsAny(name, " \t\n") {
		return oneRuntime(expr)
	}
	version = strings.TrimSpace(version)
	line := strings.TrimPrefix(version, "v")
	whole := false
	for _, wildcard := range []string{".x", ".*"} {
		if l, ok := strings.CutSuffix(line, wildcard); ok {
			line, whole = l, true
		}
	}
	inLine := func(v Version) bool { return v.Line() == line }
	switch {
	case version == "all":
		return constraint{name: name, pass: func(Version) bool { return true }}, nil
	case whole:
		if !isLine(line) {
			return constraint{}, badRange(expr, version, "a line is MAJOR.MINOR.x")
		}
		return constraint{name: name, pass: inLine}, nil
	case isLine(line):
		return constraint{name: name, pass: inLine, newest: true}, nil
	case strings.ContainsAny(version, "<>=!^,|"), strings.HasPrefix(version, "~"):
		if canonical, _ := canonicalRuntime(name); canonical == Kubelet && namesPatch(version) {
			return constraint{}, badRange(expr, version, "the table has minor releases of the kubelet: a range looks like '>=1.27 <1.30', a patch release is named by itself, kubelet@1.28.3")
		}
		pass, err := rangeOf(expr, version)
		return constraint{name: name, pass: pass}, err
	}
	return oneRuntime(expr)
}

func oneRuntime(expr string) (constraint, error) {
	r, err := ParseRuntime(expr)
	return constraint{one: r}, err
}

const maxRangeLength = 200

func rangeOf(expr, version string) (func(Version) bool, error) {
	if len(version) > maxRangeLength {
		return nil, badRange(expr, version, fmt.Sprintf("a range has at most %d bytes", maxRangeLength))
	}
	c, err := semver.NewConstraint(version)
	if err != nil {
		return nil, badRange(expr, version, "a range looks like '>=1.7.7 <2.2'")
	}
	return func(v Version) bool { return c.Check(semver.New(v.Major, v.Minor, v.Patch, "", "")) }, nil
}

// matching returns the releases of a runtime, without pre-releases, that pass.
func (t *Table) matching(expr, name string, pass func(Version) bool) ([]Runtime, error) {
	canonical, ok := canonicalRuntime(name)
	if !ok {
		reason, hint := foreignReason(name)
		return nil, &RuntimeError{Input: shorten(expr), Reason: reason, Hint: hint}
	}
	var out, all []Runtime
	for _, r := range t.rows.Releases {
		if r.Runtime != canonical || r.Version.Prerelease() {
			continue
		}
		rt := Runtime{Name: r.Runtime, Version: r.Version}
		all = append(all, rt)
		if pass(r.Version) {
			out = append(out, rt)
		}
	}
	if len(out) == 0 {
		hint := "the table has none at all"
		if len(all) > 0 {
			hint = fmt.Sprintf("it has %s to %s", all[0].Version, all[len(all)-1].Version)
		}
		return nil, &RuntimeError{Input: shorten(expr), Reason: "no release in the table matches", Hint: hint}
	}
	return out, nil
}

// namesPatch tells whether a range names a patch release other than the first.
func namesPatch(version string) bool {
	for _, word := range strings.FieldsFunc(version, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
		if parts := strings.Split(word, "."); len(parts) > 2 && strings.Trim(parts[2], "0") != "" {
			return true
		}
	}
	return false
}

func badRange(expr, version, rule string) error {
	return &RuntimeError{Input: shorten(expr), Reason: fmt.Sprintf("%q is no range of versions", shorten(version)), Hint: rule}
}

// isLine tells whether s is "MAJOR.MINOR" without leading zeros.
func isLine(s string) bool {
	major, minor, ok := strings.Cut(s, ".")
	return ok && !slices.ContainsFunc([]string{major, minor}, func(n string) bool {
		return n == "" || leadingDigits(n) != n || len(n) > 1 && n[0] == '0'
	})
}
