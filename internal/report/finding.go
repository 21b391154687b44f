package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// severity says how much a finding matters.
type severity uint8

const (
	note    severity = iota // worth knowing, decides nothing
	warning                 // could not be decided
	failure                 // does not work
)

// The rules of findings that are about no single capability.
const (
	ruleUnread  = "UNREADABLE"
	rulePlugin  = "PLUGIN_FAULT"
	rulesOwnBug = "bug/" // followed by the id of a known bug
)

// finding is one thing that a check has to say, in the form that reports for
// machines share: sarif and github.
type finding struct {
	severity severity
	harmful  bool
	rule     string // a capability, a known bug or one of the rules above
	plugin   string
	runtime  string // title of the runtime or the run of releases; may be empty
	text     string // without control characters, of bounded length
	place    Place
	waived   *Waived
	// identity is what stays the same from one check to the next.
	identity []string
}

// maxText is the number of bytes of one message. Readers show the first few
// hundred.
const maxText = 4000

// findings returns what a check has to say, worst first: what does harm, what
// is missing, what could not be decided, remarks.
func (c *Check) findings() []finding {
	var out []finding
	for _, p := range c.Plugins {
		for _, text := range p.Warnings {
			out = append(out, finding{
				severity: warning, rule: rulePlugin, plugin: p.Name, place: p.home(),
				text: sentence(p.Name, text), identity: []string{p.Name, rulePlugin, text},
			})
		}
		for _, r := range c.Results {
			if r.Plugin == p.Name {
				out = append(out, r.findings(p)...)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), boolCompare(b.harmful, a.harmful))
	})
	return out
}

func (r Result) findings(p CheckPlugin) []finding {
	var out []finding
	runtime := r.title()
	// A run of releases is known by its first one: the last moves with the table.
	identity := []string{p.Name, r.Runtime.Name, r.Runtime.From, r.Runtime.Vendor}
	for _, o := range r.Capabilities {
		if o.counted() == capability.StatusOK.String() {
			continue
		}
		f := finding{
			severity: o.severity(), harmful: o.Status == capability.StatusHarmful.String(),
			rule: o.ID, plugin: p.Name, runtime: runtime, place: p.place(o), waived: o.Waived,
			text: o.message(p.Name, runtime), identity: append(slices.Clone(identity), o.ID),
		}
		out = append(out, f)
	}
	for _, gap := range r.Gaps {
		out = append(out, finding{
			severity: warning, rule: ruleUnread, plugin: p.Name, runtime: runtime, place: p.home(),
			text: sentence(p.Name, "could not be read: "+gap), identity: append(slices.Clone(identity), ruleUnread, gap),
		})
	}
	for _, b := range r.Bugs {
		out = append(out, finding{
			severity: note, rule: rulesOwnBug + b.ID, plugin: p.Name, runtime: runtime, place: r.bugPlace(p, b),
			text:     sentence(p.Name, "known bug of "+runtime+" ("+b.Severity+"), touches "+strings.Join(b.Touches, ", ")+": "+b.Text),
			identity: append(slices.Clone(identity), b.ID),
		})
	}
	return out
}

// severity of an outcome: what is waived or only wanted is a remark.
func (o Outcome) severity() severity {
	switch {
	case !o.counts():
		return note
	case o.counted() == capability.StatusUnknown.String():
		return warning
	}
	return failure
}

// message says in sentences what is wrong, why, and what to do.
func (o Outcome) message(plugin, runtime string) string {
	what := o.ID
	if o.Level == capability.Wants.String() {
		what = "wanted " + what
	}
	s := plugin + " with " + runtime + ": " + what + " is " + o.Status + ": " + o.Consequence + "."
	for _, setting := range o.Settings {
		if !setting.Met() {
			s += " Needs " + setting.Name + "=" + setting.Want + ", which is " + orNotSet(setting.Value)
			if setting.Key != "" {
				s += "; set in " + setting.Key
			}
			s += "."
		}
	}
	if o.Instead != "" {
		s += " Instead: " + o.Instead + "."
	}
	if len(o.Evidence) > 0 {
		s += " Used: " + evidenceLine(o.Evidence[0]) + "."
	}
	if o.Waived != nil {
		s += " It is " + o.Waived.line() + "."
	}
	return clip(plain(clip(s, maxText)), maxText)
}

func sentence(plugin, text string) string {
	return clip(plain(clip(plugin+": "+text, maxText)), maxText)
}

// bugPlace points at the first use of what a bug touches.
func (r Result) bugPlace(p CheckPlugin, b KnownBug) Place {
	for _, o := range r.Capabilities {
		if slices.Contains(b.Touches, o.ID) {
			return p.place(o)
		}
	}
	return p.home()
}

// fingerprint tells findings of one check apart and stays the same from one
// check to the next, whatever the table, the line or the order.
func (f finding) fingerprint() string {
	h := sha256.New()
	for _, part := range append([]string{f.rule}, f.identity...) {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
