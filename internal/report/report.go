// Package report turns answers into documents and documents into formats.
//
// Each command has one document type; every format of the command renders that
// same document, so that no format knows more or decides anything. Documents
// are also the JSON that programs read: fields are only ever added, arrays are
// never null, and the same input gives the same bytes.
package report

import (
	"encoding/json"
	"fmt"
	"io"

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
	NFD      Format = "nfd"
)

// Document is a report that can be written in some formats. Every document can
// be written as JSON and YAML; the interfaces below add others.
type Document interface {
	// Text writes the report for a person at a terminal.
	Text(w io.Writer, style Style) error
}

// markdowner is a document that can be written as GitHub-flavoured Markdown.
type markdowner interface{ Markdown(w io.Writer) error }

// csver is a document that can be written as RFC 4180 comma-separated values.
type csver interface{ CSV(w io.Writer) error }

// nfder is a document that can be written as a feature file for
// node-feature-discovery.
type nfder interface{ NFD(w io.Writer) error }

// Formats returns the formats a document can be written in.
func Formats(d Document) []Format {
	formats := []Format{Text, Wide, JSON, YAML}
	if _, ok := d.(markdowner); ok {
		formats = append(formats, Markdown)
	}
	if _, ok := d.(csver); ok {
		formats = append(formats, CSV)
	}
	if _, ok := d.(nfder); ok {
		formats = append(formats, NFD)
	}
	return formats
}

// Write writes a document in a format. The style only matters for text.
func Write(w io.Writer, d Document, f Format, style Style) error {
	switch f {
	case Text:
		return d.Text(w, style)
	case Wide:
		style.Wide = true
		return d.Text(w, style)
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(d)
	case YAML:
		text, err := yaml.Marshal(d)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	case Markdown:
		if m, ok := d.(markdowner); ok {
			return m.Markdown(w)
		}
	case CSV:
		if c, ok := d.(csver); ok {
			return c.CSV(w)
		}
	case NFD:
		if n, ok := d.(nfder); ok {
			return n.NFD(w)
		}
	}
	return fmt.Errorf("no format %q for this report", f)
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
