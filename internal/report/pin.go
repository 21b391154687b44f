package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/inference"
)

// Pin is the document of pin --kubernetes, --check and --drop: what is or
// would be changed in a go.mod file.
type Pin struct {
	Head
	File string `json:"file"`
	// Kubernetes is the release pinned to, without "v"; empty if none was named
	// and the file requires none.
	Kubernetes string `json:"kubernetes"`
	// Needed tells whether the module needs pins: it requires or imports
	// k8s.io/kubernetes. It is null where that was not asked, for --drop.
	Needed *bool `json:"needed"`
	// Written tells whether the file was written.
	Written bool `json:"written"`
	// Complete is false if the staging modules of the release could not be read,
	// so that only what stands in the file itself was compared.
	Complete bool        `json:"complete"`
	Changes  []PinChange `json:"changes"`
	// Kept are staging modules that are replaced by something else than
	// themselves and were left alone.
	Kept  []string `json:"kept"`
	Notes []string `json:"notes"`
	// Workspace is the go.work file that is in effect for the module; absent if
	// there is none, or if it was not looked for.
	Workspace *PinWorkspace `json:"workspace,omitempty"`
	// Diff is the change as a unified diff, if it was asked for.
	Diff string `json:"diff,omitempty"`
	// Summary is the answer in one line.
	Summary string `json:"summary"`
}

// PinChange is one directive of a go.mod file.
type PinChange struct {
	Directive string `json:"directive" jsonschema:"enum=require,enum=replace"`
	Module    string `json:"module"`
	// From and To are versions with "v"; From is empty for a directive that is
	// added, To for one that is dropped.
	From string `json:"from"`
	To   string `json:"to"`
}

// PinWorkspace is a go.work file, and what in its workspace contradicts the pins.
type PinWorkspace struct {
	File string `json:"file"`
	// Uses tells whether the module is one of the workspace.
	Uses           bool               `json:"uses"`
	Contradictions []PinContradiction `json:"contradictions"`
}

// PinContradiction is a directive of a go.work, or of the go.mod of another
// module of the workspace, because of which something else is built than what
// the go.mod file names.
type PinContradiction struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Directive string `json:"directive" jsonschema:"enum=require,enum=replace"`
	Module    string `json:"module"`
	// Found is the version or the path in the directive, Want the version that
	// the go.mod file names.
	Found string `json:"found"`
	Want  string `json:"want"`
}

func (c PinContradiction) line(file string) string {
	verb := "replaces " + c.Module + " by " + c.Found
	if c.Directive == "require" {
		verb = "requires the newer " + c.Module + " " + c.Found
	}
	return fmt.Sprintf("%s:%d %s, %s has %s", c.File, c.Line, verb, file, c.Want)
}

// Text writes the changes, or the diff if there is one, and the summary.
func (d *Pin) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	if d.Diff != "" {
		for line := range strings.Lines(d.Diff) {
			columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // go.mod is indented by tabs
			for i := range columns {
				columns[i] = plain(columns[i])
			}
			p.linef("%s", strings.Join(columns, "\t"))
		}
		p.linef("")
	} else if len(d.Changes) > 0 {
		var rows [][]string
		for _, c := range d.Changes {
			rows = append(rows, []string{c.Directive, c.Module, orDash(c.From), orDash(c.To)})
		}
		p.do(func(w io.Writer) error { return grid(w, style, []string{"DIRECTIVE", "MODULE", "FROM", "TO"}, rows) })
	}
	for _, k := range d.Kept {
		p.linef("kept: %s is replaced by something else than itself", plain(k))
	}
	for _, n := range d.Notes {
		p.linef("note: %s", plain(n))
	}
	if d.Workspace != nil {
		for _, c := range d.Workspace.Contradictions {
			p.linef("warning: %s", plain(c.line(d.File)))
		}
	}
	p.linef("%s", plain(d.Summary))
	return p.err
}

// PinNRI is the document of pin --nri-for: with which version of the NRI
// library to build a plugin.
type PinNRI struct {
	Head
	// Runtimes are the runtimes asked for, as they were named.
	Runtimes []string `json:"runtimes"`
	// NRI is the newest version of the NRI library whose API every one of them
	// has, with "v"; empty if none of them is known.
	NRI string `json:"nri"`
	// Oldest is the first of the runtimes that carries that version.
	Oldest string `json:"oldest"`
	// Current is the version in the go.mod file; empty if it has none.
	Current string `json:"current"`
	// GivenUp are the capabilities that a plugin built with that version cannot
	// use although some of the runtimes have them.
	GivenUp []GivenUp `json:"givenUp"`
	// Unknown are the runtimes that could not be taken into account.
	Unknown []UnknownRuntime `json:"unknown"`
	Notes   []string         `json:"notes"`
	// Releases is the number of runtimes that were taken into account.
	Releases int `json:"releases"`
}

// GivenUp is a capability that a version of the NRI library has no API for.
type GivenUp struct {
	ID string `json:"id"`
	// Since is the first NRI version with an API for it.
	Since string `json:"since"`
	// First is the first of the runtimes on which it works, On counts them.
	First string `json:"first"`
	On    int    `json:"on"`
}

// UnknownRuntime is a runtime of which nothing is known, and why.
type UnknownRuntime struct {
	Runtime string `json:"runtime"`
	Why     string `json:"why"`
}

// NewPinNRI returns the advice for runtimes that were asked for by exprs.
func NewPinNRI(head Head, exprs []string, current string, supports []inference.Support) *PinNRI {
	a := inference.AdviseBuild(supports)
	d := &PinNRI{
		Head: head, Runtimes: exprs, NRI: a.NRI, Current: current,
		GivenUp: []GivenUp{}, Unknown: []UnknownRuntime{}, Notes: []string{},
		Releases: len(supports) - len(a.Unknown),
	}
	for _, s := range a.Unknown {
		d.Unknown = append(d.Unknown, UnknownRuntime{s.Runtime.String(), s.Why})
	}
	if a.NRI == "" {
		return d
	}
	d.Oldest = a.Oldest.String()
	for _, g := range a.Given {
		d.GivenUp = append(d.GivenUp, GivenUp{g.Capability.String(), g.Since, g.First.String(), g.On})
	}
	advised, err := inference.ParseNRIVersion(a.NRI)
	if err == nil && advised.Pseudo() {
		d.Notes = append(d.Notes, "it is a commit of the library that has no tag of its own")
	}
	have, haveErr := inference.ParseNRIVersion(current)
	switch {
	case err != nil || haveErr != nil:
	case have.Compare(advised) > 0:
		d.Notes = append(d.Notes, fmt.Sprintf("go.mod has the newer %s: that works too, but the compiler does not keep the plugin from using what the oldest of these runtimes lacks; nri-compat check does", current))
	case have.Compare(advised) < 0:
		d.Notes = append(d.Notes, fmt.Sprintf("go.mod has the older %s, which works with all of them", current))
	default:
		d.Notes = append(d.Notes, "go.mod has that version")
	}
	return d
}

// Text writes the advice, then what it costs.
func (d *PinNRI) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	if d.NRI != "" {
		p.linef("build with github.com/containerd/nri %s, the version of %s (%s)", plain(d.NRI), plain(d.Oldest), d.tableName())
		if len(d.GivenUp) > 0 {
			p.linef("")
			p.linef("given up with it, although some of the %d releases have it:", d.Releases)
			var rows [][]string
			for _, g := range d.GivenUp {
				rows = append(rows, []string{g.ID, g.Since, g.First, fmt.Sprintf("%d of %d", g.On, d.Releases)})
			}
			p.do(func(w io.Writer) error {
				return grid(w, style, []string{"CAPABILITY", "API SINCE", "FIRST WORKS ON", "RELEASES"}, rows)
			})
			p.linef("")
		}
	}
	for _, u := range d.Unknown {
		p.linef("not taken into account: %s: %s", plain(u.Runtime), plain(u.Why))
	}
	for _, n := range d.Notes {
		p.linef("note: %s", plain(n))
	}
	switch {
	case d.NRI == "":
		p.linef("no advice: nothing is known of these runtimes")
	case len(d.GivenUp) == 0:
		p.linef("advice: %s, nothing is given up", plain(d.NRI))
	default:
		p.linef("advice: %s, %d capabilities given up; nothing was changed", plain(d.NRI), len(d.GivenUp))
	}
	return p.err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
