package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/internal/node"
)

// nodePlugin is a plugin of this node.
type nodePlugin struct {
	ref       string // what can be inspected
	name      string
	how       string                // "connected" to NRI, "installed" for it, or "listening" for the kubelet
	connected *node.ConnectedPlugin // its process, unless it is installed
	installed *node.InstalledPlugin
	sockets   []string // of a device plugin
}

// plugins lists the plugins of this node: those connected to the NRI socket, those
// that the runtime starts itself, then the device plugins. A process that is
// connected to NRI and a device plugin is in the list once. The list is complete
// unless there is a container runtime that could not be asked, or something could
// not be seen, which the problems then say.
func (n *nodeFacts) plugins(ctx context.Context) (list []nodePlugin, complete bool) {
	known := len(n.problems)
	if n.failed == nil {
		list = n.nriPlugins(ctx)
	}
	if n.kubelet != nil {
		list = n.addDevicePlugins(ctx, list)
	}
	return list, len(n.problems) == known && (n.failed == nil || n.none)
}

// addDevicePlugins adds the device plugins of this node to a list.
func (n *nodeFacts) addDevicePlugins(ctx context.Context, out []nodePlugin) []nodePlugin {
	devices, gaps, err := n.host.DevicePluginsOf(ctx, n.kubelet.process)
	if err != nil {
		n.problems = append(n.problems, err.Error())
	}
	n.problems = append(n.problems, gaps...)
	for _, p := range devices {
		same := slices.IndexFunc(out, func(other nodePlugin) bool { return other.connected != nil && other.connected.PID == p.PID })
		if same >= 0 {
			out[same].sockets = p.Sockets
			continue
		}
		out = append(out, nodePlugin{ref: p.Binary, name: baseName(p.Exe), how: "listening", connected: &p.ConnectedPlugin, sockets: p.Sockets})
	}
	return out
}

// nriPlugins lists the NRI plugins of this node: those connected to the socket,
// then those that the runtime starts itself.
func (n *nodeFacts) nriPlugins(ctx context.Context) []nodePlugin {
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
			out = append(out, nodePlugin{ref: p.Binary, name: baseName(p.Exe), how: "connected", connected: &p})
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
		out = append(out, nodePlugin{ref: p.Path, name: name, how: "installed", installed: &p})
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
