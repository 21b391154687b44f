package cmd

import (
	"os"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/config"
	"github.com/nri-compat/nri-compat/internal/report"
)

// excuses are the reasons for which something that does not work shall not
// count: waivers of the configuration, and what a baseline had already.
type excuses struct {
	table    *inference.Table
	file     *config.File
	used     []bool // by waiver
	about    []bool // by waiver: it names a plugin that was checked
	baseline *report.Baseline
	given    map[excuseKey]*report.Waived
}

type excuseKey struct{ plugin, runtime, release, capability string }

// newExcuses checks the waivers against the table and the calendar, and reads
// the baseline, if a file is named.
func newExcuses(t *inference.Table, file *config.File, baseline string, now time.Time) (*excuses, error) {
	if err := file.Check(t, now); err != nil {
		return nil, usage(err)
	}
	e := &excuses{
		table: t, file: file, given: map[excuseKey]*report.Waived{},
		used: make([]bool, len(file.Waivers)), about: make([]bool, len(file.Waivers)),
	}
	if baseline == "" {
		return e, nil
	}
	f, err := os.Open(baseline)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	saved, err := report.ReadCheck(f, baseline)
	if err != nil {
		return nil, err
	}
	e.baseline, err = report.NewBaseline(saved)
	return e, err
}

// needs returns the needs of a plugin as they count on each runtime.
func (e *excuses) needs(p report.CheckPlugin, need capability.Needs) func(inference.Support) capability.Needs {
	need = e.begin(p, need)
	return func(s inference.Support) capability.Needs { return e.excused(p, need, s, s) }
}

// begin notes that a plugin is checked, and returns its needs without the gaps
// that the baseline had.
func (e *excuses) begin(p report.CheckPlugin, need capability.Needs) capability.Needs {
	for i, w := range e.file.Waivers {
		e.about[i] = e.about[i] || w.Names(p.Name, p.Ref)
	}
	if e.baseline != nil {
		var gaps []string
		for _, gap := range need.Gaps {
			if !e.baseline.HadGap(p.Name, gap) {
				gaps = append(gaps, gap)
			}
		}
		need.Gaps = gaps
	}
	return need
}

// together returns the needs of a plugin as they count on a kubelet and a
// container runtime that run together. Waivers are those of the kubelet.
func (e *excuses) together(p report.CheckPlugin, need capability.Needs, pair inference.Pair) capability.Needs {
	return e.excused(p, e.begin(p, need), pair.Kubelet, pair)
}

// excused returns the needs without what is excused on a runtime, whose answers
// are those of have.
func (e *excuses) excused(p report.CheckPlugin, need capability.Needs, s inference.Support, have capability.Provider) capability.Needs {
	return need.Excuse(have, func(r capability.Requirement, status capability.Status) (string, bool) {
		w := e.find(p, s.Runtime, r.Capability, status)
		if w == nil {
			return "", false
		}
		release := ""
		if !s.Runtime.Version.IsZero() {
			release = s.Runtime.Version.String()
		}
		e.given[excuseKey{p.Name, s.Runtime.Name, release, r.Capability.String()}] = w
		return w.Reason, true
	})
}

// find returns why an outcome does not count, nil if it does.
func (e *excuses) find(p report.CheckPlugin, r inference.Runtime, id capability.ID, status capability.Status) *report.Waived {
	for i, w := range e.file.Waivers {
		if w.Capability == id && w.Names(p.Name, p.Ref) && w.Covers(e.table, r) {
			e.used[i] = true
			return &report.Waived{By: "waiver", Reason: w.Reason, Until: w.Day()}
		}
	}
	if e.baseline != nil && e.baseline.Had(p.Name, r.Name, r.Version.String(), id, status) {
		return &report.Waived{By: "baseline"}
	}
	return nil
}

// note puts the excuses of a plugin into the document, where it may have
// another name.
func (e *excuses) note(doc *report.Check, p report.CheckPlugin, name string) {
	doc.Waive(name, func(runtime, release, capability string) *report.Waived {
		return e.given[excuseKey{p.Name, runtime, release, capability}]
	})
}

// unused returns the waivers that excused nothing although their plugin was
// checked.
func (e *excuses) unused() []config.Waiver {
	var out []config.Waiver
	for i, w := range e.file.Waivers {
		if !e.used[i] && e.about[i] {
			out = append(out, w)
		}
	}
	return out
}
