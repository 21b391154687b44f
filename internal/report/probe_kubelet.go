package report

import (
	"fmt"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// NodeKubelet is the kubelet of a node.
type NodeKubelet struct {
	// Runtime is what is known of the kubelet by all evidence.
	Runtime RuntimeRange `json:"runtime"`
	// Claims are the versions that something tells, the one that counts first.
	Claims []VersionClaim `json:"claims"`
	// Inside is the program that the kubelet is a part of, such as "k3s"; absent for
	// a kubelet with a process of its own.
	Inside string `json:"inside,omitempty"`
	// Process is the kubelet's process; absent if it could not be seen.
	Process *Process `json:"process,omitempty"`
	// Config is the kubelet's configuration as far as it decides about
	// capabilities; absent if it could not be read.
	Config *NodeConfig `json:"config,omitempty"`
	// PodResources is what its pod resources service answers; absent if there is no
	// socket, or none that answers.
	PodResources *KubeletPodResources `json:"podResources,omitempty"`
	// Registration is how it refused a registration; absent unless that was asked
	// for.
	Registration *KubeletRegistration `json:"registration,omitempty"`
	// Problems are what could not be found out, a sentence each.
	Problems     []string       `json:"problems"`
	Counts       map[string]int `json:"counts"`
	Capabilities []State        `json:"capabilities"`
	Bugs         []KnownBug     `json:"bugs"`
}

// VersionClaim is a version of a kubelet and what tells it.
type VersionClaim struct {
	Version string `json:"version"`
	Origin  string `json:"origin"`
}

// KubeletPodResources is what the pod resources service of a kubelet answers.
type KubeletPodResources struct {
	Socket string `json:"socket"`
	// Get and GetAllocatableResources tell about these methods of version v1: "on",
	// "off" by a feature gate, "absent" where the kubelet does not know the method.
	Get                     string `json:"get" jsonschema:"enum=on,enum=off,enum=absent,enum=unknown"`
	GetAllocatableResources string `json:"getAllocatableResources" jsonschema:"enum=on,enum=off,enum=absent,enum=unknown"`
}

// KubeletRegistration is how a kubelet refused a registration that could not
// succeed.
type KubeletRegistration struct {
	Socket string `json:"socket"`
	// Answer is what the kubelet said, Versions the versions of the device plugin
	// API that it serves.
	Answer   string   `json:"answer"`
	Versions []string `json:"versions"`
	// Left is what the probe has left behind, a sentence each.
	Left []string `json:"left"`
}

// NewNodeKubelet describes the kubelet of a node.
func NewNodeKubelet(s inference.Support, claims []inference.Claim) *NodeKubelet {
	group := inference.Group{Outcomes: []inference.Outcome{{Support: s}}}
	k := &NodeKubelet{
		Runtime: newRuntimeRange(group), Claims: []VersionClaim{}, Problems: []string{},
		Counts: map[string]int{}, Capabilities: []State{}, Bugs: []KnownBug{},
	}
	for _, c := range claims {
		k.Claims = append(k.Claims, VersionClaim{c.Version, c.Origin})
	}
	for _, id := range capability.OfFamily(capability.Kubelet) {
		state := NewState(id, s.Answer(id))
		k.Capabilities = append(k.Capabilities, state)
		k.Counts[state.State]++
	}
	for _, b := range s.Bugs() {
		k.Bugs = append(k.Bugs, newKnownBug(b))
	}
	return k
}

// title names the kubelet and the program that it is in.
func (k *NodeKubelet) title() string {
	s := k.Runtime.title()
	if k.Inside != "" {
		s += " inside " + plain(k.Inside)
	}
	return s
}

// text writes what the kubelet is, how that is known, and what stands out.
func (k *NodeKubelet) text(p *printer, style Style, table string) {
	p.linef("%s", style.bold(style.fit(k.title()+"   "+k.Runtime.knowledge(table))))
	if k.Runtime.Why != "" {
		p.linef("  %s", plain(k.Runtime.Why))
	}
	for _, c := range k.Runtime.Contradictions {
		p.linef("  contradiction: %s", plain(c))
	}
	for i, c := range k.Claims {
		if i == 0 || style.Wide {
			p.linef("  version %s: %s says so", plain(c.Version), plain(c.Origin))
		}
	}
	processText(p, k.Process)
	if c := k.Config; c != nil && len(c.Files) == 0 {
		p.linef("  configuration: no file, its arguments alone")
		settingsText(p, c)
	} else {
		configText(p, c)
	}
	if r := k.PodResources; r != nil {
		p.linef("  pod resources: %s answers, Get is %s, GetAllocatableResources is %s", plain(r.Socket), r.Get, r.GetAllocatableResources)
	}
	if r := k.Registration; r != nil {
		p.linef("  registration: %s is alive and serves %s, which proves no more: every kubelet from 1.10 on does", plain(r.Socket), plain(strings.Join(r.Versions, ", ")))
		for _, l := range r.Left {
			p.linef("    left behind: %s", plain(l))
		}
	}
	for _, problem := range k.Problems {
		p.linef("  unknown: %s", plain(problem))
	}
	capabilitiesText(p, style, k.Counts, k.Capabilities)
	bugsText(p, style, k.Bugs)
}

// capabilitiesText counts the capabilities by state and writes the ones that
// stand out.
func capabilitiesText(p *printer, style Style, count map[string]int, all []State) {
	var counts []string
	for _, state := range stateOrder {
		if n := count[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	p.linef("  %d capabilities: %s", len(all), strings.Join(counts, ", "))
	(&Infer{Capabilities: all}).states(p, style)
}

// bugsText writes the known bugs that nobody should miss, in wide text all.
func bugsText(p *printer, style Style, bugs []KnownBug) {
	for _, b := range bugs {
		if style.Wide || b.Severity == "critical" || b.Severity == "high" {
			p.linef("  known bug %s (%s): %s", b.ID, b.Severity, b.Text)
		}
	}
}

// markdown writes the facts and a table of the capabilities.
func (k *NodeKubelet) markdown(p *printer, table string) {
	p.linef("\n## %s\n", mdText(k.title()))
	p.linef("- %s", mdText(k.Runtime.knowledge(table)))
	for _, c := range k.Claims {
		p.linef("- version %s: %s says so", mdText(c.Version), mdText(c.Origin))
	}
	if r := k.PodResources; r != nil {
		p.linef("- pod resources: Get is %s, GetAllocatableResources is %s", r.Get, r.GetAllocatableResources)
	}
	if r := k.Registration; r != nil {
		p.linef("- registration: it is alive and serves %s", mdText(strings.Join(r.Versions, ", ")))
	}
	for _, line := range append(append([]string{}, k.Runtime.Contradictions...), k.Problems...) {
		p.linef("- %s", mdText(line))
	}
	p.linef("")
	stateTable(p, k.Capabilities)
}
