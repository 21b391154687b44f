package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/nri"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type probeOptions struct {
	*app
	nodeOptions
	require       []string
	plugins       bool
	allowDisabled bool
	register      bool
}

func newProbe(a *app) *cobra.Command {
	o := &probeOptions{app: a}
	c := &cobra.Command{
		Use:     "probe",
		Aliases: []string{"node"},
		GroupID: groupCheck,
		Short:   "Tell which runtimes this node has, and what they do for plugins",
		Long: `Tell which container runtime this node has, what it does about NRI, and how that
is known: by what the runtime says, by its executable, by its configuration, by
the release table. Of the kubelet of the node it tells the same for device
plugins and DRA drivers. Run it as root.

The probe registers at the NRI socket, reads how the runtime introduces itself,
answers with an error that explains itself, and is gone: it subscribes to no
event, never becomes a plugin and holds up nobody. The runtime logs two lines
about it, which the report repeats. Nothing is written or changed.

The kubelet is asked for its version by running its executable with --version, as
it runs, without environment or input and for five seconds at most. That is the
only program that is run to look at a node, and only if it is a kubelet by itself
that root runs and nobody else can change: of one inside k3s or microk8s the build
information tells, or nothing does. Its feature gates are read from its files and
arguments. Its pod resources service is asked for a pod without a name and for the
devices that can be allocated, which only counts in the kubelet's metrics.

--kubelet-register-probe also registers a device plugin, with a version of the
API that does not exist. The kubelet refuses that and names what it serves, which
proves that it is alive and serves v1beta1, as every kubelet does, and no more.
It leaves behind two lines in the log of the kubelet, one of them at error level
from 1.33 on, and in its metrics a time series
kubelet_device_plugin_registration_total with an empty resource_name.

Exit status 4 if NRI is off (0 with --allow-disabled) or nothing is known of the
container runtime, with --require 3 or 4 as check. If the kubelet alone decides
about what is required, the container runtime does not count.`,
		Example: `  sudo nri-compat probe
  sudo nri-compat probe --plugins
  sudo nri-compat probe --require ADJUST_CDI_DEVICES -q
  sudo nri-compat probe --require DEVICE_CDI_DEVICES -q
  sudo nri-compat probe -o nfd=/etc/kubernetes/node-feature-discovery/features.d/nri-compat`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := c.Flags()
	o.nodeOptions.addFlags(c)
	f.StringSliceVar(&o.require, "require", nil, "`CAPABILITIES` that the runtimes of the node must have")
	f.BoolVar(&o.plugins, "plugins", false, "list the plugins too: connected, installed, device plugins")
	f.BoolVar(&o.allowDisabled, "allow-disabled", false, "exit with 0 although NRI is off")
	f.BoolVar(&o.register, "kubelet-register-probe", false, "ask the kubelet for a registration that it refuses; leaves two log lines and a metric")
	complete(c, "require", capabilityNames)
	return c
}

func addSocketFlag(c *cobra.Command, socket *string) {
	c.Flags().StringVar(socket, "socket", "", "`PATH` of the NRI socket (environment NRI_SOCKET, default /var/run/nri/nri.sock)")
}

func (o *nodeOptions) addFlags(c *cobra.Command) {
	addSocketFlag(c, &o.socket)
	c.Flags().StringVar(&o.config, "runtime-config", "", "`FILE` with the configuration of a runtime or the kubelet (default the one it runs with)")
}

func (o *probeOptions) run(cmd *cobra.Command) error {
	if err := o.acceptOutputs(&report.Probe{}); err != nil {
		return err
	}
	need, err := parseNames("--require", o.require, capability.Requires)
	if err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	ctx, cancel := o.deadline(cmd)
	defer cancel()
	facts, err := o.look(ctx, t, o.nodeOptions, nil)
	if err != nil {
		return err
	}
	refused := o.probeRegistration(ctx, facts)
	doc := facts.document(o.head("probe", t))
	if o.plugins {
		doc.Plugins = []report.NodePlugin{}
		plugins, _ := facts.plugins(ctx) // what could not be seen is among the problems
		for _, p := range plugins {
			doc.Plugins = append(doc.Plugins, p.document())
		}
		doc.Problems = append([]string{}, facts.problems...)
	}
	if err := errors.Join(o.write(doc), refused); err != nil {
		return err
	}
	if facts.none {
		o.warnf("no container runtime: %s", o.errorText(facts.failed))
	}
	return o.verdict(facts, need)
}

// probeRegistration does what --kubelet-register-probe asks for.
func (o *probeOptions) probeRegistration(ctx context.Context, facts *nodeFacts) error {
	if !o.register {
		return nil
	}
	if facts.kubelet == nil {
		return errors.New("--kubelet-register-probe: no kubelet was found on this node")
	}
	return facts.kubelet.probeRegistration(ctx)
}

// verdict turns what was found into an exit status. If only the kubelet decides
// about what is required, the container runtime does not count.
func (o *probeOptions) verdict(facts *nodeFacts, need []capability.Requirement) error {
	if len(need) > 0 {
		needs := capability.Needs{Requirements: need}
		g := newGate(failOnUnknown)
		g.add(capability.Check(needs, facts).Verdict, false)
		if err := g.err(); err != nil {
			return err
		}
		if slices.Equal(inference.RuntimesForNeeds(needs), []string{inference.Kubelet}) {
			return nil
		}
	}
	if facts.failed != nil && !facts.none {
		return facts.failed
	}
	if facts.off && !o.allowDisabled || facts.support.Match == inference.NoMatch {
		return statusError(exitInconclusive)
	}
	return nil
}

// document describes the runtime of the node. The capabilities of a runtime
// whose NRI is off are those it would have.
func (n *nodeFacts) document(head report.Head) *report.Probe {
	state, support := "on", n.support
	if n.failed != nil {
		state = "unknown"
	} else if n.off {
		state = "off"
		support = support.With(inference.NRIEnabled, inference.Value{Value: "true", Origin: "if it were on"})
	}
	doc := report.NewProbe(head, state, support)
	if set, ok := n.support.NRISwitch(); ok {
		doc.Runtime.NRISwitch = &set
	}
	doc.Problems = append(doc.Problems, n.problems...)
	if id := n.identity; id != nil {
		doc.Handshake = handshake(id)
	}
	if p := n.process; p != nil {
		doc.Process = &report.Process{PID: p.PID, Exe: p.Exe, Deleted: p.Deleted}
		if b := p.Binary; b != nil {
			doc.Process.Program, doc.Process.Module, doc.Process.Version = b.Program, b.Module.String(), b.Version()
			doc.Process.Fork, doc.Process.NRI = b.Fork, b.NRI.String()
		}
	}
	if c := n.config; c != nil {
		doc.Config = nodeConfig(c)
		n.explainSwitch(doc)
	}
	if n.kubelet != nil {
		doc.Kubelet = n.kubelet.document()
	}
	return doc
}

// nodeConfig lists what a configuration sets.
func nodeConfig(c *node.Config) *report.NodeConfig {
	out := &report.NodeConfig{Files: append([]string{}, c.Files...), Missing: c.Missing, Settings: []report.ConfigSetting{}, Notes: append([]string{}, c.Notes...)}
	for _, s := range c.Settings {
		if s.Set {
			out.Settings = append(out.Settings, report.ConfigSetting{
				Name: s.Name, Value: s.Value, Key: s.Key, File: s.File, Line: s.Line, Ambiguous: s.Ambiguous,
			})
		}
	}
	return out
}

// explainSwitch says which file and key turn on what is off.
func (n *nodeFacts) explainSwitch(doc *report.Probe) {
	if s, ok := n.config.Setting("nri.enabled"); ok && n.off {
		want := "true"
		if s.Inverted {
			want = "false"
		}
		doc.TurnOn = fmt.Sprintf("%s = %s in %s", s.Key, want, s.File)
		if s.Set && s.Value == "true" {
			doc.TurnOn = ""
		}
	}
	if s, ok := n.config.Setting("nri.external_connections"); ok && s.Set && s.Value == "false" {
		doc.Notes = append(doc.Notes, fmt.Sprintf("external plugins cannot connect: %s (%s)", s.Key, place(s.File, s.Line)))
	}
}

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func handshake(id *nri.Identity) *report.Handshake {
	h := &report.Handshake{
		Socket: id.Socket, Name: id.RuntimeName, Version: id.RuntimeVersion, NRI: id.NRIVersion, Log: []string{},
	}
	if id.RequestTimeout > 0 || id.RegistrationTimeout > 0 {
		h.RequestTimeout, h.RegistrationTimeout = id.RequestTimeout.String(), id.RegistrationTimeout.String()
	}
	if id.HasCapabilities {
		h.Advertised = []string{}
		for _, c := range capability.SetFromWords(id.Capabilities).IDs() {
			h.Advertised = append(h.Advertised, c.String())
		}
	}
	for _, l := range id.LogLines {
		h.Log = append(h.Log, l.Level+": "+l.Message)
	}
	return h
}

func (p nodePlugin) document() report.NodePlugin {
	d := report.NodePlugin{How: p.how, Name: p.name, Sockets: p.sockets}
	d.Container, d.Pod = p.where()
	switch {
	case p.connected != nil:
		d.PID, d.Path = p.connected.PID, p.connected.Exe
	case p.installed != nil:
		d.Index, d.Path = p.installed.Index, p.installed.Path
		d.Config, d.Problem = p.installed.Config, p.installed.Problem
	}
	return d
}
