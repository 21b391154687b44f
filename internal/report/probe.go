package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Probe is the document of the probe command: the runtimes of a node.
type Probe struct {
	Head
	// NRI is "on" if a runtime answered on an NRI socket, "off" if a runtime
	// runs without one, "unknown" if neither could be seen.
	NRI string `json:"nri" jsonschema:"enum=on,enum=off,enum=unknown"`
	// Runtime is what is known of the runtime by all evidence.
	Runtime RuntimeRange `json:"runtime"`
	// Handshake is what the runtime said itself; absent if it was not asked.
	Handshake *Handshake `json:"handshake,omitempty"`
	// Process is the runtime's process; absent if it could not be seen.
	Process *Process `json:"process,omitempty"`
	// Config is the runtime's configuration; absent if it could not be read.
	Config *NodeConfig `json:"config,omitempty"`
	// TurnOn names the key and the file that would turn NRI on; empty if it is
	// on, or if that is not known.
	TurnOn string `json:"turnOn,omitempty"`
	// Notes are further remarks on the configuration, a sentence each.
	Notes []string `json:"notes"`
	// Problems are what could not be found out, a sentence each.
	Problems     []string       `json:"problems"`
	Counts       map[string]int `json:"counts"`
	Capabilities []State        `json:"capabilities"`
	Bugs         []KnownBug     `json:"bugs"`
	// Kubelet is the kubelet of the node; absent if there is none.
	Kubelet *NodeKubelet `json:"kubelet,omitempty"`
	// Plugins are the plugins of the node; absent unless they were asked for.
	Plugins []NodePlugin `json:"plugins,omitempty"`
}

// Handshake is what a runtime says to a plugin that registers.
type Handshake struct {
	Socket string `json:"socket"`
	// Name and Version are as they were sent.
	Name    string `json:"name"`
	Version string `json:"version"`
	// NRI is the NRI version that was sent; empty if none was.
	NRI string `json:"nri,omitempty"`
	// RegistrationTimeout and RequestTimeout are durations such as "5s"; empty
	// if none were sent.
	RegistrationTimeout string `json:"registrationTimeout,omitempty"`
	RequestTimeout      string `json:"requestTimeout,omitempty"`
	// Advertised are the capabilities that were sent; absent if none were.
	Advertised []string `json:"advertised,omitempty"`
	// Log are the lines that the runtime has logged about the probe.
	Log []string `json:"log"`
}

// Process is a runtime's process and what its executable says.
type Process struct {
	PID     int    `json:"pid"`
	Exe     string `json:"exe"`
	Program string `json:"program,omitempty"`
	// Module is the module that provides the runtime, with its version.
	Module string `json:"module,omitempty"`
	// Version is the version of the build, as stamped or of its module.
	Version string `json:"version,omitempty"`
	Fork    bool   `json:"fork,omitempty"`
	NRI     string `json:"nri,omitempty"`
	// Deleted is set if the file was replaced since the process started.
	Deleted bool `json:"deleted,omitempty"`
}

// NodeConfig is the configuration of a runtime as far as it matters for NRI.
type NodeConfig struct {
	Files []string `json:"files"`
	// Missing is the file that was looked for and is not there.
	Missing  string          `json:"missing,omitempty"`
	Settings []ConfigSetting `json:"settings"`
	Notes    []string        `json:"notes"`
}

// ConfigSetting is one setting that the configuration names.
type ConfigSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Key   string `json:"key"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	// Ambiguous says why releases read it differently; usually empty.
	Ambiguous string `json:"ambiguous,omitempty"`
}

// NodePlugin is a plugin on the node.
type NodePlugin struct {
	// How is "connected" to NRI, "installed" for it, or "listening" for the kubelet.
	How  string `json:"how" jsonschema:"enum=connected,enum=installed,enum=listening"`
	Name string `json:"name"`
	// Index is the plugin index of an installed plugin.
	Index string `json:"index,omitempty"`
	PID   int    `json:"pid,omitempty"`
	Path  string `json:"path"`
	// Container and Pod tell where a connected plugin runs, as far as the node
	// says.
	Container string `json:"container,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Config    string `json:"config,omitempty"`
	// Sockets are the files on which a device plugin listens.
	Sockets []string `json:"sockets,omitempty"`
	// Problem says why the runtime does not start an installed plugin.
	Problem string `json:"problem,omitempty"`
}

// NewProbe describes the runtime of a node.
func NewProbe(head Head, nri string, s inference.Support) *Probe {
	group := inference.Group{Outcomes: []inference.Outcome{{Support: s}}}
	d := &Probe{
		Head: head, NRI: nri, Runtime: newRuntimeRange(group), Notes: []string{}, Problems: []string{},
		Counts: map[string]int{}, Capabilities: []State{}, Bugs: []KnownBug{},
	}
	for _, id := range capability.OfFamily(capability.NRI) {
		state := NewState(id, s.Answer(id))
		d.Capabilities = append(d.Capabilities, state)
		d.Counts[state.State]++
	}
	for _, b := range s.Bugs() {
		d.Bugs = append(d.Bugs, newKnownBug(b))
	}
	return d
}

// Text writes what the runtime is, how that is known, and what stands out, and
// the same of the kubelet.
func (d *Probe) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	if d.found() {
		d.runtimeText(p, style)
	} else {
		p.linef("%s", style.bold("no container runtime"))
		p.linef("  %s", plain(d.Runtime.Why))
	}
	if d.Kubelet != nil {
		p.linef("")
		d.Kubelet.text(p, style, d.tableName())
	}
	d.pluginsText(p, style)
	if d.Handshake != nil {
		for _, line := range d.Handshake.Log {
			p.linef("  the runtime has logged: %s", plain(line))
		}
	}
	return p.err
}

// found tells whether there is a container runtime at all. There need not be one
// beside a kubelet.
func (d *Probe) found() bool {
	return d.Kubelet == nil || d.NRI != "unknown" || d.Runtime.Name != "" || d.Process != nil
}

// runtimeText writes what is known of the container runtime.
func (d *Probe) runtimeText(p *printer, style Style) {
	p.linef("%s", style.bold(style.fit(d.Runtime.title()+d.sent()+"   "+d.Runtime.knowledge(d.tableName()))))
	if d.Runtime.Why != "" {
		p.linef("  %s", plain(d.Runtime.Why))
	}
	for _, c := range d.Runtime.Contradictions {
		p.linef("  contradiction: %s", plain(c))
	}
	d.nriText(p)
	processText(p, d.Process)
	configText(p, d.Config)
	for _, n := range d.Notes {
		p.linef("  %s", plain(n))
	}
	for _, problem := range d.Problems {
		p.linef("  unknown: %s", plain(problem))
	}
	capabilitiesText(p, style, d.Counts, d.Capabilities)
	bugsText(p, style, d.Bugs)
}

// sent tells the name the runtime uses, where it is not its own.
func (d *Probe) sent() string {
	if h := d.Handshake; h != nil && h.Name != d.Runtime.Name {
		return fmt.Sprintf(" (calls itself %q)", plain(h.Name))
	}
	return ""
}

func (d *Probe) nriText(p *printer) {
	if h := d.Handshake; h != nil {
		line := "NRI is on: socket " + plain(h.Socket)
		if h.RequestTimeout != "" {
			line += fmt.Sprintf(", request timeout %s, registration timeout %s", h.RequestTimeout, h.RegistrationTimeout)
		}
		p.linef("  %s", line)
		if h.Advertised != nil {
			p.linef("  advertises: %s", strings.Join(h.Advertised, ", "))
		}
		return
	}
	if d.NRI == "off" {
		p.linef("  NRI is off: the runtime has no NRI socket")
		switch s := d.Runtime.NRISwitch; {
		case d.TurnOn != "":
			p.linef("  to turn it on: %s", plain(d.TurnOn))
		case s != nil && d.Config == nil:
			p.linef("  to turn it on: %s", s.Key)
		}
	}
}

func processText(p *printer, process *Process) {
	if process == nil {
		return
	}
	line := fmt.Sprintf("process %d, %s", process.PID, plain(process.Exe))
	if process.PID == 0 {
		line = plain(process.Exe)
	}
	if process.Module != "" {
		line += ", built from " + plain(process.Module)
	}
	if process.Deleted {
		line += ", replaced on disk since it was started"
	}
	p.linef("  %s", line)
}

func configText(p *printer, c *NodeConfig) {
	if c == nil {
		return
	}
	switch {
	case c.Missing != "":
		p.linef("  configuration: none, %s is not there; the defaults hold", plain(c.Missing))
	default:
		p.linef("  configuration: %s", plain(strings.Join(c.Files, ", ")))
	}
	settingsText(p, c)
}

func settingsText(p *printer, c *NodeConfig) {
	for _, s := range c.Settings {
		place := s.File
		if s.Line > 0 {
			place = fmt.Sprintf("%s:%d", s.File, s.Line)
		}
		if place == "" {
			place = s.Key // a flag
		}
		p.linef("    %s is %s (%s)", plain(s.Name), plain(orNotSet(s.Value)), plain(place))
		if s.Ambiguous != "" {
			p.linef("      %s", plain(s.Ambiguous))
		}
	}
	for _, n := range c.Notes {
		p.linef("    %s", plain(n))
	}
}

func (d *Probe) pluginsText(p *printer, style Style) {
	if d.Plugins == nil {
		return
	}
	var rows [][]string
	for _, pl := range d.Plugins {
		where := pl.Path
		if pl.Pod != "" {
			where = pl.Pod + " " + where
		} else if pl.Container != "" {
			where = "container " + shortID(pl.Container) + " " + where
		}
		id := pl.Index
		if pl.PID != 0 {
			id = fmt.Sprint(pl.PID)
		}
		rows = append(rows, []string{pl.How, id, pl.Name, where, pl.Problem})
	}
	if len(rows) == 0 {
		p.linef("  no plugins")
		return
	}
	p.do(func(w io.Writer) error {
		return grid(w, style, []string{"PLUGIN", "PID/INDEX", "NAME", "WHERE", "PROBLEM"}, rows)
	})
}

func shortID(id string) string { return id[:min(len(id), 12)] }

// Markdown writes the facts and a table of all capabilities.
func (d *Probe) Markdown(w io.Writer) error {
	p := &printer{w: w}
	if !d.found() {
		p.linef("## no container runtime\n")
		p.linef("- %s", mdText(d.Runtime.Why))
	} else {
		p.linef("## %s\n", mdText(d.Runtime.title()+d.sent()))
		p.linef("- NRI is %s", d.NRI)
		p.linef("- %s", mdText(d.Runtime.knowledge(d.tableName())))
		for _, line := range append(append([]string{}, d.Runtime.Contradictions...), d.Problems...) {
			p.linef("- %s", mdText(line))
		}
		p.linef("")
		stateTable(p, d.Capabilities)
	}
	if d.Kubelet != nil {
		d.Kubelet.markdown(p, d.tableName())
	}
	return p.err
}

func stateTable(p *printer, all []State) {
	var rows [][]string
	for _, c := range all {
		rows = append(rows, []string{c.ID, c.State, c.Effect, strings.Join(conditions(c.Settings), ", ")})
	}
	p.do(func(w io.Writer) error { return mdTable(w, []string{"Capability", "State", "Effect", "Needs"}, rows) })
}
