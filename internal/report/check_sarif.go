package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/nri-compat/nri-compat/capability"
)

const (
	homepage       = "https://github.com/nri-compat/nri-compat"
	capabilityPage = homepage + "/blob/main/docs/capabilities.md"
	// maxResults is how many results of a run GitHub shows; it refuses a file
	// with five times as many.
	maxResults = 5000
)

// SARIF writes the check as one run of SARIF 2.1.0: a result for everything
// that is not ok, none for what is. The text of a message is plain.
func (c *Check) SARIF(w io.Writer) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: c.Tool.Name, Version: c.Tool.Version, InformationURI: homepage, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{c.invocation()},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
		Properties:  map[string]string{"table": c.Table.Version, "tableSHA256": c.Table.SHA256, "tableOrigin": plain(c.Table.Origin)},
	}
	if v, err := semver.NewVersion(c.Tool.Version); err == nil {
		run.Tool.Driver.SemanticVersion = v.String()
	}
	found := c.findings()
	if n := len(found) - maxResults; n > 0 {
		found = found[:maxResults] // worst first
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
			Level:   "warning",
			Message: sarifMessage{Text: fmt.Sprintf("%d more results are left out; -o json has all of them", n)},
		})
	}
	rules := map[string]int{}
	for _, f := range found {
		index, ok := rules[f.rule]
		if !ok {
			index = len(run.Tool.Driver.Rules)
			rules[f.rule] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, c.rule(f.rule))
		}
		run.Results = append(run.Results, f.sarif(index))
	}
	return encodeJSON(w, sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}})
}

// invocation tells whether the check as such went through.
func (c *Check) invocation() sarifInvocation {
	i := sarifInvocation{ExecutionSuccessful: len(c.Errors) == 0}
	for _, e := range c.Errors {
		i.Notifications = append(i.Notifications, sarifNotification{
			Level: "error", Message: sarifMessage{Text: sarifText(clip(e.line(), maxText))},
		})
	}
	return i
}

func (f finding) sarif(rule int) sarifResult {
	print := f.fingerprint()
	r := sarifResult{
		RuleID: f.rule, RuleIndex: rule, Level: [...]string{note: "note", warning: "warning", failure: "error"}[f.severity],
		Message: sarifMessage{Text: sarifText(f.text)},
		Locations: []sarifLocation{{sarifPhysical{
			ArtifactLocation: sarifArtifact{URI: f.place.uri()},
			Region:           sarifRegion{StartLine: f.place.Line},
		}}},
		PartialFingerprints: map[string]string{
			"nriCompat/v1": print,
			// GitHub goes by this one only, and would make one alert of the
			// results of several runtimes at the same line.
			"primaryLocationLineHash": print + ":1",
		},
	}
	if !strings.HasPrefix(f.place.File, "/") {
		r.Locations[0].PhysicalLocation.ArtifactLocation.URIBaseID = "%SRCROOT%"
	}
	if f.waived != nil {
		r.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Justification: clip(f.waived.line(), maxText)}}
	}
	return r
}

// rule describes what a finding is about, from the catalogue where it is a
// capability.
func (c *Check) rule(id string) sarifRule {
	r := sarifRule{ID: id, Default: sarifRuleDefault{"error"}}
	switch {
	case id == ruleUnread:
		r.Default.Level = "warning"
		r.describe("the plugin could not be read completely", "What could not be read may be required; the verdict is at best inconclusive.", "")
	case id == rulePlugin:
		r.Default.Level = "warning"
		r.describe("fault of the plugin", "The plugin itself has a fault that every runtime shows.", "")
	case strings.HasPrefix(id, rulesOwnBug):
		r.Default.Level = "note"
		r.describe("known bug of a runtime: "+strings.TrimPrefix(id, rulesOwnBug), c.bugText(strings.TrimPrefix(id, rulesOwnBug)), "")
	default:
		r.describeCapability(id)
	}
	return r
}

func (r *sarifRule) describe(short, full, instead string) {
	r.ShortDescription = sarifMessage{Text: sarifText(short)}
	if full == "" {
		full = short
	}
	r.FullDescription = sarifMessage{Text: sarifText(full)}
	help, md := full, mdText(full)
	if instead != "" {
		help += "\n\nInstead: " + instead
		md += "\n\n**Instead:** " + mdText(instead)
	}
	r.Help = &sarifMessage{Text: sarifText(help), Markdown: md}
}

func (r *sarifRule) describeCapability(name string) {
	id, err := capability.Parse(name)
	entry, ok := capability.Lookup(id)
	if err != nil || !ok {
		r.describe(name, "a capability that this version of nri-compat does not know", "")
		return
	}
	r.describe(entry.Title, "Without it: "+entry.Consequence+".", entry.Instead)
	if entry.Note != "" {
		r.Help.Text += "\n\n" + sarifText(entry.Note)
		r.Help.Markdown += "\n\n" + mdText(entry.Note)
	}
	r.HelpURI = capabilityPage + "#" + strings.ToLower(name)
	r.Help.Markdown += "\n\n[More about " + name + "](" + r.HelpURI + ")"
	r.Properties = &sarifRuleBag{Tags: []string{string(id.Kind().Family()), strings.ToLower(string(id.Kind()))}}
}

func (c *Check) bugText(id string) string {
	for _, r := range c.Results {
		for _, b := range r.Bugs {
			if b.ID == id {
				return b.Text
			}
		}
	}
	return ""
}

// sarifText keeps a plain message from being read as one with a link or a
// placeholder in it.
func sarifText(s string) string {
	if strings.Contains(s, "](") {
		s = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
	}
	return s
}
