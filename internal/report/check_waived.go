package report

import "github.com/nri-compat/nri-compat/capability"

// Waived says why an outcome that is not ok does not count.
type Waived struct {
	// By is "waiver" for a waiver of the configuration, "baseline" for something
	// that was so in an earlier check.
	By     string `json:"by" jsonschema:"enum=waiver,enum=baseline"`
	Reason string `json:"reason"`
	// Until is the last day of a waiver, YYYY-MM-DD; empty if it has none.
	Until string `json:"until,omitempty"`
}

// Waive notes on the results of a plugin what was waived. The verdicts were
// found by lowering each waived requirement to one that is only wanted, so that
// the rules of [capability.Check] stay as they are; here it becomes a required
// one again, which is waived. The function is asked for every outcome that is
// not ok, with the first release of its result.
func (c *Check) Waive(plugin string, find func(runtime, release, capability string) *Waived) {
	for i := range c.Results {
		r := &c.Results[i]
		if r.Plugin != plugin {
			continue
		}
		for j := range r.Capabilities {
			o := &r.Capabilities[j]
			if o.Status == capability.StatusOK.String() || o.Level != capability.Wants.String() || o.Waived != nil {
				continue
			}
			if w := find(r.Runtime.Name, r.Runtime.From, o.ID); w != nil {
				o.Waived, o.Level = w, capability.Requires.String()
				c.Summary.Waived++
			}
		}
	}
}

// counts tells whether an outcome decides the verdict of its result.
func (o Outcome) counts() bool {
	return o.counted() != capability.StatusOK.String() && o.Level == capability.Requires.String() && o.Waived == nil
}

// line words it for a person.
func (w Waived) line() string {
	s := "waived"
	if w.By == "baseline" {
		s = "in the baseline"
	}
	if w.Reason != "" {
		s += ": " + plain(w.Reason)
	}
	if w.Until != "" {
		s += " (until " + w.Until + ")"
	}
	return s
}
