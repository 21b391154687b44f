package libprobe

import (
	"encoding/json"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Case is one thing that a plugin can do, and how to see that it was done.
type Case struct {
	ID capability.ID
	// adjust is the plugin's adjustment, update its update of another
	// container, evict its eviction, spec the container's OCI spec.
	adjust, update, evict, spec string
	// call is what the plugin calls by itself.
	call string
	// at is the path in the resulting spec, or in the resulting update, where
	// want must be found in the JSON, or must not if gone is set.
	at, want string
	gone     bool
}

// play is the form in which the probe reads a case.
func (c Case) play() map[string]any {
	out := map[string]any{"id": c.ID.String(), "call": c.call}
	for name, text := range map[string]string{"adjust": c.adjust, "update": c.update, "evict": c.evict, "spec": c.spec} {
		if text != "" {
			out[name] = json.RawMessage(text)
		}
	}
	return out
}

// Done tells whether an outcome shows that it was done.
func (c Case) Done(o Outcome) bool {
	if o.Crashed || o.Error != "" {
		return false
	}
	switch {
	case c.call != "":
		return o.Asked
	case c.evict != "":
		return o.Evicted
	case c.update != "":
		return strings.Contains(at(o.Updates, c.at), c.want)
	}
	there := strings.Contains(at(o.Spec, c.at), c.want)
	if c.gone {
		return strings.Contains(at(o.Before, c.at), c.want) && !there
	}
	return there
}

// at returns the JSON at a dotted path, empty if there is nothing.
func at(text json.RawMessage, path string) string {
	for part := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil {
			return ""
		}
		text = object[part]
	}
	return string(text)
}

const (
	cpu    = "linux.resources.cpu"
	memory = "linux.resources.memory"
	// A spec with one of everything that can be taken away.
	full = `{"process":{"env":["A=1"]},"annotations":{"old":"x"},"mounts":[{"destination":"/old","source":"/s"}],` +
		`"linux":{"resources":{},"devices":[{"path":"/dev/old","type":"c","major":1,"minor":3}],"namespaces":[{"type":"network"}],` +
		`"sysctl":{"net.old":"1"},"netDevices":{"eth0":{"name":"e"}},"intelRdt":{"closID":"old"}}}`
)

// Cases returns a case for every adjustment and update.
func Cases() []Case {
	return append(append(adjustCases(), resourceCases()...), updateCases()...)
}

func adjustCases() []Case {
	return []Case{
		{ID: capability.AdjustAnnotations, adjust: `{"annotations":{"k":"v1"}}`, at: "annotations", want: `"k":"v1"`},
		{ID: capability.AdjustAnnotationsRemoval, adjust: `{"annotations":{"-old":""}}`, spec: full, at: "annotations", want: `"old"`, gone: true},
		{ID: capability.AdjustEnv, adjust: `{"env":[{"key":"B","value":"2"}]}`, at: "process.env", want: `"B=2"`},
		{ID: capability.AdjustEnvRemoval, adjust: `{"env":[{"key":"-A"}]}`, spec: full, at: "process.env", want: `A=1`, gone: true},
		{ID: capability.AdjustMounts, adjust: `{"mounts":[{"destination":"/new","source":"/s","type":"bind"}]}`, at: "mounts", want: `"/new"`},
		{ID: capability.AdjustMountsRemoval, adjust: `{"mounts":[{"destination":"-/old"}]}`, spec: full, at: "mounts", want: `"/old"`, gone: true},
		{ID: capability.AdjustOCIHooks, adjust: `{"hooks":{"prestart":[{"path":"/bin/hook"}]}}`, at: "hooks.prestart", want: `/bin/hook`},
		{ID: capability.AdjustPosixRlimits, adjust: `{"rlimits":[{"type":"RLIMIT_NOFILE","hard":77,"soft":76}]}`, at: "process.rlimits", want: `"hard":77`},
		{ID: capability.AdjustCDIDevices, adjust: `{"CDIDevices":[{"name":"v.com/c=d"}]}`, at: "annotations.cdi", want: `v.com/c=d`},
		{ID: capability.AdjustLinuxContainerArgs, adjust: `{"args":["/bin/x"]}`, at: "process.args", want: `/bin/x`},
		{ID: capability.AdjustLinuxDevices, adjust: `{"linux":{"devices":[{"path":"/dev/new","type":"c","major":"1","minor":"5"}]}}`, at: "linux.devices", want: `/dev/new`},
		{ID: capability.AdjustLinuxDevicesRemoval, adjust: `{"linux":{"devices":[{"path":"-/dev/old"}]}}`, spec: full, at: "linux.devices", want: `/dev/old`, gone: true},
		{ID: capability.AdjustLinuxCgroupsPath, adjust: `{"linux":{"cgroupsPath":"/a/b"}}`, at: "linux.cgroupsPath", want: `/a/b`},
		{ID: capability.AdjustLinuxOOMScore, adjust: `{"linux":{"oomScoreAdj":{"value":"77"}}}`, at: "process.oomScoreAdj", want: `77`},
		{ID: capability.AdjustLinuxIOPriority, adjust: `{"linux":{"ioPriority":{"class":"IOPRIO_CLASS_RT","priority":3}}}`, at: "process.ioPriority", want: `3`},
		{ID: capability.AdjustLinuxNamespaces, adjust: `{"linux":{"namespaces":[{"type":"ipc","path":"/ns"}]}}`, at: "linux.namespaces", want: `/ns`},
		{ID: capability.AdjustLinuxNamespacesRemoval, adjust: `{"linux":{"namespaces":[{"type":"-network"}]}}`, spec: full, at: "linux.namespaces", want: `network`, gone: true},
		{ID: capability.AdjustLinuxSeccompPolicy, adjust: `{"linux":{"seccompPolicy":{"defaultAction":"SCMP_ACT_ERRNO"}}}`, at: "linux.seccomp.defaultAction", want: `SCMP_ACT_ERRNO`},
		{ID: capability.AdjustLinuxSeccompDefaultErrno, adjust: `{"linux":{"seccompPolicy":{"defaultAction":"SCMP_ACT_ERRNO","defaultErrno":{"value":77}}}}`, at: "linux.seccomp.defaultErrnoRet", want: `77`},
		{ID: capability.AdjustLinuxSeccompErrnoRet, adjust: `{"linux":{"seccompPolicy":{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","errnoRet":{"value":77}}]}}}`, at: "linux.seccomp.syscalls", want: `"errnoRet":77`},
		{ID: capability.AdjustLinuxSysctl, adjust: `{"linux":{"sysctl":{"net.x":"77"}}}`, at: "linux.sysctl", want: `"net.x":"77"`},
		{ID: capability.AdjustLinuxSysctlRemoval, adjust: `{"linux":{"sysctl":{"-net.old":""}}}`, spec: full, at: "linux.sysctl", want: `net.old`, gone: true},
		{ID: capability.AdjustLinuxNetworkDevices, adjust: `{"linux":{"netDevices":{"eth1":{"name":"new"}}}}`, at: "linux.netDevices", want: `eth1`},
		{ID: capability.AdjustLinuxNetworkDevicesRemoval, adjust: `{"linux":{"netDevices":{"-eth0":{}}}}`, spec: full, at: "linux.netDevices", want: `eth0`, gone: true},
		{ID: capability.AdjustLinuxSchedulingPolicy, adjust: `{"linux":{"scheduler":{"policy":"SCHED_FIFO","priority":7}}}`, at: "process.scheduler", want: `"priority":7`},
		{ID: capability.AdjustLinuxMemoryPolicy, adjust: `{"linux":{"memoryPolicy":{"mode":"MPOL_BIND","nodes":"0"}}}`, at: "linux.memoryPolicy", want: `MPOL_BIND`},
		{ID: capability.AdjustLinuxRDTClos, adjust: `{"linux":{"rdt":{"closId":{"value":"c"}}}}`, at: "linux.intelRdt.closID", want: `"c"`},
		{ID: capability.AdjustLinuxRDTSchemata, adjust: `{"linux":{"rdt":{"schemata":{"value":["L3:0=f"]}}}}`, at: "linux.intelRdt.schemata", want: `L3:0=f`},
		{ID: capability.AdjustLinuxRDTMonitoring, adjust: `{"linux":{"rdt":{"enableMonitoring":{"value":true}}}}`, at: "linux.intelRdt.enableMonitoring", want: `true`},
		{ID: capability.AdjustLinuxRDTRemoval, adjust: `{"linux":{"rdt":{"remove":true}}}`, spec: full, at: "linux.intelRdt", want: `old`, gone: true},
		{ID: capability.AdjustLinuxBlockioClass, adjust: `{"linux":{"resources":{"blockioClass":{"value":"c"}}}}`, at: "linux.resources.blockIO.weight", want: `77`},
		{ID: capability.AdjustLinuxRDTClass, adjust: `{"linux":{"resources":{"rdtClass":{"value":"gold"}}}}`, at: "linux.intelRdt.closID", want: `gold`},
	}
}

// resource is one field of resources: how it is written in a message, and how
// it is found in the spec.
type resource struct {
	part, message, at, want string
}

func resources() []resource {
	return []resource{
		{"MEMORY_LIMIT", `"memory":{"limit":{"value":"777216"}}`, memory + ".limit", "777216"},
		{"MEMORY_RESERVATION", `"memory":{"reservation":{"value":"777216"}}`, memory + ".reservation", "777216"},
		{"MEMORY_SWAP", `"memory":{"swap":{"value":"777216"}}`, memory + ".swap", "777216"},
		{"MEMORY_KERNEL", `"memory":{"kernel":{"value":"777216"}}`, memory + ".kernel", "777216"},
		{"MEMORY_KERNEL_TCP", `"memory":{"kernelTcp":{"value":"777216"}}`, memory + ".kernelTCP", "777216"},
		{"MEMORY_SWAPPINESS", `"memory":{"swappiness":{"value":"77"}}`, memory + ".swappiness", "77"},
		{"MEMORY_DISABLE_OOM_KILLER", `"memory":{"disableOomKiller":{"value":true}}`, memory + ".disableOOMKiller", "true"},
		{"MEMORY_USE_HIERARCHY", `"memory":{"useHierarchy":{"value":true}}`, memory + ".useHierarchy", "true"},
		{"CPU_SHARES", `"cpu":{"shares":{"value":"777"}}`, cpu + ".shares", "777"},
		{"CPU_QUOTA", `"cpu":{"quota":{"value":"777"}}`, cpu + ".quota", "777"},
		{"CPU_PERIOD", `"cpu":{"period":{"value":"777"}}`, cpu + ".period", "777"},
		{"CPU_REALTIME_RUNTIME", `"cpu":{"realtimeRuntime":{"value":"777"}}`, cpu + ".realtimeRuntime", "777"},
		{"CPU_REALTIME_PERIOD", `"cpu":{"realtimePeriod":{"value":"777"}}`, cpu + ".realtimePeriod", "777"},
		{"CPUSET_CPUS", `"cpu":{"cpus":"0-7"}`, cpu + ".cpus", "0-7"},
		{"CPUSET_MEMS", `"cpu":{"mems":"0-7"}`, cpu + ".mems", "0-7"},
		{"HUGEPAGE_LIMITS", `"hugepageLimits":[{"pageSize":"2MB","limit":"777"}]`, "linux.resources.hugepageLimits", "777"},
		{"UNIFIED", `"unified":{"memory.high":"777"}`, "linux.resources.unified", "777"},
		{"PID_LIMIT", `"pids":{"limit":"777"}`, "linux.resources.pids.limit", "777"},
		{"DEVICE_CGROUP_RULES", `"devices":[{"allow":true,"type":"c","access":"rw","major":{"value":"777"}}]`, "linux.resources.devices", "777"},
		{"BLOCKIO_CLASS", `"blockioClass":{"value":"gold777"}`, "", "gold777"},
		{"RDT_CLASS", `"rdtClass":{"value":"gold777"}`, "", "gold777"},
	}
}

// resourceCases are the fields of resources, as adjustments and as updates of
// another container.
func resourceCases() []Case {
	var out []Case
	for _, r := range resources() {
		if id, err := capability.Parse("ADJUST_LINUX_" + r.part); err == nil && r.at != "" {
			out = append(out, Case{ID: id, adjust: `{"linux":{"resources":{` + r.message + `}}}`, at: r.at, want: r.want})
		}
		if id, err := capability.Parse("UPDATE_LINUX_" + r.part); err == nil {
			out = append(out, Case{
				ID: id, update: `{"containerId":"other","linux":{"resources":{` + r.message + `}}}`,
				at: "linux.resources", want: r.want,
			})
		}
	}
	return out
}

func updateCases() []Case {
	return []Case{
		{ID: capability.UpdateOtherContainersOnCreate, update: `{"containerId":"other","linux":{"resources":{"cpu":{"cpus":"0-7"}}}}`, at: "containerId", want: "other"},
		{ID: capability.UpdateEvictContainer, evict: `{"containerId":"other","reason":"r"}`},
		{ID: capability.UpdateUnsolicited, call: "unsolicited"},
		{ID: capability.UpdateUnsolicitedFromHandler, call: "handler"},
	}
}
