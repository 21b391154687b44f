package report

import (
	"io"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// nfdPrefix is the name space of the node labels.
const nfdPrefix = "nri-compat.dev/"

// NFDGroup is a node label and the capabilities a node must all have for it.
type NFDGroup struct {
	Label        string
	Capabilities []capability.ID
}

// NFDGroups returns the labels that `probe -o nfd` can write, besides those for
// the versions. A label is there, with the value "true", if the runtime has all
// capabilities of the group; what is unknown leaves it out.
func NFDGroups() []NFDGroup {
	return []NFDGroup{
		{"nri", []capability.ID{capability.ProtoNRISocket, capability.EventCreateContainer, capability.AdjustMounts, capability.AdjustEnv}},
		{"nri.cdi-devices", []capability.ID{capability.AdjustCDIDevices}},
		{"nri.rlimits", []capability.ID{capability.AdjustPosixRlimits}},
		{"nri.pids-limit", []capability.ID{capability.AdjustLinuxPIDLimit}},
		{"nri.oom-score", []capability.ID{capability.AdjustLinuxOOMScore}},
		{"nri.namespaces", []capability.ID{capability.AdjustLinuxNamespaces}},
		{"nri.seccomp", []capability.ID{capability.AdjustLinuxSeccompPolicy}},
		{"nri.io-priority", []capability.ID{capability.AdjustLinuxIOPriority}},
		{"nri.args", []capability.ID{capability.AdjustLinuxContainerArgs}},
		{"nri.scheduler", []capability.ID{capability.AdjustLinuxSchedulingPolicy}},
		{"nri.net-devices", []capability.ID{capability.AdjustLinuxNetworkDevices}},
		{"nri.rdt", []capability.ID{capability.AdjustLinuxRDTClos, capability.AdjustLinuxRDTSchemata}},
		{"nri.sysctl", []capability.ID{capability.AdjustLinuxSysctl}},
		{"nri.memory-policy", []capability.ID{capability.AdjustLinuxMemoryPolicy}},
		{"nri.hugepages", []capability.ID{capability.AdjustLinuxHugepageLimits}},
		{"nri.cpu", []capability.ID{
			capability.AdjustLinuxCPUShares, capability.AdjustLinuxCPUQuota, capability.AdjustLinuxCPUPeriod,
			capability.AdjustLinuxCpusetCpus, capability.AdjustLinuxCpusetMems,
		}},
		{"nri.validation", []capability.ID{capability.SubscribeValidateContainerAdjustment, capability.EventValidateContainerAdjustment}},
		{"nri.pod-updates", []capability.ID{capability.SubscribeUpdatePodSandbox, capability.EventUpdatePodSandbox}},
		{"nri.pod-ips", []capability.ID{capability.InputIPAddresses}},
		{"nri.container-status", []capability.ID{capability.ExtraContainerStatus}},
		{"nri.container-user", []capability.ID{capability.InputUIDAndGids}},
		{"nri.unsolicited-updates", []capability.ID{capability.UpdateUnsolicited}},
		{"nri.wasm", []capability.ID{capability.ProtoWASMPlugins}},
	}
}

// NFD writes a feature file for node-feature-discovery's local source: one
// label a line. Of a node whose NRI is not on it writes that and nothing else.
func (d *Probe) NFD(w io.Writer) error {
	p := &printer{w: w}
	p.linef("# written by nri-compat %s; %s", d.Tool.Version, d.tableName())
	label := func(name, value string) {
		if value = nfdValue(value); value != "" {
			p.linef("%s%s=%s", nfdPrefix, name, value)
		}
	}
	label("nri.state", d.NRI)
	if d.NRI != "on" {
		return p.err
	}
	label("runtime.name", d.Runtime.Name)
	label("runtime.version", d.Runtime.To)
	if len(d.Runtime.NRI) == 1 {
		label("nri.version", strings.TrimPrefix(d.Runtime.NRI[0], "v"))
	}
	there := map[string]bool{}
	for _, c := range d.Capabilities {
		there[c.ID] = c.obtained()
	}
	for _, g := range NFDGroups() {
		all := true
		for _, id := range g.Capabilities {
			all = all && there[id.String()]
		}
		if all {
			label(g.Label, "true")
		}
	}
	return p.err
}

// obtained tells whether a capability is there as the runtime is configured.
func (s State) obtained() bool {
	var state capability.State
	if err := state.UnmarshalText([]byte(s.State)); err != nil {
		return false
	}
	return capability.Answer{State: state, Settings: s.Settings}.Status() == capability.StatusOK
}

// nfdValue makes a text fit for the value of a node label: at most 63 letters,
// digits, "-", "_" and ".", beginning and ending with a letter or digit.
func nfdValue(s string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	return strings.Trim(safe[:min(len(safe), 63)], "-_.")
}
