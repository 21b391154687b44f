package report

import (
	"strings"

	"github.com/nri-compat/nri-compat/inference"
)

// Advice tells where a plugin would work.
type Advice struct {
	Plugin string `json:"plugin"`
	Fits   []Fit  `json:"fits"`
	// Nowhere are the required capabilities that no known release has.
	Nowhere []string `json:"nowhere"`
	// Runtimes are the runtimes that were looked through.
	Runtimes []string `json:"runtimes"`
}

// Fit is a run of releases of one line that has everything required.
type Fit struct {
	Runtime string `json:"runtime"`
	Line    string `json:"line"`
	From    string `json:"from"`
	To      string `json:"to"`
	// ToNewest is set if To is the newest release of the line in the table.
	ToNewest bool `json:"toNewest"`
	// Open is set if To is the newest release of the runtime in the table.
	Open bool `json:"open"`
	// Continues is set if the run goes on from the one before it.
	Continues bool `json:"continues"`
	// With are the settings to change from their defaults.
	With []string `json:"with"`
}

func newAdvice(plugin string, a inference.Advice, runtimes []string) Advice {
	out := Advice{Plugin: plugin, Fits: []Fit{}, Nowhere: []string{}, Runtimes: emptyNotNull(runtimes)}
	for _, f := range a.Fits {
		out.Fits = append(out.Fits, Fit{
			Runtime: f.Runtime, Line: f.Line, From: f.From.String(), To: f.To.String(),
			ToNewest: f.ToNewest, Open: f.Open, Continues: f.Continues, With: emptyNotNull(f.With),
		})
	}
	for _, id := range a.Nowhere {
		out.Nowhere = append(out.Nowhere, id.String())
	}
	return out
}
func (a Advice) text(p *printer) {
	for _, id := range a.Nowhere {
		p.linef("no known release has %s", id)
	}
	if len(a.Nowhere) > 0 {
		return
	}
	p.linef("works with:")
	for _, runtime := range a.Runtimes {
		p.linef("  %s", a.runtimeLine(runtime))
	}
}

// runtimeLine lists the releases of one runtime that fit.
func (a Advice) runtimeLine(runtime string) string {
	var parts []string
	for i := 0; i < len(a.Fits); i++ {
		first := a.Fits[i]
		if first.Runtime != runtime {
			continue
		}
		for i+1 < len(a.Fits) && a.Fits[i+1].Continues {
			i++
		}
		parts = append(parts, fitSpan(first, a.Fits[i]))
	}
	if len(parts) == 0 {
		return "no known release of " + runtime
	}
	return runtime + " " + strings.Join(parts, "; ")
}

// fitSpan words a run of releases from the first of one fit to the last of
// another that continues it.
func fitSpan(first, last Fit) string {
	s := first.From
	switch {
	case last.Open:
		s += " and later"
	case last.ToNewest:
		s += " to " + last.Line + ".x"
	case first.From != last.To:
		s += " to " + last.To
	}
	if len(first.With) > 0 {
		s += " with " + strings.Join(first.With, ", ")
	}
	return s
}
