// Package report turns answers into documents and documents into formats.
//
// Each command has one document type; every format of the command renders that
// same document, so that no format knows more or decides anything. Documents
// are also the JSON that programs read: fields are only ever added, arrays are
// never null, and the same input gives the same bytes.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/nri-compat/nri-compat/inference"
	"sigs.k8s.io/yaml"
)

// Format is a form in which a document can be written.
type Format string

// The formats. Not every document has every one of them; see [Formats].
const (
	Text     Format = "text"
	Wide     Format = "wide"
	JSON     Format = "json"
	YAML     Format = "yaml"
	Markdown Format = "markdown"
	CSV      Format = "csv"
	HTML     Format = "html"
	SARIF    Format = "sarif"
	JUnit    Format = "junit"
	GitHub   Format = "github"
	NFD      Format = "nfd"
)

// AllFormats returns every format there is, in the order of the help.
func AllFormats() []Format {
	return []Format{Text, Wide, JSON, YAML, Markdown, CSV, HTML, SARIF, JUnit, GitHub, NFD}
}

// Document is a report that can be written in some formats. Every document can
// be written as JSON and YAML; the interfaces below add others.
type Document interface {
	// Text writes the report for a person at a terminal.
	Text(w io.Writer, style Style) error
}

// The interfaces of documents that have more formats than every document has.
type (
	// markdowner can be written as GitHub-flavoured Markdown.
	markdowner interface{ Markdown(w io.Writer) error }
	// csver can be written as RFC 4180 comma-separated values.
	csver interface{ CSV(w io.Writer) error }
	// htmler can be written as one self-contained page.
	htmler interface{ HTML(w io.Writer) error }
	// sarifer can be written as SARIF 2.1.0.
	sarifer interface{ SARIF(w io.Writer) error }
	// juniter can be written as JUnit XML.
	juniter interface{ JUnit(w io.Writer) error }
	// githuber can be written as workflow commands of GitHub Actions.
	githuber interface{ GitHub(w io.Writer) error }
	// nfder can be written as a feature file for node-feature-discovery.
	nfder interface{ NFD(w io.Writer) error }
)

// Formats returns the formats a document can be written in.
func Formats(d Document) []Format {
	var formats []Format
	for _, f := range AllFormats() {
		if writer(d, f, Style{}) != nil {
			formats = append(formats, f)
		}
	}
	return formats
}

// Write writes a document in a format. The style only matters for text.
func Write(w io.Writer, d Document, f Format, style Style) error {
	write := writer(d, f, style)
	if write == nil {
		return fmt.Errorf("no format %q for this report", f)
	}
	return write(w)
}

// writer returns what writes a document in a format, nil if nothing does.
func writer(d Document, f Format, style Style) func(io.Writer) error {
	switch f {
	case Text:
		return func(w io.Writer) error { return d.Text(w, style) }
	case Wide:
		style.Wide = true
		return func(w io.Writer) error { return d.Text(w, style) }
	case JSON:
		return func(w io.Writer) error { return encodeJSON(w, d) }
	case YAML:
		return func(w io.Writer) error { return writeYAML(w, d) }
	case Markdown:
		if m, ok := d.(markdowner); ok {
			return m.Markdown
		}
	case CSV:
		if c, ok := d.(csver); ok {
			return c.CSV
		}
	case HTML:
		if h, ok := d.(htmler); ok {
			return h.HTML
		}
	case SARIF:
		if s, ok := d.(sarifer); ok {
			return s.SARIF
		}
	case JUnit:
		if j, ok := d.(juniter); ok {
			return j.JUnit
		}
	case GitHub:
		if g, ok := d.(githuber); ok {
			return g.GitHub
		}
	case NFD:
		if n, ok := d.(nfder); ok {
			return n.NFD
		}
	}
	return nil
}

// encodeJSON writes indented JSON in which a terminal finds nothing to act
// upon: what [plain] makes visible is escaped.
func encodeJSON(w io.Writer, d any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes what encoding/json leaves as it is in strings: control
// characters above the first 32, and those that turn the direction of writing.
func escapeJSON(text []byte) []byte {
	unsafe := func(r rune) bool { return r != '\n' && unsafeRune(r) }
	if bytes.IndexFunc(text, unsafe) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !unsafe(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

func writeYAML(w io.Writer, d Document) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	// YAML refuses some of what JSON may have as it is.
	if text, err = yaml.JSONToYAML(escapeJSON(text)); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// Head is what every document begins with.
type Head struct {
	// Schema names the form of the document, such as "nri-compat.dev/check/v1".
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	Table  Table  `json:"table"`
}

// Tool is the program that wrote the document.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Table is the release table the answers rest on.
type Table struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	Origin  string `json:"origin"`
}

// NewHead returns the head of a document about kind, such as "check".
func NewHead(kind, toolVersion string, t *inference.Table) Head {
	return Head{
		Schema: "nri-compat.dev/" + kind + "/v1",
		Tool:   Tool{Name: "nri-compat", Version: toolVersion},
		Table:  Table{Version: t.Version(), SHA256: t.SHA256(), Origin: t.Origin()},
	}
}

// tableName names the table in text.
func (h Head) tableName() string {
	if h.Table.Origin == "builtin" {
		return "table " + h.Table.Version
	}
	return "table " + h.Table.Version + ", " + plain(h.Table.Origin)
}

// emptyNotNull returns an empty list for a nil one: arrays of a document are
// never null.
func emptyNotNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) linef(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) do(f func(io.Writer) error) {
	if p.err == nil {
		p.err = f(p.w)
	}
}
