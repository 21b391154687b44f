package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/nri-compat/nri-compat/capability"
)

// ReadCheck reads a check that was saved as JSON. The name is the one of the
// file, for errors.
func ReadCheck(r io.Reader, name string) (*Check, error) {
	data, schema, err := readSaved(r, name)
	if err != nil {
		return nil, err
	}
	if schema != "nri-compat.dev/check/v1" {
		return nil, fmt.Errorf("%s: schema %.60q is not nri-compat.dev/check/v1: save one with check -o json=FILE", name, schema)
	}
	var c Check
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, r := range c.Results {
		for _, o := range r.Capabilities {
			var status capability.Status
			if err := status.UnmarshalText([]byte(o.counted())); err != nil {
				return nil, fmt.Errorf("%s: %s on %s: %w", name, o.ID, r.Runtime.title(), err)
			}
		}
	}
	return &c, nil
}

// Baseline is what an earlier check found, so that a later one can tell what is
// new.
type Baseline struct {
	outcomes map[baselineKey]capability.Status
	gaps     map[[2]string]bool // plugin and gap
}

type baselineKey struct{ plugin, runtime, release, capability string }

// NewBaseline returns what a check found, by the statuses that counted: of what
// an alternative made up for nothing was wrong. Whatever was excused in it was
// found nevertheless. A check that could not check everything is no baseline.
func NewBaseline(c *Check) (*Baseline, error) {
	if len(c.Errors) > 0 {
		return nil, fmt.Errorf("no baseline: something could not be checked in it: %s", c.Errors[0].line())
	}
	b := &Baseline{map[baselineKey]capability.Status{}, map[[2]string]bool{}}
	for _, p := range c.Plugins {
		for _, gap := range p.Gaps {
			b.gaps[[2]string{p.Name, gap}] = true
		}
	}
	for _, r := range c.Results {
		for _, gap := range r.Gaps {
			b.gaps[[2]string{r.Plugin, gap}] = true
		}
		for _, o := range r.Capabilities {
			var status capability.Status
			if err := status.UnmarshalText([]byte(o.counted())); err != nil {
				return nil, fmt.Errorf("%s on %s: %w", o.ID, r.Runtime.title(), err)
			}
			for _, release := range r.Runtime.Releases {
				b.outcomes[baselineKey{r.Plugin, r.Runtime.Name, release, o.ID}] = status
			}
		}
	}
	return b, nil
}

// Had tells whether an outcome was as bad before: a release that was not
// checked then, and a status that is worse now, are new.
func (b *Baseline) Had(plugin, runtime, release string, id capability.ID, status capability.Status) bool {
	before, ok := b.outcomes[baselineKey{plugin, runtime, release, id.String()}]
	return ok && before != capability.StatusOK && before.Rank() >= status.Rank()
}

// HadGap tells whether the same could not be read of a plugin before.
func (b *Baseline) HadGap(plugin, gap string) bool { return b.gaps[[2]string{plugin, gap}] }
