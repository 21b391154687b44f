package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// KnownBug is a known bug as far as it matters for a result.
type KnownBug struct {
	capability.Bug
	// Touches are the required capabilities it touches.
	Touches []string `json:"touches"`
	// In are the releases of the result that have it, if not all of them do.
	In []string `json:"in,omitempty"`
}

// addBugs notes the bugs that touch a capability. One that makes the state
// harmful is told by the state already.
func (r *Result) addBugs(item capability.Item) {
	id := item.Requirement.Capability.String()
	for _, b := range item.Answer.Bugs {
		if item.Status == capability.StatusHarmful {
			continue
		}
		if i := slices.IndexFunc(r.Bugs, func(k KnownBug) bool { return k.ID == b.ID }); i >= 0 {
			r.Bugs[i].Touches = append(r.Bugs[i].Touches, id)
			continue
		}
		r.Bugs = append(r.Bugs, KnownBug{Bug: b, Touches: []string{id}})
	}
}

// addOtherBugs notes the bugs that any plugin can hit in any of the releases.
func (r *Result) addOtherBugs(g inference.Group) {
	for _, o := range g.Outcomes {
		bugs := o.Support.Bugs()
		if o.Below != nil {
			bugs = slices.Concat(bugs, o.Below.Bugs())
		}
		for _, b := range bugs {
			if !b.AnyPlugin || slices.ContainsFunc(r.Bugs, func(k KnownBug) bool { return k.ID == b.ID }) {
				continue
			}
			i := slices.IndexFunc(r.OtherBugs, func(k KnownBug) bool { return k.ID == b.ID })
			if i < 0 {
				i = len(r.OtherBugs)
				bug := capability.Bug{ID: b.ID, Severity: b.Severity, Text: b.Text}
				r.OtherBugs = append(r.OtherBugs, KnownBug{Bug: bug, Touches: []string{}})
			}
			r.OtherBugs[i].In = append(r.OtherBugs[i].In, o.Support.Runtime.Version.String())
		}
	}
	for i := range r.OtherBugs {
		if len(r.OtherBugs[i].In) == len(g.Outcomes) {
			r.OtherBugs[i].In = nil
		}
	}
}

func (r Result) bugsText(p *printer, style Style, told told) {
	for _, b := range r.Bugs {
		line := fmt.Sprintf("  known bug %s (%s), touches %s", b.ID, b.Severity, strings.Join(b.Touches, ", "))
		if told.first("bug " + b.ID) {
			line += ": " + b.Text
		}
		p.linef("%s", line)
	}
	if len(r.OtherBugs) == 0 {
		return
	}
	if !style.Wide {
		p.linef("  %s that any plugin can hit (-o wide lists them)", count(len(r.OtherBugs), "known bug", "known bugs"))
		return
	}
	for _, b := range r.OtherBugs {
		in := ""
		if len(b.In) > 0 {
			in = ", in " + strings.Join(b.In, ", ")
		}
		p.linef("  known bug %s (%s), any plugin%s: %s", b.ID, b.Severity, in, b.Text)
	}
}
