package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the check for a job summary: a table of the verdicts, then
// what is wrong with each result that is not compatible.
func (c *Check) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## nri-compat: %s\n", c.Summary.line(len(c.Results)))
	var rows [][]string
	for _, r := range c.Results {
		rows = append(rows, []string{r.Plugin, r.Runtime.title(), r.Verdict, strings.Join(r.problems(), ", ")})
	}
	p.do(func(w io.Writer) error {
		return mdTable(w, []string{"Plugin", "Runtime", "Verdict", "Because of"}, rows)
	})
	for _, r := range c.Results {
		if r.Verdict != "compatible" || len(r.Bugs) > 0 {
			r.markdown(p, c.tableName())
		}
	}
	for _, a := range c.Advice {
		p.linef("\n### Where %s works\n", mdText(a.Plugin))
		for _, id := range a.Nowhere {
			p.linef("- no known release has %s", id)
		}
		for _, runtime := range a.Runtimes {
			if len(a.Nowhere) == 0 {
				p.linef("- %s", mdText(a.runtimeLine(runtime)))
			}
		}
	}
	p.linef("\n%s", mdText(fmt.Sprintf("nri-compat %s, %s", c.Tool.Version, c.tableName())))
	return p.err
}

// problems names the required capabilities that are not ok.
func (r Result) problems() []string {
	var out []string
	for _, o := range r.Capabilities {
		if o.Status != "ok" && o.Level == "requires" {
			out = append(out, o.ID+" "+o.Status)
		}
	}
	return append(out, r.Gaps...)
}

func (r Result) markdown(p *printer, table string) {
	p.linef("\n### %s with %s: %s\n", mdText(r.Plugin), mdText(r.Runtime.title()), r.Verdict)
	p.linef("%s\n", mdText(r.Runtime.knowledge(table)))
	var rows [][]string
	for _, o := range r.Capabilities {
		if o.Status != "ok" {
			why := o.why()
			if o.Instead != "" {
				why += "; instead: " + o.Instead
			}
			for _, s := range o.Settings {
				if !s.Met() {
					why += fmt.Sprintf("; needs %s=%s (%s)", s.Name, s.Want, s.Key)
				}
			}
			rows = append(rows, []string{o.ID, o.Level, o.Status, o.effect(), why})
		}
	}
	if len(rows) > 0 {
		p.do(func(w io.Writer) error {
			return mdTable(w, []string{"Capability", "Level", "Status", "Effect", "Why"}, rows)
		})
	}
	for _, b := range r.Bugs {
		p.linef("\n- known bug `%s` (%s): %s", b.ID, b.Severity, mdText(b.Text))
	}
	for _, g := range r.Gaps {
		p.linef("\n- could not be read: %s", mdText(g))
	}
}
