package report

import (
	"fmt"
	"io"
	"strings"
)

// maxAnnotations is how many annotations of one kind GitHub keeps of a step.
// It drops the later ones without a word, so that fewer say more.
const maxAnnotations = 10

// GitHub writes the check as workflow commands of GitHub Actions, which make
// annotations: the worst first, at most ten, and a notice with the count.
func (c *Check) GitHub(w io.Writer) error {
	p := &printer{w: w}
	shown := 0
	for _, e := range c.Errors {
		if shown < maxAnnotations {
			p.linef("::error title=%s::%s", githubProperty("nri-compat"), githubText(clip(e.line(), maxText)))
			shown++
		}
	}
	found := c.findings()
	for _, f := range found {
		if shown == maxAnnotations {
			break
		}
		shown++
		command := [...]string{note: "notice", warning: "warning", failure: "error"}[f.severity]
		title := f.rule
		if f.runtime != "" {
			title += " on " + f.runtime
		}
		p.linef("::%s file=%s,line=%d,title=%s::%s", command, githubProperty(f.place.File), f.place.Line, githubProperty(title), githubText(f.text))
	}
	closing := c.Summary.line(len(c.Results))
	if all := len(found) + len(c.Errors); all > shown {
		closing += fmt.Sprintf("; %d of %d findings are shown here, -o sarif and -o json have all of them", shown, all)
	}
	p.linef("::notice title=nri-compat::%s", githubText(closing))
	return p.err
}

// githubText escapes the message of a workflow command. Line ends cannot be in
// it any more, but a percent sign would be taken for an escape.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(plain(s))
}

// githubProperty escapes a property, which ends at a comma or colon.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
