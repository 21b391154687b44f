package report

import (
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Check is the document of the check command: plugins against runtimes.
type Check struct {
	Head
	Plugins []CheckPlugin `json:"plugins"`
	Results []Result      `json:"results"`
	Advice  []Advice      `json:"advice"`
	// Errors are the plugins that could not be read, and what else could not be
	// checked. While there is one, the results are not all there is to know.
	Errors []ReferenceError `json:"errors"`
	// FailOn is what makes the exit status 3 or 4: "unknown", "missing",
	// "known-bug" or "never".
	FailOn  string  `json:"failOn,omitempty"`
	Summary Summary `json:"summary"`
}

// CheckPlugin is what the check knew of one plugin.
type CheckPlugin struct {
	// Name is the plugin's name, or "requirements" where capabilities
	// were given instead of a plugin.
	Name string `json:"name"`
	// Ref is the reference it was asked for by; empty for given capabilities.
	Ref string `json:"ref,omitempty"`
	// Module is the path of its main Go module, if known.
	Module string `json:"module,omitempty"`
	// NRI is the version of the NRI library it was built with, if known.
	NRI string `json:"nri,omitempty"`
	// Dir is the directory that the files of its evidence are in, if they are
	// files at hand.
	Dir string `json:"dir,omitempty"`
	// Place is where to point for what has no evidence of its own: the line of
	// go.mod that asks for the NRI library, of a manifest, or a file.
	Place *Place `json:"place,omitempty"`
	// Required counts the required capabilities; alternatives count as one.
	Required int `json:"required"`
	// Gaps says what could not be read of it.
	Gaps []string `json:"gaps"`
	// Warnings are faults of the plugin itself.
	Warnings []string `json:"warnings"`
}

// Result is the outcome of one plugin on one runtime, or on a run of releases
// with the same outcome.
type Result struct {
	Plugin  string       `json:"plugin"`
	Runtime RuntimeRange `json:"runtime"`
	// Below is the container runtime that a kubelet was checked together with.
	Below        *RuntimeRange `json:"below,omitempty"`
	Verdict      string        `json:"verdict" jsonschema:"enum=compatible,enum=incompatible,enum=inconclusive"`
	Capabilities []Outcome     `json:"capabilities"`
	Gaps         []string      `json:"gaps"`
	// Bugs are the known bugs of the runtime that touch what is required.
	Bugs []KnownBug `json:"bugs"`
	// OtherBugs are known bugs that any plugin can hit.
	OtherBugs []KnownBug `json:"otherBugs"`
	// Assumed says what the NRI versions of plugin and runtime suggest, where
	// nothing else is known of the plugin; usually empty. It decides nothing.
	Assumed string `json:"assumed,omitempty"`
}

// RuntimeRange is a runtime, or a run of neighbouring releases of one.
type RuntimeRange struct {
	Name string `json:"name"`
	// From and To are the first and last release; the same for a single one,
	// empty for a runtime whose release is not known.
	From string `json:"from"`
	To   string `json:"to"`
	// Releases are all of them, oldest first.
	Releases []string `json:"releases"`
	// Vendor is the suffix of a distribution's build.
	Vendor string `json:"vendor,omitempty"`
	// NRI are the versions of the NRI library in it, oldest first; NRIOrigin
	// tells where they are known from: "reported" by the runtime, its "binary",
	// the "table", or the "handshake", which only shows a range.
	NRI       []string `json:"nri"`
	NRIOrigin string   `json:"nriOrigin,omitempty"`
	// Contradictions are what two kinds of evidence say differently.
	Contradictions []string `json:"contradictions"`
	// Match tells how the rows of the table relate to it; Why explains it.
	Match string `json:"match" jsonschema:"enum=exact,enum=vendor-build,enum=nearest-older,enum=newer-than-table,enum=before-nri,enum=advertised,enum=unknown"`
	Why   string `json:"why,omitempty"`
	// NRISwitch is the setting that switches NRI on.
	NRISwitch *capability.Setting `json:"nriSwitch,omitempty"`
}

// Summary counts the results by verdict.
type Summary struct {
	Compatible   int `json:"compatible"`
	Incompatible int `json:"incompatible"`
	Inconclusive int `json:"inconclusive"`
	// Bugs counts the results with known bugs that touch what is required.
	Bugs int `json:"bugs"`
	// Waived counts the outcomes that were waived.
	Waived int `json:"waived"`
}

// NewCheck returns an empty check document.
func NewCheck(head Head) *Check {
	return &Check{Head: head, Plugins: []CheckPlugin{}, Results: []Result{}, Advice: []Advice{}, Errors: []ReferenceError{}}
}

// Add puts the outcomes of one plugin into the document, in the given order,
// and what would suit it; nothing is said of that where no runtimes are given.
// It returns the name of the plugin in the document, which differs from the one
// given if that is taken.
func (c *Check) Add(p CheckPlugin, groups []inference.Group, advice inference.Advice, runtimes []string) string {
	p.Name = c.freeName(p)
	p.Gaps, p.Warnings = emptyNotNull(p.Gaps), emptyNotNull(p.Warnings)
	c.Plugins = append(c.Plugins, p)
	worst := capability.Compatible
	for _, g := range groups {
		r := newResult(p.Name, g)
		if p.Required == 0 && len(p.Gaps) > 0 {
			r.Assumed = assume(p.NRI, g.Last().Support.NRI())
		}
		c.Results = append(c.Results, r)
		switch g.Last().Report.Verdict {
		case capability.Compatible:
			c.Summary.Compatible++
		case capability.Incompatible:
			c.Summary.Incompatible++
			worst = capability.Incompatible
		default:
			c.Summary.Inconclusive++
		}
		if len(r.Bugs) > 0 {
			c.Summary.Bugs++
		}
	}
	if worst == capability.Incompatible && len(runtimes) > 0 {
		c.Advice = append(c.Advice, newAdvice(p.Name, advice, runtimes))
	}
	return p.Name
}

// freeName returns a name for a plugin that no other plugin of the document
// has: results refer to plugins by name.
func (c *Check) freeName(p CheckPlugin) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(c.Plugins, func(q CheckPlugin) bool { return q.Name == name })
	}
	name := p.Name
	if taken(name) && p.Ref != "" {
		name = p.Ref
	}
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s (%d)", p.Name, n)
	}
	return name
}

// assume compares the NRI versions of a plugin and a runtime.
func assume(plugin, runtime string) string {
	p, err := inference.ParseNRIVersion(plugin)
	if err != nil {
		return ""
	}
	r, err := inference.ParseNRIVersion(runtime)
	if err != nil {
		return ""
	}
	if p.Compare(r) <= 0 {
		return fmt.Sprintf("assumed to work, from the NRI versions alone: the plugin has %s, the runtime %s", p, r)
	}
	return fmt.Sprintf("assumed to fail in part, from the NRI versions alone: the plugin has %s, the runtime %s, which knows less", p, r)
}

func newResult(plugin string, g inference.Group) Result {
	last := g.Last()
	r := Result{
		Plugin: plugin, Runtime: newRuntimeRange(g), Verdict: last.Report.Verdict.String(),
		Capabilities: []Outcome{}, Gaps: emptyNotNull(last.Report.Gaps), Bugs: []KnownBug{}, OtherBugs: []KnownBug{},
	}
	if last.Below != nil {
		below := newRuntimeRange(inference.Group{Outcomes: []inference.Outcome{{Support: *last.Below}}})
		r.Below = &below
	}
	for _, item := range last.Report.Items {
		r.Capabilities = append(r.Capabilities, newOutcome(item, last.Report.Items))
		spared := item.Status != capability.StatusOK && item.Counts == capability.StatusOK
		if item.Requirement.Level == capability.Requires && item.Status != capability.StatusMissing && !spared {
			r.addBugs(item)
		}
	}
	slices.SortStableFunc(r.Capabilities, func(a, b Outcome) int { return rank(b) - rank(a) })
	r.addOtherBugs(g)
	return r
}

// rank orders outcomes: what is required and bad comes first.
func rank(o Outcome) int {
	var s capability.Status
	_ = s.UnmarshalText([]byte(o.counted())) // it was written by MarshalText's twin
	n := 10 * s.Rank()
	if o.Level == capability.Requires.String() {
		n++
	}
	return n
}

func newRuntimeRange(g inference.Group) RuntimeRange {
	first, last := g.First().Support, g.Last().Support
	r := RuntimeRange{
		Name: last.Runtime.Name, From: first.Runtime.Version.String(), To: last.Runtime.Version.String(),
		Releases: []string{}, Vendor: vendor(last.Runtime), NRI: []string{},
		NRIOrigin: last.NRIOrigin(), Match: string(last.Match), Why: last.Why, Contradictions: emptyNotNull(last.Contradictions),
	}
	for _, o := range g.Outcomes {
		r.Releases = append(r.Releases, o.Support.Runtime.Version.String())
		if nri := o.Support.NRI(); nri != "" && !slices.Contains(r.NRI, nri) {
			r.NRI = append(r.NRI, nri)
		}
	}
	if last.Runtime.Version.IsZero() {
		r.From, r.To, r.Releases = "", "", []string{}
	}
	if oldest, newest := last.NRIRange(); oldest != "" && len(r.NRI) == 0 {
		r.NRI = append(r.NRI, oldest, newest)
	}
	if s, ok := last.NRISwitch(); ok {
		r.NRISwitch = &s
	}
	return r
}

// vendor describes what was done to a release, empty for upstream's own.
func vendor(r inference.Runtime) string {
	s := r.Vendor
	if r.Commits > 0 {
		s = fmt.Sprintf("%d commits after the release", r.Commits)
		if r.Vendor != "" {
			s += ", " + r.Vendor
		}
	}
	if r.Modified {
		if s != "" {
			s += ", "
		}
		s += "modified tree"
	}
	return s
}
