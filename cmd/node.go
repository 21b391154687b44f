package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/nri"
)

// nodeOptions are the flags of commands that look at this node.
type nodeOptions struct {
	socket string
	config string
}

// nodeFacts is what was found out about the runtime of this node.
type nodeFacts struct {
	host     node.Host
	identity *nri.Identity // nil if no runtime answered
	off      bool          // a runtime runs, without an NRI socket
	process  *node.Process
	config   *node.Config
	support  inference.Support
	problems []string
}

// look finds the runtime of this node: by its NRI socket, or else by its
// process. The error says that neither could be found.
func (a *app) look(ctx context.Context, t *inference.Table, o nodeOptions, assumed inference.Values) (*nodeFacts, error) {
	n := &nodeFacts{}
	socket := o.socket
	if socket == "" {
		socket = a.getenv("NRI_SOCKET")
	}
	start := time.Now()
	id, err := nri.Probe(ctx, nri.Options{Socket: socket, Timeout: min(a.timeout, nri.MaxTimeout)})
	var failed *nri.Error
	switch {
	case err == nil:
		n.identity = &id
		a.log.Info("the NRI socket answered", "socket", id.Socket, "runtime", id.RuntimeName, "version", id.RuntimeVersion, "nri", id.NRIVersion, took(start))
		if id.Peer != nil && id.Peer.PID > 0 {
			n.addProcess(n.host.Process(id.Peer.PID))
		} else {
			n.problems = append(n.problems, "the runtime's process cannot be seen from here")
		}
	case errors.As(err, &failed) && (failed.Reason == nri.NoSocket || failed.Reason == nri.Refused):
		a.log.Info("nobody answers at the NRI socket", "socket", failed.Socket, "reason", string(failed.Reason), took(start))
		if n.findRuntime(); n.process == nil {
			return nil, fmt.Errorf("%w; no containerd or CRI-O process was found either%s", err, n.because())
		}
		n.off = true
	default:
		return nil, err
	}
	n.readConfig(o.config)
	if p := n.process; p != nil {
		a.log.Info("found the runtime's process", "pid", p.PID, "exe", p.Exe)
	}
	if c := n.config; c != nil {
		a.log.Info("read the runtime's configuration", "files", strings.Join(c.Files, ","), "settings", len(c.Settings))
	}
	n.support = t.Observe(n.observation(), n.values(t, assumed))
	return n, nil
}

func (n *nodeFacts) because() string {
	if len(n.problems) == 0 {
		return ""
	}
	return ": " + strings.Join(n.problems, "; ")
}

func (n *nodeFacts) addProcess(p node.Process, err error) {
	if err != nil {
		n.problems = append(n.problems, "the runtime's process: "+err.Error())
		return
	}
	n.process = &p
	if p.Err != nil {
		n.problems = append(n.problems, "the runtime's executable: "+p.Err.Error())
	}
}

// findRuntime looks for a runtime among the processes.
func (n *nodeFacts) findRuntime() {
	found, err := n.host.FindRuntimes()
	if err != nil {
		n.problems = append(n.problems, err.Error())
	}
	if len(found) > 1 {
		n.problems = append(n.problems, fmt.Sprintf("%d runtimes run on this node, this is the one with process id %d", len(found), found[0].PID))
	}
	if len(found) > 0 {
		n.addProcess(found[0], nil)
	}
}

// readConfig reads the configuration that was named, or the one that the
// process runs with.
func (n *nodeFacts) readConfig(path string) {
	var c node.Config
	var err error
	switch {
	case path != "":
		c, err = node.ReadConfig(path, n.configOptions())
	case n.process != nil:
		c, err = n.host.ConfigOf(*n.process, n.configOptions())
	default:
		n.problems = append(n.problems, "the runtime's configuration: its process could not be seen (--runtime-config names the file)")
		return
	}
	if err != nil {
		n.problems = append(n.problems, "the runtime's configuration: "+err.Error())
		return
	}
	n.config = &c
}

// configOptions say which release reads the configuration.
func (n *nodeFacts) configOptions() node.ConfigOptions {
	o := node.ConfigOptions{}
	if n.process != nil {
		o.Runtime = n.process.Runtime()
	}
	if r, err := n.runtime(); err == nil {
		o.Runtime, o.Major = r.Name, int(r.Version.Major)
	}
	return o
}

// runtime is the release by what the runtime or its executable says.
func (n *nodeFacts) runtime() (inference.Runtime, error) {
	o := n.observation()
	r, err := inference.NewRuntime(o.Name, o.Version)
	if err != nil && o.Binary != nil {
		return inference.NewRuntime(o.Binary.Name, o.Binary.Version)
	}
	return r, err
}

func (n *nodeFacts) observation() inference.Observation {
	var o inference.Observation
	if id := n.identity; id != nil {
		o.Name, o.Version, o.NRIVersion = id.RuntimeName, id.RuntimeVersion, id.NRIVersion
		o.Timeouts = id.RegistrationTimeout > 0 || id.RequestTimeout > 0
		if id.HasCapabilities {
			set := capability.SetFromWords(id.Capabilities)
			o.Advertised = &set
		}
	}
	if n.process != nil && n.process.Binary != nil {
		o.Binary = binaryEvidence(*n.process.Binary)
	}
	return o
}

// binaryEvidence is what an executable says, in the words of the table.
func binaryEvidence(b node.Binary) *inference.Binary {
	e := &inference.Binary{Path: b.Path, Name: b.Runtime, Version: b.Version(), NRI: b.NRI.Version}
	if b.Fork {
		e.Fork = b.Module.Path
	}
	return e
}

// values are the settings of the runtime: what was assumed, else what its
// configuration says. Of a configuration that could not be read nothing is
// known, the defaults included.
func (n *nodeFacts) values(t *inference.Table, assumed inference.Values) inference.Values {
	values := configValues(t, n.config)
	switch {
	case n.identity != nil:
		values[inference.NRIEnabled] = inference.Value{Value: "true", Origin: "its socket answers"}
	case n.off:
		values[inference.NRIEnabled] = inference.Value{Value: "false", Origin: "there is no socket"}
	}
	for name, v := range assumed {
		values[name] = v
	}
	return values
}

// configValues are the settings that a configuration decides; all unknown for
// nil.
func configValues(t *inference.Table, c *node.Config) inference.Values {
	values := inference.Values{}
	for _, name := range t.SettingNames() {
		if c == nil {
			values[name] = inference.Value{Origin: "unknown"}
			continue
		}
		s, ok := c.Setting(name)
		if !ok || !s.Set {
			continue
		}
		v := inference.Value{Value: s.Value, Origin: s.File}
		if s.Line > 0 {
			v.Origin = fmt.Sprintf("%s:%d", s.File, s.Line)
		}
		if s.Ambiguous != "" {
			v = inference.Value{Origin: "unknown"}
		}
		values[name] = v
	}
	return values
}

// nodePlugin is a plugin of this node.
type nodePlugin struct {
	ref       string // what can be inspected
	name      string
	connected *node.ConnectedPlugin
	installed *node.InstalledPlugin
}

// plugins lists the plugins of this node: those connected to the socket, then
// those that the runtime starts itself.
func (n *nodeFacts) plugins(ctx context.Context) []nodePlugin {
	var out []nodePlugin
	if n.identity != nil {
		c, err := n.host.ConnectedPlugins(ctx, n.identity.Socket)
		if err != nil {
			n.problems = append(n.problems, "connected plugins: "+err.Error())
		}
		n.problems = append(n.problems, c.Gaps...)
		for _, p := range c.Plugins {
			if p.PID == 0 {
				n.problems = append(n.problems, "a plugin is connected whose process could not be seen")
				continue
			}
			out = append(out, nodePlugin{ref: p.Binary, name: baseName(p.Exe), connected: &p})
		}
	}
	dir, conf := n.setting("nri.plugin_path", "/opt/nri/plugins"), n.setting("nri.plugin_config_path", "/etc/nri/conf.d")
	installed, err := n.host.InstalledPlugins(dir, conf)
	if err != nil {
		n.problems = append(n.problems, "installed plugins: "+err.Error())
	}
	for _, p := range installed {
		name := p.Name
		if name == "" {
			name = baseName(p.Path)
		}
		out = append(out, nodePlugin{ref: p.Path, name: name, installed: &p})
	}
	return out
}

// setting is a value of the configuration, or the default that all releases
// share.
func (n *nodeFacts) setting(name, value string) string {
	if n.config == nil {
		return value
	}
	if s, ok := n.config.Setting(name); ok && s.Set {
		return s.Value
	}
	return value
}

func baseName(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return "unknown"
	}
	return parts[len(parts)-1]
}

// where tells in which pod or container a connected plugin runs.
func (p nodePlugin) where() (container, pod string) {
	if p.connected == nil || p.connected.Container == nil {
		return "", ""
	}
	c := p.connected.Container
	if c.Pod != "" {
		pod = strings.Join(slices.DeleteFunc([]string{c.Namespace, c.Pod, c.Name}, func(s string) bool { return s == "" }), "/")
	} else if c.PodUID != "" {
		pod = "pod " + c.PodUID
	}
	return c.ID, pod
}
