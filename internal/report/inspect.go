package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Inspect is the document of the inspect command: what plugins need.
type Inspect struct {
	Head
	Plugins []InspectPlugin `json:"plugins"`
	// Errors are the references that could not be read.
	Errors []ReferenceError `json:"errors"`
	// Log is what the log of the plugin tells of why it failed; absent unless one
	// was read.
	Log *Log `json:"log,omitempty"`
}

// ReferenceError says why a reference could not be read.
type ReferenceError struct {
	Ref   string `json:"ref"`
	Error string `json:"error"`
}

// InspectPlugin is what was found out about one plugin.
type InspectPlugin struct {
	Name string `json:"name"`
	Ref  string `json:"ref"`
	// Path is the file that was read; for an image the path inside of it.
	Path string `json:"path,omitempty"`
	// Reader names what was read.
	Reader   string         `json:"reader" jsonschema:"enum=binary,enum=source,enum=manifest"`
	Identity PluginIdentity `json:"identity"`
	NRI      PluginNRI      `json:"nri"`
	// Kubelet is what it carries of the kubelet's APIs; absent for an NRI plugin.
	Kubelet      *PluginKubelet `json:"kubelet,omitempty"`
	Requirements []Requirement  `json:"requirements"`
	Gaps         []string       `json:"gaps"`
	Warnings     []string       `json:"warnings"`
	// Opaque says where whole objects are handled, so that single fields cannot
	// be told apart.
	Opaque []string `json:"opaque"`
	// Supports are the runtimes its author declares to support.
	Supports []string `json:"supports"`
	// Manifest is the manifest that had its say; empty if there was none.
	Manifest string `json:"manifest,omitempty"`
	// Differences are where manifest and detection disagree, a sentence each.
	Differences []string `json:"differences"`
	Fits        []Fit    `json:"fits"`
	// Nowhere are the required capabilities that no known release has.
	Nowhere []string `json:"nowhere"`
}

// PluginIdentity tells what program a plugin is.
type PluginIdentity struct {
	Module   string `json:"module,omitempty"`
	Version  string `json:"version,omitempty"`
	Package  string `json:"package,omitempty"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go,omitempty"`
	OS       string `json:"os,omitempty"`
	Arch     string `json:"arch,omitempty"`
	CGO      bool   `json:"cgo,omitempty"`
	Stripped bool   `json:"stripped,omitempty"`
	PIE      bool   `json:"pie,omitempty"`
}

// PluginNRI tells which NRI a plugin carries.
type PluginNRI struct {
	Module        string `json:"module,omitempty"`
	Version       string `json:"version,omitempty"`
	Replaces      string `json:"replaces,omitempty"`
	Package       string `json:"package,omitempty"`
	ProtocolFrom  string `json:"protocolFrom,omitempty"`
	ProtocolTo    string `json:"protocolTo,omitempty"`
	Contradiction string `json:"contradiction,omitempty"`
}

// PluginKubelet tells which APIs of the kubelet a plugin carries.
type PluginKubelet struct {
	Module   string `json:"module,omitempty"`
	Version  string `json:"version,omitempty"`
	Replaces string `json:"replaces,omitempty"`
	// APIs are those that are linked, such as "deviceplugin/v1beta1".
	APIs []string `json:"apis"`
}

// NewInspect returns an empty inspect document.
func NewInspect(head Head) *Inspect {
	return &Inspect{Head: head, Plugins: []InspectPlugin{}, Errors: []ReferenceError{}}
}

// Add puts a plugin into the document, with where it would work.
func (d *Inspect) Add(p InspectPlugin, requirements []capability.Requirement, advice inference.Advice) {
	p.Requirements = []Requirement{}
	for _, r := range requirements {
		p.Requirements = append(p.Requirements, NewRequirement(r))
	}
	p.Gaps, p.Warnings, p.Opaque = emptyNotNull(p.Gaps), emptyNotNull(p.Warnings), emptyNotNull(p.Opaque)
	p.Supports, p.Differences = emptyNotNull(p.Supports), emptyNotNull(p.Differences)
	a := newAdvice(p.Name, advice, nil)
	p.Fits, p.Nowhere = a.Fits, a.Nowhere
	d.Plugins = append(d.Plugins, p)
}

// Text writes one block a plugin.
func (d *Inspect) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	for i, plugin := range d.Plugins {
		if i > 0 {
			p.linef("")
		}
		plugin.text(p, style)
	}
	if d.Log != nil {
		if len(d.Plugins) > 0 {
			p.linef("")
		}
		d.Log.text(p, style)
	}
	return p.err
}

func (i InspectPlugin) text(p *printer, style Style) {
	p.linef("%s", style.bold(plain(i.Name)))
	for _, f := range i.facts() {
		p.linef("  %-9s %s", f[0], plain(f[1]))
	}
	p.linef("")
	var rows [][]string
	for _, r := range i.Requirements {
		rows = append(rows, []string{r.ID, r.level(), r.Source, r.first()})
	}
	if len(rows) > 0 {
		p.do(func(w io.Writer) error {
			return grid(w, style, []string{"CAPABILITY", "LEVEL", "SOURCE", "EVIDENCE"}, rows)
		})
	} else {
		p.linef("no capability that it depends on was found")
	}
	if style.Wide {
		i.evidence(p)
	}
	for _, list := range []struct {
		name  string
		lines []string
	}{{"could not be read", i.Gaps}, {"warning", i.Warnings}, {"opaque", i.Opaque}, {"manifest", i.Differences}} {
		for _, line := range list.lines {
			p.linef("%s: %s", list.name, plain(line))
		}
	}
	p.linef("")
	p.linef("%s", i.summary())
	if len(i.Gaps) == 0 {
		Advice{Plugin: i.Name, Fits: i.Fits, Nowhere: i.Nowhere, Runtimes: i.runtimes()}.text(p)
	}
}

// runtimes are those that decide about what the plugin requires.
func (i InspectPlugin) runtimes() []string {
	var ids []capability.ID
	for _, r := range i.Requirements {
		if id, err := capability.Parse(r.ID); err == nil {
			ids = append(ids, id)
		}
	}
	return inference.RuntimesFor(ids...)
}

// facts are the lines on who the plugin is.
func (i InspectPlugin) facts() [][2]string {
	var out [][2]string
	add := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) > 0 {
			out = append(out, [2]string{name, strings.Join(parts, " ")})
		}
	}
	id, n := i.Identity, i.NRI
	add("read from", i.Reader, i.Ref, differing(i.Path, i.Ref))
	add("module", id.Module, id.Version)
	revision := id.Revision
	if id.Modified {
		revision += " (modified)"
	}
	add("revision", revision)
	protocol := ""
	if n.ProtocolFrom != "" {
		protocol = "(protocol of " + n.ProtocolFrom + ")"
		if n.ProtocolTo != n.ProtocolFrom {
			protocol = "(protocol of " + n.ProtocolFrom + " to " + n.ProtocolTo + ")"
		}
	}
	replaces := ""
	if n.Replaces != "" {
		replaces = "in place of " + n.Replaces
	}
	add("NRI", n.Module, n.Version, replaces, protocol)
	add("", n.Contradiction)
	if k := i.Kubelet; k != nil {
		instead := ""
		if k.Replaces != "" {
			instead = "in place of " + k.Replaces
		}
		add("kubelet", k.Module, k.Version, instead, "("+strings.Join(k.APIs, ", ")+")")
	}
	platform := strings.Trim(id.OS+"/"+id.Arch, "/")
	var build []string
	for _, b := range []struct {
		is   bool
		name string
	}{{id.CGO, "cgo"}, {id.Stripped, "stripped"}, {id.PIE, "PIE"}} {
		if b.is {
			build = append(build, b.name)
		}
	}
	add("Go", id.Go, platform, strings.Join(build, ", "))
	add("manifest", i.Manifest)
	add("supports", strings.Join(i.Supports, ", "))
	return out
}

func differing(path, ref string) string {
	if path == ref {
		return ""
	}
	return path
}

func (i InspectPlugin) evidence(p *printer) {
	for _, r := range i.Requirements {
		for _, e := range r.Evidence {
			p.linef("  %s: %s", r.ID, evidenceLine(e))
		}
		if r.Note != "" {
			p.linef("  %s: %s", r.ID, plain(r.Note))
		}
	}
}

func (i InspectPlugin) summary() string {
	var requires, wants, unproven int
	var groups []string // of alternatives of which one is required
	for _, r := range i.Requirements {
		switch {
		case r.Level == capability.Wants.String():
			wants++
		case r.OneOf != "" && slices.Contains(groups, r.OneOf):
		case r.OneOf != "":
			groups = append(groups, r.OneOf)
		case r.Unproven:
			unproven++
			requires++
		default:
			requires++
		}
	}
	s := fmt.Sprintf("%s can use %s", plain(i.Name), count(len(i.Requirements), "capability", "capabilities"))
	s += fmt.Sprintf(": %d required", requires)
	if unproven > 0 {
		s += fmt.Sprintf(" (%d of them unproven)", unproven)
	}
	for _, g := range groups {
		s += fmt.Sprintf(", 1 of %d alternatives", 1+strings.Count(g, "/"))
	}
	if wants > 0 {
		s += fmt.Sprintf(", %d wanted", wants)
	}
	if len(i.Gaps) > 0 {
		s += "; more may be needed, not everything could be read"
	}
	return s
}

// Markdown writes one section a plugin.
func (d *Inspect) Markdown(w io.Writer) error {
	p := &printer{w: w}
	for _, i := range d.Plugins {
		p.linef("## %s\n", mdText(i.Name))
		for _, f := range i.facts() {
			p.linef("- %s %s", f[0], mdText(f[1]))
		}
		p.linef("\n%s\n", mdText(i.summary()))
		var rows [][]string
		for _, r := range i.Requirements {
			rows = append(rows, []string{r.ID, r.level(), r.Source, r.first()})
		}
		p.do(func(w io.Writer) error {
			return mdTable(w, []string{"Capability", "Level", "Source", "Evidence"}, rows)
		})
		for _, list := range [][]string{i.Gaps, i.Warnings, i.Opaque, i.Differences} {
			for _, line := range list {
				p.linef("\n- %s", mdText(line))
			}
		}
		p.linef("")
	}
	for _, e := range d.Errors {
		p.linef("- %s: %s", mdText(e.Ref), mdText(e.Error))
	}
	if d.Log != nil {
		p.do(d.Log.markdown)
	}
	return p.err
}
