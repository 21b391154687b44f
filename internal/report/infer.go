package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Infer is the document of the infer command: all that is known of a runtime.
type Infer struct {
	Head
	Input   string       `json:"input"`
	Runtime RuntimeRange `json:"runtime"`
	// Release are the facts of the row that answers; absent if none does.
	Release *Release `json:"release,omitempty"`
	// Counts counts the capabilities by state.
	Counts       map[string]int       `json:"counts"`
	Capabilities []State              `json:"capabilities"`
	Settings     []capability.Setting `json:"settings"`
	Bugs         []KnownBug           `json:"bugs"`
}

// Release are the facts about one release.
type Release struct {
	Runtime string `json:"runtime"`
	Version string `json:"version"`
	Date    string `json:"date"`
	// NRI, Name and NRIEnabled are empty and false for a kubelet, which has no
	// NRI.
	NRI        string `json:"nri"`
	Name       string `json:"name"`
	NRIEnabled bool   `json:"nriEnabled"`
	// Executed is set if containers were run under this release to check its row.
	Executed bool `json:"executed"`
	// Bugs counts the known bugs.
	Bugs int `json:"bugs"`
}

// State is what a runtime does about one capability.
type State struct {
	ID         string               `json:"id"`
	State      string               `json:"state" jsonschema:"enum=unknown,enum=yes,enum=partial,enum=conditional,enum=no,enum=harmful"`
	Effect     string               `json:"effect" jsonschema:"enum=none,enum=refused,enum=create-error,enum=dropped,enum=empty,enum=never-called,enum=crash,enum=hang"`
	Settings   []capability.Setting `json:"settings"`
	Note       string               `json:"note,omitempty"`
	Origin     string               `json:"origin,omitempty"`
	References []string             `json:"references"`
}

// NewState describes an answer.
func NewState(id capability.ID, a capability.Answer) State {
	return State{
		ID: id.String(), State: a.State.String(), Effect: a.Effect.String(), Settings: emptyNotNull(a.Settings),
		Note: a.Note, Origin: a.Origin, References: emptyNotNull(a.References),
	}
}

// NewInfer describes what is known of a runtime.
func NewInfer(head Head, input string, t *inference.Table, s inference.Support) *Infer {
	group := inference.Group{Outcomes: []inference.Outcome{{Support: s}}}
	d := &Infer{
		Head: head, Input: input, Runtime: newRuntimeRange(group), Counts: map[string]int{},
		Capabilities: []State{}, Settings: []capability.Setting{}, Bugs: []KnownBug{},
	}
	if s.Row != nil {
		r := newRelease(t, *s.Row)
		d.Release = &r
	}
	for _, id := range inference.CapabilitiesOf(s.Runtime.Name) {
		state := NewState(id, s.Answer(id))
		d.Capabilities = append(d.Capabilities, state)
		d.Counts[state.State]++
	}
	d.Settings = append(d.Settings, s.Settings()...)
	for _, b := range s.Bugs() {
		d.Bugs = append(d.Bugs, newKnownBug(b))
	}
	return d
}

func newRelease(t *inference.Table, r inference.Release) Release {
	return Release{
		Runtime: r.Runtime, Version: r.Version.String(), Date: r.Date, NRI: r.NRI, Name: r.Name,
		NRIEnabled: r.NRIEnabled, Executed: r.Executed, Bugs: len(t.BugsOf(r)),
	}
}

func newKnownBug(b inference.Bug) KnownBug {
	k := KnownBug{Bug: capability.Bug{ID: b.ID, Severity: b.Severity, Text: b.Text}, Touches: []string{}}
	for _, id := range b.Touches {
		k.Touches = append(k.Touches, id.String())
	}
	return k
}

// stateOrder is the order in which states are counted in text.
var stateOrder = []string{"yes", "partial", "conditional", "no", "harmful", "unknown"}

// Text writes the facts, what stands out, and with wide every capability.
func (d *Infer) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	p.linef("%s", style.bold(style.fit(d.Runtime.title()+"   "+d.Runtime.knowledge(d.tableName()))))
	if d.Runtime.Why != "" {
		p.linef("  %s", plain(d.Runtime.Why))
	}
	if d.Release == nil {
		return p.err
	}
	if d.Release.Name != "" {
		p.linef("  released %s; sends itself as %q; %s", d.Release.Date, d.Release.Name, d.verified())
	} else {
		p.linef("  %s released %s; %s", d.Release.Version, d.Release.Date, d.verified())
	}
	if s := d.Runtime.NRISwitch; s != nil {
		if s.Met() {
			p.linef("  NRI is on (%s)", plain(s.Origin))
		}
		d.Runtime.switchText(p)
	}
	var counts []string
	for _, state := range stateOrder {
		if n := d.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	p.linef("  %d capabilities: %s", len(d.Capabilities), strings.Join(counts, ", "))
	d.states(p, style)
	for _, b := range d.Bugs {
		if style.Wide || b.Severity == "critical" || b.Severity == "high" {
			p.linef("  known bug %s (%s): %s", b.ID, b.Severity, b.Text)
		}
	}
	if !style.Wide {
		p.linef("  %s in all; -o wide lists everything", count(len(d.Bugs), "known bug", "known bugs"))
	}
	return p.err
}

func (d *Infer) verified() string {
	if d.Release.Executed {
		return "read from its source and run for real"
	}
	return "read from its source"
}

func (d *Infer) states(p *printer, style Style) {
	if !style.Wide {
		for _, c := range d.Capabilities {
			if c.State == capability.Harmful.String() {
				p.linef("  harmful: %s (%s)", c.ID, c.Effect)
			}
			for _, s := range c.Settings {
				p.linef("  conditional: %s needs %s=%s, which is %s (%s)", c.ID, s.Name, s.Want, orNotSet(s.Value), s.Origin)
			}
		}
		return
	}
	var rows [][]string
	for _, c := range d.Capabilities {
		effect := c.Effect
		if effect == capability.NoEffect.String() {
			effect = ""
		}
		rows = append(rows, []string{c.ID, c.State, effect, strings.Join(conditions(c.Settings), ", ")})
	}
	p.do(func(w io.Writer) error {
		return grid(w, style, []string{"CAPABILITY", "STATE", "EFFECT", "NEEDS"}, rows)
	})
}

func conditions(settings []capability.Setting) []string {
	var out []string
	for _, s := range settings {
		out = append(out, fmt.Sprintf("%s=%s (is %s, %s)", s.Name, s.Want, orNotSet(s.Value), s.Origin))
	}
	return out
}

// Markdown writes the facts and a table of all capabilities.
func (d *Infer) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## %s\n", mdText(d.Runtime.title()))
	p.linef("%s\n", mdText(d.Runtime.knowledge(d.tableName())))
	if d.Runtime.Why != "" {
		p.linef("%s\n", mdText(d.Runtime.Why))
	}
	var rows [][]string
	for _, c := range d.Capabilities {
		rows = append(rows, []string{c.ID, c.State, c.Effect, strings.Join(conditions(c.Settings), ", ")})
	}
	p.do(func(w io.Writer) error { return mdTable(w, []string{"Capability", "State", "Effect", "Needs"}, rows) })
	return p.err
}
