package inference

import (
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Fit is a run of releases of one line that have everything a plugin requires.
type Fit struct {
	Runtime  string
	Line     string
	From, To Version
	// ToNewest is set if To is the newest release of the line in the table, Open
	// if it is the newest of all of them.
	ToNewest, Open bool
	// Continues is set if the run goes on from the one before it: that one ends
	// with the line before, this one begins with its line, on the same terms.
	Continues bool
	// With are the settings that must be changed from their defaults, as
	// "cri.enable_cdi=true"; empty if none.
	With []string
}

// Advice tells where a plugin would work.
type Advice struct {
	// Fits are the runs of releases that satisfy everything required, by
	// runtime and release, oldest first.
	Fits []Fit
	// Nowhere are the required capabilities that every release of the runtimes
	// that decide about them is known to lack, sorted by name.
	Nowhere []capability.ID
}

// Oldest returns the oldest release of a runtime that satisfies everything,
// one that needs no setting changed if without is set.
func (a Advice) Oldest(runtime string, without bool) (Fit, bool) {
	for _, f := range a.Fits {
		if f.Runtime == runtime && (!without || len(f.With) == 0) {
			return f, true
		}
	}
	return Fit{}, false
}

// Advise finds the releases of the given runtimes that satisfy everything that
// is required. A capability that depends on a setting counts as there, with
// the setting named. Each runtime is looked through for what it decides about;
// one that decides about nothing that is required is left out. Of alternatives
// the one that needs the fewest settings counts.
func (t *Table) Advise(need capability.Needs, runtimes []string, values Values) Advice {
	all := slices.DeleteFunc(need.Groups(), func(group []capability.Requirement) bool {
		return !slices.ContainsFunc(group, func(r capability.Requirement) bool { return r.Level == capability.Requires })
	})
	var advice Advice
	nowhere := map[capability.ID]bool{}
	for _, group := range all {
		for _, r := range group {
			nowhere[r.Capability] = slices.ContainsFunc(runtimes, func(name string) bool { return decides(name, group) })
		}
	}
	for _, runtime := range runtimes {
		required := slices.DeleteFunc(slices.Clone(all), func(group []capability.Requirement) bool { return !decides(runtime, group) })
		if len(required) == 0 && len(all) > 0 {
			continue
		}
		for _, line := range t.lines[runtime] {
			last := -1 // the fit that the previous release of the line extended
			for _, rel := range line.released() {
				with, ok := t.satisfies(required, *rel, values, nowhere)
				switch {
				case !ok:
					last = -1
				case last >= 0 && slices.Equal(advice.Fits[last].With, with):
					advice.Fits[last].To = rel.Version
				default:
					last = len(advice.Fits)
					advice.Fits = append(advice.Fits, Fit{Runtime: runtime, Line: line.name, From: rel.Version, To: rel.Version, With: with})
				}
			}
		}
	}
	for i := range advice.Fits {
		t.place(advice.Fits, i)
	}
	for id, missing := range nowhere {
		if missing {
			advice.Nowhere = append(advice.Nowhere, id)
		}
	}
	slices.SortFunc(advice.Nowhere, func(a, b capability.ID) int { return strings.Compare(a.String(), b.String()) })
	return advice
}

// satisfies tells whether a release has everything, and with which settings.
// It takes what the release has out of nowhere.
func (t *Table) satisfies(required [][]capability.Requirement, rel Release, values Values, nowhere map[capability.ID]bool) (with []string, ok bool) {
	ok = true
	s := t.Lookup(Runtime{Name: rel.Runtime, Version: rel.Version}, values)
	for _, group := range required {
		settings, has, lacks := s.oneOf(group)
		ok = ok && has
		if !lacks {
			for _, r := range group {
				nowhere[r.Capability] = false
			}
		}
		for _, w := range settings {
			if !slices.Contains(with, w) {
				with = append(with, w)
			}
		}
	}
	return with, ok
}

// oneOf tells whether a release has one of some alternatives, and with which
// settings; lacks tells that it is known to have none. While one of them does
// harm, having another is not enough.
func (s Support) oneOf(group []capability.Requirement) (with []string, has, lacks bool) {
	lacks = true
	harms := false
	for _, r := range group {
		a := s.Answer(r.Capability)
		switch a.Status() {
		case capability.StatusHarmful:
			harms = harms || r.Level == capability.Requires
		case capability.StatusOK, capability.StatusConditional:
			var settings []string
			for _, set := range a.Settings {
				if w := set.Name + "=" + set.Want; !set.Met() && !slices.Contains(settings, w) {
					settings = append(settings, w)
				}
			}
			if !has || len(settings) < len(with) {
				with = settings
			}
			has, lacks = true, false
		case capability.StatusUnknown:
			lacks = false // it may be there
		}
	}
	return with, has && !harms, lacks
}

// place fills in how the fit at i lies in its line and to the fit before it.
func (t *Table) place(fits []Fit, i int) {
	f := &fits[i]
	lines := slices.DeleteFunc(slices.Clone(t.lines[f.Runtime]), func(l releaseLine) bool { return len(l.released()) == 0 })
	at := slices.IndexFunc(lines, func(l releaseLine) bool { return l.name == f.Line })
	rows := lines[at].released()
	f.ToNewest = f.To == rows[len(rows)-1].Version
	f.Open = f.ToNewest && at == len(lines)-1
	if i > 0 && at > 0 {
		before := fits[i-1]
		f.Continues = before.Runtime == f.Runtime && before.Line == lines[at-1].name && before.ToNewest &&
			f.From == rows[0].Version && slices.Equal(before.With, f.With)
	}
}
