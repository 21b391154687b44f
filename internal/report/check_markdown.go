package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

const (
	// maxSummary is how much of a job summary is written. GitHub refuses one of
	// more than 1 MiB as a whole; there may be other steps' words in it.
	maxSummary = 1000 * 1000
	// openResults is how many results are shown unfolded.
	openResults = 3
)

// Markdown writes the check for a job summary: a table of the verdicts, then
// what is wrong with each result that is not compatible, folded if there are
// many, then where it would work. What does not fit into a job summary is left
// out from the end, and the summary says so.
func (c *Check) Markdown(w io.Writer) error {
	b := &bounded{limit: maxSummary}
	b.part(func(p *printer) { c.markdownHead(p) })
	b.table([]string{"Plugin", "Runtime", "Verdict", "Because of"}, len(c.Results), func(i int) []string {
		r := c.Results[i]
		return []string{r.Plugin, r.title(), r.Verdict, strings.Join(r.problems(), ", ")}
	})
	for _, a := range c.Advice {
		b.part(func(p *printer) { a.markdown(p) })
	}
	var worth []Result
	for _, r := range c.Results {
		if r.Verdict != capability.Compatible.String() || len(r.Bugs) > 0 || r.waived() {
			worth = append(worth, r)
		}
	}
	for _, r := range worth {
		b.part(func(p *printer) { r.markdown(p, c.tableName(), len(worth) > openResults) })
	}
	b.limit += 1000 // the closing lines always fit
	if b.left > 0 {
		b.part(func(p *printer) {
			p.linef("\n%s left out: a job summary has room for 1 MiB; `-o json` has everything.", count(b.left, "part is", "parts are"))
		})
	}
	b.part(func(p *printer) {
		p.linef("\n%s", mdText(fmt.Sprintf("nri-compat %s, %s", c.Tool.Version, c.tableName())))
	})
	_, err := w.Write(b.text.Bytes())
	return err
}

func (c *Check) markdownHead(p *printer) {
	p.linef("## nri-compat: %s\n", c.Summary.line(len(c.Results)))
	for _, e := range c.Errors {
		p.linef("- could not be checked: %s", mdText(clip(e.line(), maxText)))
	}
	if len(c.Errors) > 0 {
		p.linef("")
	}
}

// bounded gathers parts of a text up to a limit. A part that does not fit is
// left out as a whole, so that what is there stays well-formed.
type bounded struct {
	text  bytes.Buffer
	limit int
	left  int // parts that did not fit
}

func (b *bounded) part(write func(*printer)) {
	var part bytes.Buffer
	write(&printer{w: &part}) // a buffer takes everything
	if b.text.Len()+part.Len() > b.limit {
		b.left++
		return
	}
	b.text.Write(part.Bytes())
}

// table writes a table of n rows, of which those that do not fit are left out.
func (b *bounded) table(header []string, n int, row func(int) []string) {
	b.part(func(p *printer) { p.do(func(w io.Writer) error { return mdTable(w, header, nil) }) })
	for i := range n {
		cells := row(i)
		for j := range cells {
			cells[j] = clip(cells[j], maxText)
		}
		b.part(func(p *printer) { p.linef("%s", mdRow(cells)) })
	}
}

// problems are the reasons of a verdict.
func (r Result) problems() []string {
	var out []string
	for _, o := range r.Capabilities {
		if o.counts() {
			out = append(out, o.ID+" "+o.Status)
		}
	}
	return append(out, r.Gaps...)
}

func (r Result) waived() bool {
	for _, o := range r.Capabilities {
		if o.Waived != nil {
			return true
		}
	}
	return false
}

func (r Result) markdown(p *printer, table string, fold bool) {
	title := fmt.Sprintf("%s with %s: %s", plain(clip(r.Plugin, maxText)), r.title(), r.Verdict)
	if fold {
		// Inside of an HTML block Markdown's escapes mean nothing.
		p.linef("\n<details><summary>%s</summary>\n", html.EscapeString(title))
		defer p.linef("\n</details>")
	} else {
		p.linef("\n### %s\n", mdText(title))
	}
	p.linef("%s\n", mdText(r.Runtime.knowledge(table)))
	if r.Below != nil {
		p.linef("%s: %s\n", mdText(r.Below.title()), mdText(r.Below.knowledge(table)))
	}
	var rows [][]string
	for _, o := range r.Capabilities {
		if o.Status != capability.StatusOK.String() {
			rows = append(rows, []string{o.ID, o.markdownLevel(), o.Status, o.effect(), clip(o.markdownWhy(), maxText)})
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
		p.linef("\n- could not be read: %s", mdText(clip(g, maxText)))
	}
}

func (o Outcome) markdownLevel() string {
	if o.Waived != nil {
		return "waived"
	}
	return o.Level
}

// markdownWhy is everything there is to say about an outcome that is not ok.
func (o Outcome) markdownWhy() string {
	why := o.why()
	if o.Waived != nil {
		why += "; " + o.Waived.line()
	}
	if o.Instead != "" {
		why += "; instead: " + o.Instead
	}
	for _, s := range o.Settings {
		if !s.Met() && !o.spared() {
			why += fmt.Sprintf("; needs %s=%s (%s)", s.Name, s.Want, s.Key)
		}
	}
	if len(o.Evidence) > 0 {
		why += "; used: " + evidenceLine(o.Evidence[0])
	}
	return why
}

func (a Advice) markdown(p *printer) {
	p.linef("\n### Where %s works\n", mdText(clip(a.Plugin, maxText)))
	for _, id := range a.Nowhere {
		p.linef("- no known release has %s", id)
	}
	for _, runtime := range a.Runtimes {
		if len(a.Nowhere) == 0 {
			p.linef("- %s", mdText(a.runtimeLine(runtime)))
		}
	}
}
