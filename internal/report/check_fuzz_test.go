package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// hostile is a document whose foreign text is what somebody else chose.
func hostile(t testing.TB, name, reason, path string) *Check {
	t.Helper()
	doc := checkCases[1].document(t)
	doc.Plugins[0].Name, doc.Plugins[0].Ref, doc.Plugins[0].Dir = name, path, ""
	doc.Plugins[0].NRI, doc.Plugins[0].Module = name, name
	doc.Plugins[0].Warnings, doc.Plugins[0].Gaps = []string{reason}, []string{reason}
	doc.Table.Origin = "builtin+" + path
	for i := range doc.Results {
		r := &doc.Results[i]
		r.Plugin, r.Gaps = name, []string{reason}
		r.Runtime.Vendor, r.Runtime.Why = name, reason
		for j := range r.Capabilities {
			o := &r.Capabilities[j]
			o.Evidence = []capability.Evidence{{Kind: "call", Symbol: name, Function: name, File: path, Line: 3, Detail: reason}}
			o.Waived = &Waived{By: "waiver", Reason: reason, Until: "2027-01-01"}
			for k := range o.Settings {
				o.Settings[k].Value, o.Settings[k].Origin = reason, path
			}
		}
	}
	for i := range doc.Advice {
		doc.Advice[i].Plugin = name
	}
	doc.Fail(path, errors.New(reason))
	return doc
}

// FuzzCheckFormats: whatever a plugin is called, wherever it lies and whatever
// is said of it, every format stays well-formed, and no control character gets
// through to a terminal, a log or a reader.
func FuzzCheckFormats(f *testing.F) {
	for _, s := range []string{
		`a "quoted" 'name'`, "two\nlines\r\n::error::three", "</script><script>alert(1)</script>", "</title></style><img src=x onerror=alert(1)>",
		"100%0A::warning::x%25", "\u202egnp.exe\u2066\u200b", "\x1b[31mred\x1b[0m\x00\x07\x7f\u0085", "=cmd|' /C calc'!A0", "| a | b |\n|---|", "]]>&amp;<!--",
		"\xff\xfe broken", "javascript:alert(1)", "a,b:c=d;e", "[click](https://example.com) {0} @everyone", "../../etc/passwd", "C:\\a\\b", "", " ", "image:x",
		strings.Repeat("long ", 1<<10),
	} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, name, reason, path string) {
		doc := hostile(t, name, reason, path)
		benignOf := func(s string) string { return map[bool]string{false: "text"}[s == ""] }
		plain := hostile(t, benignOf(name), benignOf(reason), benignOf(path))
		for _, format := range Formats(doc) {
			var b, benign bytes.Buffer
			if err := Write(&b, doc, format, Style{}); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if err := wellFormed(format, b.Bytes()); err != nil {
				t.Fatalf("%s: %.500v\n%.500q", format, err, b.Bytes())
			}
			if format != HTML {
				continue
			}
			if err := Write(&benign, plain, format, Style{}); err != nil {
				t.Fatal(err)
			}
			if a, b := htmlShape(b.Bytes()), htmlShape(benign.Bytes()); a != b {
				t.Fatalf("foreign text changed the page: %s, want %s", a, b)
			}
		}
		var back Check
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil || back.Plugins[0].Name != strings.ToValidUTF8(name, "\uFFFD") && validOnce(name) {
			t.Fatalf("the name does not come back: %.100q, %v", back.Plugins[0].Name, err)
		}
	})
}

// validOnce tells whether encoding/json keeps a string as it is: every invalid
// byte becomes a replacement character of its own.
func validOnce(s string) bool { return s == strings.ToValidUTF8(s, "") }

// TestHugeText: a megabyte here and there neither breaks a format nor blows up
// those that people and their tools look at.
func TestHugeText(t *testing.T) {
	long := strings.Repeat("long ", 1<<18)
	doc := hostile(t, "name", "reason", "path")
	doc.Results = doc.Results[:1]
	doc.Plugins[0].Gaps, doc.Results[0].Gaps[0] = []string{}, long
	doc.Results[0].Capabilities[0].Evidence[0].Function = long
	doc.Plugins[0].Ref = long
	for _, format := range Formats(doc) {
		var b bytes.Buffer
		if err := Write(&b, doc, format, Style{}); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if err := wellFormed(format, b.Bytes()); err != nil {
			t.Errorf("%s: %.500v", format, err)
		}
		switch format {
		case Markdown, CSV, HTML, SARIF, JUnit, GitHub:
			if b.Len() > 300_000 {
				t.Errorf("%s has %d bytes", format, b.Len())
			}
		}
	}
}

// TestMarkdownFitsASummary: a summary that is too long is cut between parts,
// and says so.
func TestMarkdownFitsASummary(t *testing.T) {
	doc := checkCases[1].document(t)
	one := doc.Results[0]
	for len(doc.Results) < 3000 {
		doc.Results = append(doc.Results, one)
	}
	var b bytes.Buffer
	if err := doc.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if len(text) > 1<<20 || !strings.Contains(text, "left out: a job summary has room for 1 MiB") {
		t.Errorf("%d bytes", len(text))
	}
	if open, closed := strings.Count(text, "<details>"), strings.Count(text, "</details>"); open != closed || open == 0 {
		t.Errorf("%d of %d results are closed", closed, open)
	}
}
