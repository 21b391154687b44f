package inference

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/capability"
)

// problem is a row that breaks a rule.
type problem struct {
	section string
	row     int
	err     error
}

// known is what rows may refer to: the releases and settings of the file
// itself and of the table it is laid over.
type known struct {
	releases map[releaseKey]bool
	settings []string
}

// problems checks every row by itself and against the others.
func (f *file) problems(base *Table) []problem {
	var out []problem
	report := func(section string, row int, err error) {
		if err != nil {
			out = append(out, problem{section, row, err})
		}
	}
	k := f.known(base)
	seen := map[string]bool{}
	once := func(section string, row int, key string) {
		if seen[section+key] {
			report(section, row, fmt.Errorf("%s stands in the file twice", key))
		}
		seen[section+key] = true
	}
	for i, o := range f.rows.Origins {
		report("origins", i, checkRuntime(o.Runtime))
		once("origins", i, o.Runtime)
	}
	for i, r := range f.rows.Releases {
		report("releases", i, checkRelease(r))
		once("releases", i, r.Runtime+" "+r.Version.String())
	}
	for i, d := range f.rows.Settings {
		report("settings", i, checkDefault(d))
		once("settings", i, fmt.Sprintf("%s of %s from %s", d.Setting, d.Runtime, d.From))
	}
	for i, b := range f.rows.Bugs {
		report("bugs", i, checkBug(b))
		once("bugs", i, b.ID+" of "+b.Runtime)
	}
	for i, n := range f.rows.Notes {
		report("notes", i, checkRuntime(n.Runtime))
		once("notes", i, fmt.Sprintf("%s of %s", n.Capability, n.Runtime))
	}
	for i, c := range f.rows.Changes {
		if c.Because == "" || c.Releases == "" {
			report("changes", i, fmt.Errorf("a change needs releases and because"))
		}
		report("changes", i, checkDate(c.Date))
	}
	for i, r := range f.ranges {
		report("ranges", i, k.checkRange(r))
		once("ranges", i, fmt.Sprintf("%s of %s from %s", r.Capability, r.Runtime, r.From))
	}
	return out
}

func (f *file) known(base *Table) known {
	k := known{releases: map[releaseKey]bool{}}
	if base != nil {
		for key := range base.releases {
			k.releases[key] = true
		}
		k.settings = base.SettingNames()
	}
	for _, r := range f.rows.Releases {
		k.releases[releaseKey{r.Runtime, r.Version}] = true
	}
	for _, d := range f.rows.Settings {
		k.settings = append(k.settings, d.Setting)
	}
	return k
}

func checkRuntime(name string) error {
	if !slices.Contains(Runtimes(), name) {
		return fmt.Errorf("unknown runtime %q: use one of %s", name, strings.Join(Runtimes(), ", "))
	}
	return nil
}

func checkDate(date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("invalid date %q: want YYYY-MM-DD", date)
	}
	return nil
}

func checkRelease(r Release) error {
	if err := checkRuntime(r.Runtime); err != nil {
		return err
	}
	if r.Version.IsZero() {
		return fmt.Errorf("a release needs a version")
	}
	if FamilyOf(r.Runtime) != capability.NRI {
		if r.Name != "" || r.NRI != "" || r.NRIEnabled {
			return fmt.Errorf("release %s %s has no NRI: leave out nri, name and nriEnabled", r.Runtime, r.Version)
		}
		return checkDate(r.Date)
	}
	if r.Name == "" {
		return fmt.Errorf("release %s %s needs the name it sends to plugins", r.Runtime, r.Version)
	}
	if err := checkDate(r.Date); err != nil {
		return err
	}
	_, err := ParseNRIVersion(r.NRI)
	return err
}

func checkDefault(d Default) error {
	if d.Setting == "" || d.Key == "" || d.From.IsZero() {
		return fmt.Errorf("a setting needs name, key and from")
	}
	return checkRuntime(d.Runtime)
}

func checkBug(b Bug) error {
	if err := checkRuntime(b.Runtime); err != nil {
		return err
	}
	if b.ID == "" || b.Text == "" || len(b.Affected) == 0 {
		return fmt.Errorf("a bug needs id, text and affected")
	}
	if severityRank(b.Severity) < 0 {
		return fmt.Errorf("invalid severity %q: use critical, high, medium or low", b.Severity)
	}
	if len(b.Touches) == 0 && !b.AnyPlugin {
		return fmt.Errorf("bug %s touches nothing: name capabilities or set anyPlugin", b.ID)
	}
	for _, a := range b.Affected {
		if a.From.Line() != a.Line || !a.Fixed.IsZero() && (a.Fixed.Line() != a.Line || a.Fixed.Compare(a.From) <= 0) {
			return fmt.Errorf("bug %s: from %s and fixed %q must be releases of line %s, in that order", b.ID, a.From, a.Fixed, a.Line)
		}
	}
	return nil
}

func (k known) checkRange(r Range) error {
	where := fmt.Sprintf("%s of %s from %s", r.Capability, r.Runtime, r.From)
	if err := checkRuntime(r.Runtime); err != nil {
		return err
	}
	if r.Capability.Kind().Family() != FamilyOf(r.Runtime) {
		return fmt.Errorf("%s: %s decides nothing about it", where, r.Runtime)
	}
	for _, v := range []Version{r.From, r.To} {
		if v.IsZero() && v == r.To {
			continue
		}
		if v.Line() != r.Line {
			return fmt.Errorf("%s: %s is not of line %q", where, v, r.Line)
		}
		if !k.releases[releaseKey{r.Runtime, v}] {
			return fmt.Errorf("%s: there is no release %s %s", where, r.Runtime, v)
		}
	}
	if !r.To.IsZero() && r.To.Compare(r.From) < 0 {
		return fmt.Errorf("%s: to %s is older than from", where, r.To)
	}
	switch r.State {
	case capability.Conditional:
		name, want, ok := strings.Cut(r.When, "=")
		if !ok || want == "" || !slices.Contains(k.settings, name) {
			return fmt.Errorf("%s: a conditional state needs when, such as cri.enable_cdi=true, with one of the settings %s",
				where, strings.Join(k.settings, ", "))
		}
	case capability.Harmful:
		if r.Effect != capability.Crash && r.Effect != capability.Hang {
			return fmt.Errorf("%s: a harmful state needs effect crash or hang", where)
		}
	case capability.Yes, capability.Partial:
		if r.Effect != capability.NoEffect {
			return fmt.Errorf("%s: state %s goes without an effect", where, r.State)
		}
	}
	if r.When != "" && r.State != capability.Conditional {
		return fmt.Errorf("%s: only a conditional state has a when", where)
	}
	return nil
}
