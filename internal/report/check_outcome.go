package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Outcome is the outcome for one capability.
type Outcome struct {
	ID     string `json:"id"`
	Level  string `json:"level" jsonschema:"enum=requires,enum=wants"`
	Source string `json:"source" jsonschema:"enum=declared,enum=source,enum=binary,enum=observed"`
	// OneOf names the group of alternatives it belongs to, of which one is enough:
	// by its members, joined by "/". It is empty for what is needed by itself.
	OneOf  string `json:"oneOf,omitempty"`
	Status string `json:"status" jsonschema:"enum=ok,enum=missing,enum=conditional,enum=harmful,enum=unknown"`
	// Counts is the status that counts for the verdict, where it is not Status:
	// the best one among the alternatives.
	Counts string `json:"counts,omitempty" jsonschema:"enum=ok,enum=missing,enum=conditional,enum=unknown"`
	State  string `json:"state" jsonschema:"enum=unknown,enum=yes,enum=partial,enum=conditional,enum=no,enum=harmful"`
	// Effect is none where the status counts as ok.
	Effect string `json:"effect" jsonschema:"enum=none,enum=refused,enum=create-error,enum=dropped,enum=empty,enum=never-called,enum=crash,enum=hang"`
	// Consequence says in words what happens, or which alternative keeps it from
	// happening; empty if the status is ok.
	Consequence string `json:"consequence,omitempty"`
	// Instead says what to do instead where it is missing or harmful; may be
	// empty.
	Instead  string               `json:"instead,omitempty"`
	Settings []capability.Setting `json:"settings"`
	Note     string               `json:"note,omitempty"`
	Origin   string               `json:"origin,omitempty"`
	Unproven bool                 `json:"unproven,omitempty"`
	// Waived says why the outcome does not count although it is not ok.
	Waived     *Waived               `json:"waived,omitempty"`
	Evidence   []capability.Evidence `json:"evidence"`
	References []string              `json:"references"`
}

// newOutcome describes an item of a report.
func newOutcome(item capability.Item, all []capability.Item) Outcome {
	a := item.Answer
	o := Outcome{
		ID: item.Requirement.Capability.String(), Level: item.Requirement.Level.String(),
		Source: item.Requirement.Source.String(), OneOf: item.Requirement.OneOf, Status: item.Status.String(),
		State: a.State.String(), Effect: a.Effect.String(), Settings: emptyNotNull(a.Settings),
		Note: a.Note, Origin: a.Origin, Unproven: item.Requirement.Unproven,
		Evidence: emptyNotNull(item.Requirement.Evidence), References: emptyNotNull(a.References),
	}
	if item.Status == capability.StatusOK {
		if a.State == capability.Conditional {
			o.Effect = capability.NoEffect.String() // of the setting that is met
		}
		return o
	}
	o.Consequence = consequence(item.Requirement.Capability, a)
	if e, ok := capability.Lookup(item.Requirement.Capability); ok && item.Status != capability.StatusUnknown && item.Status != capability.StatusConditional {
		o.Instead = e.Instead
	}
	if item.Counts != item.Status {
		o.spare(item, all)
	}
	return o
}

// spare says on account of which alternative a status does not count.
func (o *Outcome) spare(item capability.Item, all []capability.Item) {
	var better []string
	for _, i := range all {
		if i.Requirement.OneOf == item.Requirement.OneOf && i.Status == item.Counts {
			better = append(better, i.Requirement.Capability.String())
		}
	}
	o.Counts, o.Instead = item.Counts.String(), "" // there is an alternative already
	names := strings.Join(better, " or ")
	switch item.Counts {
	case capability.StatusOK:
		o.Effect = capability.NoEffect.String()
		o.Consequence = "not needed: " + strings.Join(better, " and ") + are(len(better)) + "there"
	case capability.StatusConditional:
		o.Consequence = "not needed once " + names + " is there; until then " + o.Consequence
	default:
		o.Consequence = "not needed if " + names + " is there, which is not known; else " + o.Consequence
	}
}

func are(n int) string {
	if n == 1 {
		return " is "
	}
	return " are "
}

// counted is the status that counts for the verdict.
func (o Outcome) counted() string { return cmp.Or(o.Counts, o.Status) }

// spared tells whether an alternative makes up for what is not there.
func (o Outcome) spared() bool {
	return o.Status != capability.StatusOK.String() && o.counted() == capability.StatusOK.String()
}

// need is the same for the alternatives of one group, and for nothing else.
func (o Outcome) need() string { return cmp.Or(o.OneOf, o.ID) }

// consequence says in words what happens to a plugin that uses it.
func consequence(id capability.ID, a capability.Answer) string {
	if a.State == capability.Unknown {
		if a.Note != "" {
			return a.Note
		}
		return "nothing is known"
	}
	if a.Consequence != "" {
		return a.Consequence
	}
	e, ok := capability.Lookup(id)
	switch a.Effect {
	case capability.Crash:
		return "using it ends the runtime process"
	case capability.Hang:
		if ok && e.Effect == capability.Hang {
			return e.Consequence
		}
		return "using it makes the runtime hang"
	case capability.CreateError:
		return "the container is not created"
	case capability.Refused:
		if !ok || e.Effect != capability.Refused {
			return "the registration of the plugin fails"
		}
	}
	if ok {
		return e.Consequence
	}
	return a.Effect.String()
}

func (o Outcome) effect() string {
	if o.Effect == capability.NoEffect.String() {
		return ""
	}
	return o.Effect
}

// why is the one sentence next to a status.
func (o Outcome) why() string {
	if o.Status != capability.StatusOK.String() {
		return o.Consequence
	}
	for _, s := range o.Settings {
		return fmt.Sprintf("because %s is %s (%s)", s.Name, orNotSet(s.Value), plain(s.Origin))
	}
	if o.State == capability.Partial.String() {
		return "partial: " + o.Note
	}
	return ""
}

func orNotSet(value string) string {
	if value == "" {
		return "not set"
	}
	return plain(value)
}

// details are the lines below the table: what to change, what to do instead,
// where it is used.
func (o Outcome) details(p *printer, style Style, told told) {
	if o.Waived != nil {
		p.linef("  %s %s", o.ID, o.Waived.line())
	}
	for _, s := range o.Settings {
		if !s.Met() && !o.spared() {
			p.linef("  %s needs %s=%s, which is %s (%s)", o.ID, s.Name, s.Want, orNotSet(s.Value), plain(s.Origin))
			if s.Key != "" {
				p.linef("    set in %s", s.Key)
			}
		}
	}
	if o.counted() == capability.StatusOK.String() && !style.Wide {
		return
	}
	if o.Instead != "" && told.first("instead of "+o.ID+o.Instead) {
		p.linef("  instead of %s: %s", o.ID, o.Instead)
	}
	o.evidenceText(p, style, told)
	if style.Wide {
		if o.Note != "" {
			p.linef("  %s: %s", o.ID, plain(o.Note))
		}
		for _, ref := range o.References {
			p.linef("  %s: see %s", o.ID, ref)
		}
	}
}

// evidenceText says where the plugin uses the capability.
func (o Outcome) evidenceText(p *printer, style Style, told told) {
	if len(o.Evidence) == 0 || !told.first("use of "+o.ID) {
		return
	}
	for i, e := range o.Evidence {
		if i == 3 && !style.Wide {
			p.linef("  … and %d more places (-o wide lists them)", len(o.Evidence)-i)
			break
		}
		p.linef("  %s used: %s", o.ID, evidenceLine(e))
	}
}

// evidenceLine says where a plugin uses a capability.
func evidenceLine(e capability.Evidence) string {
	var parts []string
	if e.File != "" {
		place := plain(e.File)
		if e.Line > 0 {
			place += fmt.Sprintf(":%d", e.Line)
		}
		parts = append(parts, place)
	}
	if e.Symbol != "" {
		parts = append(parts, e.Kind+" of "+plain(e.Symbol))
	} else {
		parts = append(parts, e.Kind)
	}
	if e.Function != "" {
		parts = append(parts, "in "+plain(e.Function))
	}
	if e.Detail != "" {
		parts = append(parts, "("+plain(e.Detail)+")")
	}
	return strings.Join(parts, " ")
}
