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
//
// Lines, ranges and "all" contain releases only; a pre-release is selected by
// naming it. An expression that is malformed or selects nothing is an error of
// type [RuntimeError].
func (t *Table) Select(expr string) ([]Runtime, error) {
	name, version, ok := strings.Cut(strings.TrimSpace(expr), "@")
	if !ok || strings.Contains(expr, "://") || strings.ContainsAny(name, " \t\n") {
		return selectOne(expr)
	}
	version = strings.TrimSpace(version)
	line := strings.TrimPrefix(version, "v")
	whole := false
	for _, wildcard := range []string{".x", ".*"} {
		if l, ok := strings.CutSuffix(line, wildcard); ok {
			line, whole = l, true
		}
	}
	switch {
	case version == "all":
		return t.matching(expr, name, func(Version) bool { return true })
	case whole:
		if !isLine(line) {
			return nil, badRange(expr, version, "a line is MAJOR.MINOR.x")
		}
		return t.matching(expr, name, func(v Version) bool { return v.Line() == line })
	case isLine(line):
		all, err := t.matching(expr, name, func(v Version) bool { return v.Line() == line })
		if err != nil {
			return nil, err
		}
		return all[len(all)-1:], nil
	case strings.ContainsAny(version, "<>=!^,|"), strings.HasPrefix(version, "~"):
		return t.inRange(expr, name, version)
	}
	return selectOne(expr)
}

func selectOne(expr string) ([]Runtime, error) {
	r, err := ParseRuntime(expr)
	if err != nil {
		return nil, err
	}
	return []Runtime{r}, nil
}

const maxRangeLength = 200

func (t *Table) inRange(expr, name, version string) ([]Runtime, error) {
	if len(version) > maxRangeLength {
		return nil, badRange(expr, version, fmt.Sprintf("a range has at most %d bytes", maxRangeLength))
	}
	c, err := semver.NewConstraint(version)
	if err != nil {
		return nil, badRange(expr, version, "a range looks like '>=1.7.7 <2.2'")
	}
	return t.matching(expr, name, func(v Version) bool {
		return c.Check(semver.New(v.Major, v.Minor, v.Patch, "", ""))
	})
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
