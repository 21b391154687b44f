package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Text writes the check for a person: one block a result, the verdict as its
// last line, then where the plugin would work and the count.
func (c *Check) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	for _, plugin := range c.Plugins {
		p.linef("%s", style.fit(plugin.line()))
		for _, text := range plugin.Warnings {
			p.linef("  warning: %s", plain(text))
		}
		told := told{wide: style.Wide, lines: map[string]bool{}}
		for _, r := range c.Results {
			if r.Plugin == plugin.Name {
				p.linef("")
				r.text(p, c.tableName(), style, told)
				p.linef("%s", style.statuses(r.verdictLine()))
			}
		}
		for _, a := range c.Advice {
			if a.Plugin == plugin.Name {
				p.linef("")
				a.text(p)
			}
		}
		p.linef("")
	}
	p.linef("%s", c.Summary.line(len(c.Results)))
	return p.err
}

// line introduces a plugin.
func (p CheckPlugin) line() string {
	s := plain(p.Name)
	if p.NRI != "" {
		s += "   NRI " + plain(p.NRI)
	}
	return s + "   " + count(p.Required, "required capability", "required capabilities")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// title names the runtime or the run of releases.
func (r RuntimeRange) title() string {
	s := strings.TrimSpace(plain(r.Name) + " " + r.span())
	if s == "" {
		s = "unknown runtime"
	}
	if r.Vendor != "" {
		s += " (" + plain(r.Vendor) + ")"
	}
	return s
}

// title names the runtime of a result, and the one that runs below it.
func (r Result) title() string {
	if r.Below != nil {
		return r.Runtime.title() + " and " + r.Below.title()
	}
	return r.Runtime.title()
}

func (r RuntimeRange) span() string {
	if r.From == r.To {
		return r.From
	}
	return r.From + " to " + r.To
}

// knowledge says what the answer rests on.
func (r RuntimeRange) knowledge(table string) string {
	var parts []string
	if len(r.NRI) > 0 {
		nri := r.NRI[0]
		if n := len(r.NRI); n > 1 {
			nri += " to " + r.NRI[n-1]
		}
		if r.NRIOrigin != "table" && r.NRIOrigin != "" {
			nri += " (" + r.NRIOrigin + ")"
		}
		parts = append(parts, "NRI "+nri)
	}
	if n := len(r.Releases); n > 1 {
		parts = append(parts, fmt.Sprintf("%d releases", n))
	}
	return strings.Join(append(parts, table+", "+r.Match), ", ")
}

// told remembers what was said of a plugin: what holds on many releases is
// printed for the first of them only. The wide text leaves nothing out.
type told struct {
	wide  bool
	lines map[string]bool
}

// first tells whether a line is to be printed, and notes that it was.
func (t told) first(line string) bool {
	before := t.lines[line]
	t.lines[line] = true
	return !before || t.wide
}

// text writes everything about a result but its verdict.
func (r Result) text(p *printer, table string, style Style, told told) {
	p.linef("%s", style.bold(style.fit(r.Runtime.title()+"   "+r.Runtime.knowledge(table))))
	if r.Runtime.Why != "" {
		p.linef("  %s", plain(r.Runtime.Why))
	}
	for _, c := range r.Runtime.Contradictions {
		p.linef("  contradiction: %s", plain(c))
	}
	r.Runtime.switchText(p)
	if r.Below != nil {
		p.linef("%s", style.bold(style.fit(r.Below.title()+"   "+r.Below.knowledge(table))))
		if r.Below.Why != "" {
			p.linef("  %s", plain(r.Below.Why))
		}
		r.Below.switchText(p)
	}
	shown, hidden := r.shown(style)
	if len(shown) > 0 {
		header, rows := outcomeRows(shown, style)
		p.do(func(w io.Writer) error { return grid(w, style, header, rows) })
	}
	if hidden > 0 {
		p.linef("%d more ok (-o wide lists them)", hidden)
	}
	groups := map[string]bool{"": true}
	for _, o := range shown {
		if !groups[o.OneOf] && told.first("one of "+o.OneOf) {
			p.linef("  one is enough: %s", strings.ReplaceAll(o.OneOf, "/", ", "))
		}
		groups[o.OneOf] = true
	}
	for _, o := range shown {
		o.details(p, style, told)
	}
	r.bugsText(p, style, told)
	for _, g := range r.Gaps {
		p.linef("  could not be read: %s", plain(g))
	}
	if r.Assumed != "" {
		p.linef("  %s", plain(r.Assumed))
	}
}

// switchText says if NRI is off, and how to turn it on.
func (r RuntimeRange) switchText(p *printer) {
	s := r.NRISwitch
	switch {
	case s == nil || s.Met():
	case s.Origin == "default":
		p.linef("  NRI is off by default; to turn it on: %s", s.Key)
	default:
		p.linef("  NRI is off (%s); to turn it on: %s", plain(s.Origin), s.Key)
	}
}

// shown picks the outcomes worth a line, and counts the others: all of a short
// list, otherwise what is not plainly ok.
func (r Result) shown(style Style) (shown []Outcome, hidden int) {
	const short = 8
	for _, o := range r.Capabilities {
		good := o.Status == capability.StatusOK.String()
		if !good || style.Wide || len(r.Capabilities) <= short {
			shown = append(shown, o)
		} else {
			hidden++
		}
	}
	return shown, hidden
}

func outcomeRows(shown []Outcome, style Style) (header []string, rows [][]string) {
	header = []string{"CAPABILITY", "STATUS", "EFFECT", "WHY"}
	if style.Wide {
		header = []string{"CAPABILITY", "LEVEL", "STATUS", "EFFECT", "SOURCE", "ORIGIN", "WHY"}
	}
	for _, o := range shown {
		name := o.ID
		if o.Level == capability.Wants.String() && !style.Wide {
			name += " (wanted)"
		}
		if o.Waived != nil {
			name += " (waived)"
		}
		row := []string{name, o.Status, o.effect(), o.why()}
		if style.Wide {
			row = []string{name, o.Level, o.Status, o.effect(), o.Source, o.Origin, o.why()}
		}
		rows = append(rows, row)
	}
	return header, rows
}

func (r Result) verdictLine() string {
	line := fmt.Sprintf("%s: %s with %s", r.Verdict, plain(r.Plugin), r.title())
	var parts []string
	for _, status := range []string{"harmful", "missing", "conditional", "unknown"} {
		needs := map[string]bool{}
		for _, o := range r.Capabilities {
			if o.counted() == status && o.counts() {
				needs[o.need()] = true
			}
		}
		if n := len(needs); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) > 0 {
		line += ", " + strings.Join(parts, ", ")
	}
	return line
}

func (s Summary) line(n int) string {
	line := fmt.Sprintf("%s: %d compatible, %d incompatible, %d inconclusive",
		count(n, "result", "results"), s.Compatible, s.Incompatible, s.Inconclusive)
	if s.Bugs > 0 {
		line += fmt.Sprintf("; %d with known bugs", s.Bugs)
	}
	if s.Waived > 0 {
		line += fmt.Sprintf("; %d waived", s.Waived)
	}
	return line
}
