package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// ExplainMask is the document of the explain command for an event mask.
type ExplainMask struct {
	Head
	Mask   string      `json:"mask"`
	Events []MaskEvent `json:"events"`
	// UnknownBits is the part of the mask that no NRI version knows; "0x0" if
	// there is none.
	UnknownBits string `json:"unknownBits"`
	// Acceptance tells which releases accept a registration with the mask.
	Acceptance []Acceptance `json:"acceptance"`
}

// MaskEvent is one event of a mask.
type MaskEvent struct {
	Name string `json:"name"`
	Mask string `json:"mask"`
	// Delivered and Accepted are the capabilities that go with it; Accepted is
	// empty for an event that every runtime accepts.
	Delivered string `json:"delivered"`
	Accepted  string `json:"accepted,omitempty"`
}

// Acceptance is a run of releases that accept a mask or refuse it.
type Acceptance struct {
	Runtime string `json:"runtime"`
	From    string `json:"from"`
	To      string `json:"to"`
	Accepts bool   `json:"accepts"`
}

// NewExplainMask describes an event mask.
func NewExplainMask(head Head, t *inference.Table, m inference.EventMask) *ExplainMask {
	known, unknown := m.Events()
	d := &ExplainMask{Head: head, Mask: m.String(), Events: []MaskEvent{}, UnknownBits: unknown.String(), Acceptance: []Acceptance{}}
	for _, e := range known {
		event := MaskEvent{Name: e.Name, Mask: inference.EventMask(e.Mask).String(), Delivered: e.Delivered.String()}
		if e.HasAccepted {
			event.Accepted = e.Accepted.String()
		}
		d.Events = append(d.Events, event)
	}
	need := capability.Needs{Requirements: m.Needs()}
	for _, r := range t.Releases("") {
		if r.Version.Prerelease() || inference.FamilyOf(r.Runtime) != capability.NRI {
			continue
		}
		accepts := unknown == 0 &&
			capability.Check(need, t.Lookup(inference.Runtime{Name: r.Runtime, Version: r.Version}, nil)).Verdict == capability.Compatible
		if n := len(d.Acceptance); n > 0 && d.Acceptance[n-1].Runtime == r.Runtime && d.Acceptance[n-1].Accepts == accepts {
			d.Acceptance[n-1].To = r.Version.String()
			continue
		}
		d.Acceptance = append(d.Acceptance, Acceptance{r.Runtime, r.Version.String(), r.Version.String(), accepts})
	}
	return d
}

// Text writes the events of the mask and who accepts them.
func (d *ExplainMask) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	p.linef("%s", style.bold("event mask "+d.Mask))
	if d.Mask == "0x0" {
		p.linef("  0 subscribes to every event that the runtime knows, validation included")
	}
	for _, e := range d.Events {
		p.linef("  %-7s %s", e.Mask, e.Name)
	}
	if d.UnknownBits != "0x0" {
		p.linef("  %-7s unknown to every NRI version up to %s", d.UnknownBits, inference.NewestNRI)
	}
	p.linef("")
	for _, a := range d.Acceptance {
		p.linef("  %s %s: %s", a.Runtime, RuntimeRange{From: a.From, To: a.To}.span(), a.words())
	}
	p.linef("")
	p.linef("A runtime that refuses a mask logs \"invalid plugin events\" with the bits it does not know, and disconnects the plugin without telling it.")
	return p.err
}

func (a Acceptance) words() string {
	if a.Accepts {
		return "accepted"
	}
	return "refused"
}

// Markdown writes the same as two lists.
func (d *ExplainMask) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## Event mask %s\n", d.Mask)
	for _, e := range d.Events {
		p.linef("- `%s` %s", e.Mask, e.Name)
	}
	if d.UnknownBits != "0x0" {
		p.linef("- `%s` unknown to every NRI version up to %s", d.UnknownBits, inference.NewestNRI)
	}
	p.linef("")
	for _, a := range d.Acceptance {
		p.linef("- %s %s: %s", a.Runtime, RuntimeRange{From: a.From, To: a.To}.span(), a.words())
	}
	return p.err
}

// ExplainBug is the document of the explain command for a known bug.
type ExplainBug struct {
	Head
	Bugs []BugEntry `json:"bugs"`
}

// NewExplainBug describes a bug in each runtime that has it.
func NewExplainBug(head Head, bugs []inference.Bug) *ExplainBug {
	d := &ExplainBug{Head: head, Bugs: []BugEntry{}}
	for _, b := range bugs {
		d.Bugs = append(d.Bugs, newBugEntry(b))
	}
	return d
}

// Text writes the bug, once for each runtime that has it.
func (d *ExplainBug) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	for i, b := range d.Bugs {
		if i > 0 {
			p.linef("")
		}
		p.linef("%s - %s, %s", style.bold(b.ID), b.Runtime, b.Severity)
		p.linef("  %s", b.Text)
		for _, a := range b.Affected {
			p.linef("  affected  %s", a)
		}
		p.linef("  touches   %s", b.touched())
		if b.Ref != "" {
			p.linef("  see       %s", b.Ref)
		}
	}
	return p.err
}

func (b BugEntry) touched() string {
	s := strings.Join(b.Touches, ", ")
	if b.AnyPlugin {
		s = strings.TrimSuffix("any plugin, whatever it uses; "+s, "; ")
	}
	return s
}

// Markdown writes the bug as a section for each runtime that has it.
func (d *ExplainBug) Markdown(w io.Writer) error {
	p := &printer{w: w}
	for _, b := range d.Bugs {
		p.linef("## %s (%s, %s)\n\n%s\n", b.ID, b.Runtime, b.Severity, mdText(b.Text))
		p.linef("- touches: %s", mdText(b.touched()))
		for _, a := range b.Affected {
			p.linef("- affected: %s", a)
		}
		if b.Ref != "" {
			p.linef("- see: %s", mdText(fmt.Sprint(b.Ref)))
		}
		p.linef("")
	}
	return p.err
}
