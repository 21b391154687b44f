// Package found holds what the readers of package plugin find out about one
// plugin: who it is, which NRI it speaks, and what it needs. It decides nothing,
// so that every reader can return it and every report can show it.
package found

import (
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Plugin is what is known of one plugin.
type Plugin struct {
	// Name is the short name for people: the base name of the executable or of
	// the source directory.
	Name string `json:"name"`
	// Ref is the reference the plugin was asked for by, such as
	// "./bin/device-injector" or "image:registry.example/plugin:v1".
	Ref string `json:"ref"`
	// Path is the file that was read; for an image the path inside of it.
	Path string `json:"path,omitempty"`
	// Reader names what was read: "binary", "source" or "manifest".
	Reader   string   `json:"reader"`
	Identity Identity `json:"identity"`
	NRI      NRI      `json:"nri"`
	// Kubelet is what a device plugin, a DRA driver or a client of the kubelet
	// carries of its APIs; nil for an NRI plugin.
	Kubelet *Kubelet `json:"kubelet,omitempty"`
	// Requirements are what the plugin depends on, normalised and sorted.
	Requirements []capability.Requirement `json:"requirements"`
	// Gaps says, one sentence each, what could not be read. While it is not
	// empty, Requirements may be too short.
	Gaps []string `json:"gaps"`
	// Warnings are faults of the plugin that were noticed, one sentence each:
	// a handler whose signature the stub ignores, for instance.
	Warnings []string `json:"warnings"`
	// Opaque says where the plugin handles whole objects (prints, copies or
	// passes them on), so that single fields cannot be told apart.
	Opaque []string `json:"opaque"`
	// Supports are the runtimes its author declares to support, in the syntax of
	// --runtime; from a manifest only.
	Supports []string `json:"supports,omitempty"`
}

// Identity tells what program it is.
type Identity struct {
	// Module and Version are those of the main Go module; "(devel)" is a version.
	Module  string `json:"module,omitempty"`
	Version string `json:"version,omitempty"`
	// Package is the import path of the main package.
	Package string `json:"package,omitempty"`
	// Revision is the version control revision; Modified tells that the tree had
	// changes of its own.
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	// Go is the version of the toolchain, such as "go1.26.8".
	Go string `json:"go,omitempty"`
	// OS and Arch are GOOS and GOARCH.
	OS   string `json:"os,omitempty"`
	Arch string `json:"arch,omitempty"`
	// CGO, Stripped and PIE tell how it was built.
	CGO      bool `json:"cgo,omitempty"`
	Stripped bool `json:"stripped,omitempty"`
	PIE      bool `json:"pie,omitempty"`
}

// NRI tells which version of the protocol and library the plugin carries.
type NRI struct {
	// Module is the module that really provides the NRI API: the replacement
	// where there is one.
	Module string `json:"module,omitempty"`
	// Version is its version with "v"; empty if the module has none.
	Version string `json:"version,omitempty"`
	// Replaces is the module and version that a replace directive stands in for.
	Replaces string `json:"replaces,omitempty"`
	// Package is the import path of the API package; it differs from
	// github.com/containerd/nri/pkg/api for a plugin with its own copy.
	Package string `json:"package,omitempty"`
	// ProtocolFrom and ProtocolTo are the first and last NRI release whose
	// protocol is the embedded one; both empty if there is no descriptor or it
	// matches no release.
	ProtocolFrom string `json:"protocolFrom,omitempty"`
	ProtocolTo   string `json:"protocolTo,omitempty"`
	// Contradiction says where module and protocol disagree; usually empty.
	Contradiction string `json:"contradiction,omitempty"`
}

// Kubelet tells which version of the kubelet's APIs a plugin carries.
type Kubelet struct {
	// Module is the module that really provides the API, usually k8s.io/kubelet:
	// the replacement where there is one.
	Module string `json:"module,omitempty"`
	// Version is its version with "v"; empty if the module has none. It is the
	// newest release of the kubelet whose API the plugin can know.
	Version string `json:"version,omitempty"`
	// Replaces is the module and version that a replace directive stands in for.
	Replaces string `json:"replaces,omitempty"`
	// APIs are those that are linked, such as "deviceplugin/v1beta1", sorted.
	APIs []string `json:"apis"`
}

// Needs is what the plugin needs, in the form that [capability.Check] takes.
func (p Plugin) Needs() capability.Needs {
	return capability.Needs{Requirements: p.Requirements, Gaps: p.Gaps}
}

// Replaced words the module that a replace directive stands in for. It is empty
// if the directive names the same version of the same module, as those for the
// modules of Kubernetes do.
func Replaced(path, version, byPath, byVersion string) string {
	if path == byPath && version == byVersion {
		return ""
	}
	return strings.TrimSpace(path + " " + version)
}
