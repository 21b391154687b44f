package cmd

import (
	"context"
	"errors"
	"fmt"
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

// nodeFacts is what was found out about the runtimes of this node.
type nodeFacts struct {
	host     node.Host
	failed   error         // why no container runtime was found; nil if one was
	none     bool          // with failed: there is none, as far as can be seen
	identity *nri.Identity // nil if no runtime answered
	off      bool          // a runtime runs, without an NRI socket
	process  *node.Process
	config   *node.Config
	support  inference.Support
	problems []string
	kubelet  *kubeletFacts // nil if there is none
}

// look finds the container runtime of this node and its kubelet. The error says
// that there is neither, or that something of the node did not answer in time.
func (a *app) look(ctx context.Context, t *inference.Table, o nodeOptions, assumed inference.Values) (*nodeFacts, error) {
	var n *nodeFacts
	var err error
	if !inTime(ctx, lookGrace, func() { n, err = a.lookNode(ctx, t, o, assumed) }) {
		return nil, fmt.Errorf("this node: a file of it cannot be read, as where a file system hangs: %w", ctx.Err())
	}
	return n, err
}

// lookGrace is how long what has to end with its context may take for that.
const lookGrace = 2 * time.Second

// inTime calls f, and tells whether it returned before its context ended or soon
// afterwards. If not, f goes on: the kernel does not give back a thread that reads
// from a file system that hangs.
func inTime(ctx context.Context, grace time.Duration, f func()) bool {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		f()
	}()
	select {
	case <-returned:
		return true
	case <-ctx.Done():
	}
	select {
	case <-returned:
		return true
	case <-time.After(grace):
		return false
	}
}

// lookNode is look without an end in time.
func (a *app) lookNode(ctx context.Context, t *inference.Table, o nodeOptions, assumed inference.Values) (*nodeFacts, error) {
	n := &nodeFacts{}
	n.failed = a.lookRuntime(ctx, n, o)
	n.support = t.Observe(n.observation(), n.values(t, assumed))
	n.kubelet = n.lookKubelet(ctx, t, o, assumed)
	if k := n.kubelet; k != nil {
		a.log.Info("found the kubelet", "pid", k.process.PID, "exe", k.process.Exe, "versions", len(k.claims), "match", string(k.support.Match), "podResources", k.served != nil)
	}
	if n.failed == nil {
		return n, nil
	}
	if n.kubelet == nil || ctx.Err() != nil {
		return nil, n.failed
	}
	n.support.Why = a.errorText(n.failed)
	return n, nil
}

// lookRuntime finds the container runtime of this node: by its NRI socket, or
// else by its process. The error says that neither could be found.
func (a *app) lookRuntime(ctx context.Context, n *nodeFacts, o nodeOptions) error {
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
			n.none = true
			return fmt.Errorf("%w; no containerd or CRI-O process was found either%s", err, n.because())
		}
		n.off = true
	default:
		return err
	}
	n.readConfig(o.config)
	if p := n.process; p != nil {
		a.log.Info("found the runtime's process", "pid", p.PID, "exe", p.Exe)
	}
	if c := n.config; c != nil {
		a.log.Info("read the runtime's configuration", "files", strings.Join(c.Files, ","), "settings", len(c.Settings))
	}
	return nil
}

// supports are the runtimes of the node that were found: the container runtime
// and the kubelet.
func (n *nodeFacts) supports() []inference.Support {
	var all []inference.Support
	if n.failed == nil {
		all = append(all, n.support)
	}
	if n.kubelet != nil {
		all = append(all, n.kubelet.support)
	}
	return all
}

// Answer tells what the node does about a capability: each of its runtimes answers
// for what it decides about.
func (n *nodeFacts) Answer(id capability.ID) capability.Answer {
	if id.Known() && id.Kind().Family() == capability.Kubelet {
		if n.kubelet == nil {
			return capability.Answer{Note: "the kubelet decides about it, and none was found on this node"}
		}
		return n.kubelet.support.Answer(id)
	}
	return n.support.Answer(id)
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
	case path != "" && !node.IsKubeletConfig(path):
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
// nil. What it does not name and has no known default is unknown too.
func configValues(t *inference.Table, c *node.Config) inference.Values {
	values := inference.Values{}
	for _, name := range t.SettingNames() {
		if c == nil {
			values[name] = inference.Value{Origin: "unknown"}
			continue
		}
		s, ok := c.Setting(name)
		if !ok || !s.Set {
			if c.GatesUnknown != "" && strings.HasPrefix(name, "featureGates.") {
				values[name] = inference.Value{Origin: "unknown"}
			}
			continue
		}
		v := inference.Value{Value: s.Value, Origin: place(s.File, s.Line)}
		if s.File == "" {
			v.Origin = s.Key // a flag
		}
		if s.Ambiguous != "" {
			v = inference.Value{Origin: "unknown"}
		}
		values[name] = v
	}
	return values
}
