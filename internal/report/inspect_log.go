package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Log is what the log of a plugin that failed tells of why.
type Log struct {
	// File is the file that was read, "-" for standard input; empty for the output
	// of a plugin that ran.
	File  string `json:"file"`
	Lines int    `json:"lines"`
	// Reasons are why it failed, the most telling first; empty if nothing in the
	// log tells.
	Reasons []LogReason `json:"reasons"`
	// Last is the last entry of the log, of several lines the last one; empty if
	// there is none.
	Last string `json:"last"`
	// Differences are capabilities that the words of the runtime show to be
	// missing and that were not found in the plugin, a sentence each.
	Differences []string `json:"differences"`
}

// LogReason is one reason why a plugin failed.
type LogReason struct {
	// Severity is what the entry says of itself.
	Severity string `json:"severity" jsonschema:"enum=unknown,enum=info,enum=warning,enum=error,enum=fatal"`
	// Source is where in its own code the plugin wrote the entry, such as
	// "plugin.go:42".
	Source string `json:"source,omitempty"`
	Line   int    `json:"line"`
	// Text says the reason in one line, Quote is what the log says.
	Text  string `json:"text"`
	Quote string `json:"quote"`
	// Refusal is set for what a runtime is known to say, or the system of its
	// socket; it is not for what is only an error.
	Refusal bool `json:"refusal"`
	// Certain is set if these are words of the runtime that mean just this;
	// otherwise it only looks so.
	Certain bool `json:"certain"`
	// Capabilities are what the entry shows to be missing on the runtime.
	Capabilities []LogCapability `json:"capabilities"`
}

// LogCapability is a capability that a log shows to be missing.
type LogCapability struct {
	ID string `json:"id"`
	// Consequence says what happens to a plugin that depends on it.
	Consequence string `json:"consequence"`
	// Instead says what to do on a runtime that does not have it.
	Instead string `json:"instead,omitempty"`
	// Fits are the releases that have it, Runtimes those that decide about it.
	Fits     []Fit    `json:"fits"`
	Runtimes []string `json:"runtimes"`
}

// NewLogCapability describes a capability that a log shows to be missing, with
// where it works.
func NewLogCapability(t *inference.Table, id capability.ID) LogCapability {
	entry, _ := capability.Lookup(id)
	need := capability.Needs{Requirements: []capability.Requirement{{Capability: id}}}
	runtimes := inference.RuntimesFor(id)
	a := newAdvice("", t.Advise(need, runtimes, nil), runtimes)
	return LogCapability{ID: id.String(), Consequence: entry.Consequence, Instead: entry.Instead, Fits: a.Fits, Runtimes: a.Runtimes}
}

// lines are what there is to say of a capability.
func (c LogCapability) lines() []string {
	out := []string{c.ID + " is missing: " + c.Consequence}
	if c.Instead != "" {
		out = append(out, "instead: "+c.Instead)
	}
	a := Advice{Fits: c.Fits}
	for _, runtime := range c.Runtimes {
		out = append(out, "works with "+a.runtimeLine(runtime))
	}
	return out
}

// SetLog puts a log into the document. Of each plugin that was read it is told
// what the runtime's words show to be missing and was not found.
func (d *Inspect) SetLog(l Log) {
	l.complete()
	for _, p := range d.Plugins {
		found := map[string]bool{}
		for _, r := range p.Requirements {
			found[r.ID] = true
		}
		for _, r := range l.Reasons {
			for _, c := range r.Capabilities {
				if !r.Certain || found[c.ID] {
					continue
				}
				found[c.ID] = true
				s := fmt.Sprintf("the log shows that %s is missing on the runtime; nothing that depends on it was found in %s", c.ID, p.Name)
				if len(p.Gaps) > 0 {
					s += ", of which not everything could be read"
				}
				l.Differences = append(l.Differences, s)
			}
		}
	}
	d.Log = &l
}

// complete makes empty lists of those that are missing.
func (l *Log) complete() {
	l.Reasons, l.Differences = emptyNotNull(l.Reasons), emptyNotNull(l.Differences)
	for i := range l.Reasons {
		l.Reasons[i].Capabilities = emptyNotNull(l.Reasons[i].Capabilities)
	}
}

// shownReasons is how many reasons a person is shown at once.
const shownReasons = 5

func (l Log) text(p *printer, style Style) {
	p.linef("%s %s", style.bold("log"), plain(l.summary()))
	shown := l.Reasons
	if !style.Wide {
		shown = shown[:min(len(shown), shownReasons)]
	}
	for _, r := range shown {
		p.linef("  %s: %s", plain(r.place()), plain(r.words()))
		if r.Quote != "" && r.Quote != r.Text {
			p.linef("    %s", plain(r.Quote))
		}
		for _, c := range r.Capabilities {
			for _, line := range c.lines() {
				p.linef("    %s", line)
			}
		}
	}
	if more := len(l.Reasons) - len(shown); more > 0 {
		p.linef("  %d more (-o wide lists them)", more)
	}
	for _, line := range l.Differences {
		p.linef("  difference: %s", plain(line))
	}
}

// summary says how much was read, and if it tells nothing, just that.
func (l Log) summary() string {
	name := l.File
	switch name {
	case "-":
		name = "standard input"
	case "":
		name = "its output"
	}
	s := name + ", " + count(l.Lines, "line", "lines")
	switch {
	case len(l.Reasons) > 0:
	case l.Lines == 0:
		s += ": it is empty"
	case l.Last == "":
		s += ": nothing in it tells why the plugin failed"
	default:
		s += ": nothing in it tells why the plugin failed; it ends with: " + l.Last
	}
	return s
}

// place says where in the log a reason stands and what wrote it.
func (r LogReason) place() string {
	parts := []string{fmt.Sprintf("line %d", r.Line)}
	if r.Severity != "unknown" {
		parts = append(parts, r.Severity)
	}
	if r.Source != "" {
		parts = append(parts, r.Source)
	}
	return strings.Join(parts, ", ")
}

func (r LogReason) words() string {
	if r.Refusal && !r.Certain {
		return "it looks as if " + r.Text
	}
	return r.Text
}

func (l Log) markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## Log\n\n%s\n", mdText(l.summary()))
	for _, r := range l.Reasons {
		p.linef("- %s: %s", mdText(r.place()), mdText(r.words()))
		if r.Quote != "" && r.Quote != r.Text {
			p.linef("  - %s", mdText(r.Quote))
		}
		for _, c := range r.Capabilities {
			p.linef("  - %s", mdText(strings.Join(c.lines(), "; ")))
		}
	}
	for _, line := range l.Differences {
		p.linef("- %s", mdText(line))
	}
	p.linef("")
	return p.err
}
