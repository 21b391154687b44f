package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Library is what a version of the NRI library does by itself.
type Library struct {
	Head
	Version string `json:"version"`
	// Releases are the runtime releases that carry this very version.
	Releases     []string       `json:"releases"`
	Counts       map[string]int `json:"counts"`
	Capabilities []State        `json:"capabilities"`
}

// NewLibrary describes a version of the NRI library.
func NewLibrary(head Head, t *inference.Table, v inference.NRIVersion) *Library {
	d := &Library{Head: head, Version: v.String(), Releases: []string{}, Counts: map[string]int{}, Capabilities: []State{}}
	for _, r := range t.Releases("") {
		if nri, err := inference.ParseNRIVersion(r.NRI); err == nil && nri == v {
			d.Releases = append(d.Releases, r.Runtime+" "+r.Version.String())
		}
	}
	library := inference.Library{Version: v}
	for _, id := range capability.OfFamily(capability.NRI) {
		state := NewState(id, library.Answer(id))
		d.Capabilities = append(d.Capabilities, state)
		d.Counts[state.State]++
	}
	return d
}

// Text writes what the library alone decides; the runtime decides the rest.
func (d *Library) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	p.linef("%s", style.bold("NRI library "+d.Version))
	p.linef("  carried by: %s", orNone(strings.Join(d.Releases, ", ")))
	p.linef("  the library alone decides: %d yes, %d no, %d harmful; the runtime decides %d",
		d.Counts["yes"], d.Counts["no"], d.Counts["harmful"], d.Counts["unknown"])
	var rows [][]string
	for _, c := range d.Capabilities {
		if style.Wide || c.State == "harmful" || c.State == "no" && slices.Contains([]string{"ADJUST", "SUBSCRIBE"}, kindOf(c.ID)) {
			rows = append(rows, []string{c.ID, c.State, c.Effect})
		}
	}
	if len(rows) > 0 {
		p.do(func(w io.Writer) error { return grid(w, style, []string{"CAPABILITY", "STATE", "EFFECT"}, rows) })
	}
	return p.err
}

func orNone(s string) string {
	if s == "" {
		return "no release in the table"
	}
	return s
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "_")
	return kind
}

// Markdown writes all capabilities as a table.
func (d *Library) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.linef("## NRI library %s\n", d.Version)
	p.linef("%s\n", mdText(fmt.Sprintf("Carried by: %s", orNone(strings.Join(d.Releases, ", ")))))
	var rows [][]string
	for _, c := range d.Capabilities {
		rows = append(rows, []string{c.ID, c.State, c.Effect, c.Note})
	}
	p.do(func(w io.Writer) error { return mdTable(w, []string{"Capability", "State", "Effect", "Note"}, rows) })
	return p.err
}
