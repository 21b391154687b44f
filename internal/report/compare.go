package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Compare is the document of the compare command: what a new release of a
// plugin needs beyond the old one, and where it no longer works because of it.
type Compare struct {
	Head
	From ComparedPlugin `json:"from"`
	To   ComparedPlugin `json:"to"`
	// Added are the capabilities that only the new one requires, Dropped those
	// that only the old one did. An alternative to what was required anyway is
	// neither.
	Added   []Requirement `json:"added"`
	Dropped []Requirement `json:"dropped"`
	// Runtimes are the releases on which the two differ, by runtime and release.
	Runtimes []ComparedRuntime `json:"runtimes"`
	// Releases counts the releases that were compared, each for what it decides
	// about: a kubelet for what is needed of kubelets. Lost counts those on which only
	// the old one works, Undecided those on which the new one may be worse but of
	// one of them nobody knows, Gained those on which only the new one is known to
	// work.
	Releases  int `json:"releases"`
	Lost      int `json:"lost"`
	Undecided int `json:"undecided"`
	Gained    int `json:"gained"`
}

// ComparedPlugin is one of two plugins that are compared.
type ComparedPlugin struct {
	Name string `json:"name"`
	Ref  string `json:"ref"`
	// Required counts the required capabilities; alternatives count as one.
	Required int `json:"required"`
	// Gaps says what could not be read of it.
	Gaps []string `json:"gaps"`
}

// ComparedRuntime is a run of neighbouring releases that change alike.
type ComparedRuntime struct {
	Runtime  string   `json:"runtime"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Releases []string `json:"releases"`
	Change   string   `json:"change" jsonschema:"enum=lost,enum=undecided,enum=gained"`
	// Because are the capabilities that make the difference, each with its
	// status; for a release that is gained, those of the old plugin.
	Because []string `json:"because"`
}

// NewCompare compares two plugins on the given runtimes.
func NewCompare(head Head, from, to PluginNeeds, refs [2]string, supports []inference.Support) *Compare {
	d := &Compare{
		Head: head, From: comparedPlugin(from, refs[0]), To: comparedPlugin(to, refs[1]),
		Added: onlyRequired(to.Needs, from.Needs), Dropped: onlyRequired(from.Needs, to.Needs),
		Runtimes: []ComparedRuntime{}, Releases: len(supports),
	}
	last := -1
	for i, s := range supports {
		change, because := compareOn(s, from.Needs, to.Needs)
		switch change {
		case "":
			continue
		case "lost":
			d.Lost++
		case "undecided":
			d.Undecided++
		case "gained":
			d.Gained++
		}
		release := s.Runtime.Version.String()
		n := len(d.Runtimes) - 1
		if n >= 0 && last == i-1 && d.Runtimes[n].Runtime == s.Runtime.Name && d.Runtimes[n].Change == change && slices.Equal(d.Runtimes[n].Because, because) {
			d.Runtimes[n].To = release
			d.Runtimes[n].Releases = append(d.Runtimes[n].Releases, release)
		} else {
			d.Runtimes = append(d.Runtimes, ComparedRuntime{s.Runtime.Name, release, release, []string{release}, change, because})
		}
		last = i
	}
	return d
}

func comparedPlugin(p PluginNeeds, ref string) ComparedPlugin {
	return ComparedPlugin{p.Name, ref, p.Needs.Required(), emptyNotNull(p.Needs.Gaps)}
}

// onlyRequired returns what one plugin requires and the other does not. Of some
// alternatives one is required by whoever requires some of them and nothing else.
func onlyRequired(a, b capability.Needs) []Requirement {
	required := func(group []capability.Requirement) bool {
		return slices.ContainsFunc(group, func(r capability.Requirement) bool { return r.Level == capability.Requires })
	}
	out := []Requirement{}
	for _, group := range a.Groups() {
		if !required(group) || slices.ContainsFunc(b.Groups(), func(other []capability.Requirement) bool {
			return required(other) && within(other, group)
		}) {
			continue
		}
		for _, r := range group {
			out = append(out, NewRequirement(r))
		}
	}
	slices.SortFunc(out, func(a, b Requirement) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// within tells whether all alternatives of one group are in another.
func within(group, other []capability.Requirement) bool {
	for _, r := range group {
		if !slices.ContainsFunc(other, func(o capability.Requirement) bool { return o.Capability == r.Capability }) {
			return false
		}
	}
	return true
}

// compareOn tells what changes on one runtime, and why; nothing if the verdict
// on neither plugin is better than the other's. Only what the runtime decides
// about counts: what a plugin needs of a kubelet as well is as it is, whatever the
// container runtime.
func compareOn(s inference.Support, from, to capability.Needs) (change string, because []string) {
	from, to = inference.NeedsDecidedBy(s.Runtime.Name, from), inference.NeedsDecidedBy(s.Runtime.Name, to)
	before, after := capability.Check(from, s), capability.Check(to, s)
	worked, works := before.Verdict == capability.Compatible, after.Verdict == capability.Compatible
	switch {
	case worked && after.Verdict == capability.Incompatible:
		return "lost", reasons(after)
	case worked && !works, before.Verdict == capability.Inconclusive && after.Verdict == capability.Incompatible:
		return "undecided", append(append(reasons(after), from.Gaps...), to.Gaps...)
	case works && !worked:
		return "gained", append(reasons(before), from.Gaps...)
	}
	return "", nil
}

func reasons(r capability.Report) []string {
	out := []string{}
	for _, i := range r.Items {
		if i.Decides() {
			out = append(out, i.Requirement.Capability.String()+" "+i.Status.String())
		}
	}
	return out
}

// Text writes what is newly required, then where that matters.
func (d *Compare) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	for _, side := range []struct {
		word   string
		plugin ComparedPlugin
	}{{"from", d.From}, {"to  ", d.To}} {
		p.linef("%s  %s   %s", side.word, plain(side.plugin.Ref), count(side.plugin.Required, "required capability", "required capabilities"))
		for _, g := range side.plugin.Gaps {
			p.linef("      could not be read: %s", plain(g))
		}
	}
	for _, list := range []struct {
		sign string
		reqs []Requirement
	}{{"+", d.Added}, {"-", d.Dropped}} {
		for _, r := range list.reqs {
			p.linef("%s %s%s", list.sign, r.ID, r.alternatives())
			for i, e := range r.Evidence {
				if i == 3 && !style.Wide {
					break
				}
				p.linef("    used: %s", evidenceLine(e))
			}
		}
	}
	for _, r := range d.Runtimes {
		p.linef("%s: %s", r.Change, r.line())
	}
	p.linef("%s", d.summary())
	return p.err
}

func (r ComparedRuntime) line() string {
	span := r.From
	if r.From != r.To {
		span += " to " + r.To
	}
	return r.Runtime + " " + span + ", because of " + plain(strings.Join(r.Because, ", "))
}

func (d *Compare) summary() string {
	return fmt.Sprintf("%d newly required, %d no longer; of %s %d lost, %d undecided, %d gained",
		needs(d.Added), needs(d.Dropped), count(d.Releases, "release", "releases"), d.Lost, d.Undecided, d.Gained)
}

// Markdown writes the comparison for a pull request.
func (d *Compare) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## %s\n", mdText(d.summary()))
	p.linef("From %s to %s.\n", mdText(clip(d.From.Ref, maxText)), mdText(clip(d.To.Ref, maxText)))
	for _, r := range d.Added {
		used := ""
		if len(r.Evidence) > 0 {
			used = ", used: " + clip(evidenceLine(r.Evidence[0]), maxText)
		}
		p.linef("- newly required: %s%s%s", r.ID, r.alternatives(), mdText(used))
	}
	for _, r := range d.Dropped {
		p.linef("- no longer required: %s%s", r.ID, r.alternatives())
	}
	if len(d.Runtimes) > 0 {
		p.linef("")
		var rows [][]string
		for _, r := range d.Runtimes {
			rows = append(rows, []string{r.Change, clip(r.line(), maxText)})
		}
		p.do(func(w io.Writer) error { return mdTable(w, []string{"Change", "Releases"}, rows) })
	}
	p.linef("\n%s", mdText(fmt.Sprintf("nri-compat %s, %s", d.Tool.Version, d.tableName())))
	return p.err
}
