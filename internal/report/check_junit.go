package report

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// The part of JUnit XML that all readers agree on.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
		Out      string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
		Skipped *junitReason `xml:"skipped"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the check as JUnit XML: a suite a runtime or run of releases, a
// case a capability, with the plugin as its class. What is missing, switched
// off or harmful is a failure, what could not be decided an error, or skipped
// where the undecided passes; what is waived, only wanted, or not needed since
// an alternative is there is skipped.
func (c *Check) JUnit(w io.Writer) error {
	all := junitSuites{Name: c.Tool.Name}
	at := map[string]int{}
	suite := func(name string) *junitSuite {
		i, ok := at[name]
		if !ok {
			i = len(all.Suites)
			at[name] = i
			all.Suites = append(all.Suites, junitSuite{Name: name})
		}
		return &all.Suites[i]
	}
	for _, r := range c.Results {
		s := suite(xmlText(r.title()))
		s.Cases = append(s.Cases, c.junitCases(r)...)
		for _, b := range r.Bugs {
			s.Out += xmlText(sentence(r.Plugin, "known bug "+b.ID+" ("+b.Severity+"), touches "+strings.Join(b.Touches, ", ")+": "+b.Text)) + "\n"
		}
	}
	for _, e := range c.Errors {
		s := suite(c.Tool.Name)
		s.Cases = append(s.Cases, junitCase{
			Name: "check", Class: xmlName(e.Ref, c.Tool.Name), Error: &junitReason{Message: xmlText(e.line()), Type: "error"},
		})
	}
	for i := range all.Suites {
		all.Suites[i].count()
		all.Tests += all.Suites[i].Tests
		all.Failures += all.Suites[i].Failures
		all.Errors += all.Suites[i].Errors
		all.Skipped += all.Suites[i].Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c *Check) junitCases(r Result) []junitCase {
	var out []junitCase
	for _, o := range r.Capabilities {
		tc := junitCase{Name: o.ID, Class: xmlName(r.Plugin, "plugin")}
		reason := &junitReason{Message: xmlText(o.Status + ": " + o.Consequence), Type: o.Status, Text: xmlText(o.message(r.Plugin, r.title()))}
		switch {
		case o.Status == capability.StatusOK.String():
			if c.FailOn == "known-bug" && r.touched(o) {
				tc.Failure = &junitReason{Message: "a known bug touches it", Type: "known-bug"}
			}
		case o.Waived != nil:
			tc.Skipped = &junitReason{Message: xmlText(o.Waived.line())}
		case o.spared():
			tc.Skipped = &junitReason{Message: xmlText(o.Status + ", " + o.Consequence)}
		case o.Level == capability.Wants.String():
			tc.Skipped = &junitReason{Message: xmlText("only wanted; " + o.Status + ": " + o.Consequence)}
		case o.counted() != capability.StatusUnknown.String():
			tc.Failure = reason
		case c.FailOn == "missing":
			tc.Skipped = &junitReason{Message: reason.Message}
		default:
			tc.Error = reason
		}
		out = append(out, tc)
	}
	for _, gap := range r.Gaps {
		tc := junitCase{Name: ruleUnread, Class: xmlName(r.Plugin, "plugin")}
		reason := &junitReason{Message: xmlText("could not be read: " + gap), Type: "unknown"}
		if c.FailOn == "missing" {
			reason.Type = ""
			tc.Skipped = reason
		} else {
			tc.Error = reason
		}
		out = append(out, tc)
	}
	return out
}

// touched tells whether a known bug touches a required capability.
func (r Result) touched(o Outcome) bool {
	if o.Level != capability.Requires.String() {
		return false
	}
	for _, b := range r.Bugs {
		for _, id := range b.Touches {
			if id == o.ID {
				return true
			}
		}
	}
	return false
}

func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// xmlText is foreign text in a form that XML can carry: a document has no room
// for most control characters, escaped or not.
func xmlText(s string) string { return clip(plain(clip(s, maxText)), maxText) }

// xmlName is a name that must not be empty.
func xmlName(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return xmlText(s)
}
