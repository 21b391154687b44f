package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

//go:embed page
var pageFiles embed.FS

// page is what every page shows: a heading, filters, a legend, a body. It is
// one file that loads nothing, and its policy forbids it to.
type page struct {
	Title, Heading, Lead string
	Notices              []string
	Tool, Table          string
	Policy               string
	Style                template.CSS
	Script               template.JS
	// Kinds and Runtimes are what can be filtered by; ChangedLabel names the
	// filter for rows that say something.
	Kinds, Runtimes []string
	ChangedLabel    string
	Legend          []legendItem
	Body            any
}

type legendItem struct{ Class, Glyph, Word, Meaning string }

// pageFact is one line of a description.
type pageFact struct {
	Name, Text string
	Code       bool
}

// pageCell is one cell of a grid: its look, where it leads to, what it says. The
// label says more than fits; it is empty if there is no more.
type pageCell struct {
	Class, Target, Label string
	Lines                []pageLine
	// Span is the number of columns of a cell with more than one.
	Span int
}

// pageLine is one line of a cell, with a sign in front if it names a state.
type pageLine struct{ State, Text string }

// Single tells whether one line is all there is, whose sign follows from the
// class of the cell.
func (c pageCell) Single() bool { return len(c.Lines) == 1 }

var templates = sync.OnceValues(func() (map[string]*template.Template, error) {
	all := map[string]*template.Template{}
	for _, name := range []string{"matrix", "check"} {
		t, err := template.ParseFS(pageFiles, "page/page.gohtml", "page/"+name+".gohtml")
		if err != nil {
			return nil, err
		}
		all[name] = t
	}
	return all, nil
})

// columnStyle is the style that gives grids of n columns their width: a fixed
// layout is what makes filtering fast.
func columnStyle(n int) string {
	return fmt.Sprintf(".columns-%d { --columns: %d; }\n", n, n)
}

// write fills in what all pages have in common and writes the page.
func (p page) write(w io.Writer, name string, head Head, extraStyle string) error {
	all, err := templates()
	if err != nil {
		return err
	}
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	style = append(style, extraStyle...)
	p.Style, p.Script = template.CSS(style), template.JS(script)
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src '" + digestOf(style) + "'; script-src '" + digestOf(script) + "'"
	p.Tool, p.Table = plain(head.Tool.Version), clip(head.tableName(), maxText)
	var b bytes.Buffer
	if err := all[name].ExecuteTemplate(&b, "page", p); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// glyph is a sign for a state or a status, for a glance and for those who see
// no colours. The word always stands next to it.
func glyph(class string) string {
	switch class {
	case "yes":
		return "✓"
	case "partial":
		return "◔"
	case "conditional":
		return "◐"
	case "no":
		return "–"
	case "missing":
		return "✕"
	case "harmful":
		return "‼"
	case "waived":
		return "○"
	}
	return "?"
}

func stateLegend() []legendItem {
	items := []legendItem{
		{Class: "yes", Word: "yes", Meaning: "works"},
		{Class: "partial", Word: "partial", Meaning: "works with a limit"},
		{Class: "conditional", Word: "conditional", Meaning: "if a setting is as named"},
		{Class: "no", Word: "dropped", Meaning: "does not work; what happens instead"},
		{Class: "harmful", Word: "crashes", Meaning: "ends or blocks the runtime"},
		{Class: "unknown", Word: "unknown", Meaning: "nobody knows"},
	}
	for i := range items {
		items[i].Glyph = glyph(items[i].Class)
	}
	return items
}

// splitName parts the name of a capability into its kind and its words, each
// with the underscore behind it.
func splitName(id string) (prefix string, rest []string) {
	parts := strings.SplitAfter(id, "_")
	return parts[0], parts[1:]
}

// words is what the filter looks through.
func words(id, title string) string {
	return strings.ToLower(strings.ReplaceAll(id, "_", " ") + " " + title)
}

// kindMeaning says what the capabilities of a kind are.
func kindMeaning(k capability.Kind) string {
	switch k {
	case capability.Adjust:
		return "changes to a container at its creation"
	case capability.Update:
		return "changes to a container later on"
	case capability.Input:
		return "data that the plugin is given"
	case capability.Event:
		return "calls that really arrive"
	case capability.Subscribe:
		return "events with which a registration is accepted"
	case capability.Proto:
		return "behaviour of the protocol"
	case capability.Extra:
		return "more data about a container"
	}
	return ""
}
