package probe

import (
	"go/ast"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// resourceFields are the fields of resources, by the last part of the names of
// the capabilities that are about them.
func resourceFields() map[string]string {
	return map[string]string{
		"MEMORY_LIMIT":              "LinuxMemory.Limit",
		"MEMORY_RESERVATION":        "LinuxMemory.Reservation",
		"MEMORY_SWAP":               "LinuxMemory.Swap",
		"MEMORY_KERNEL":             "LinuxMemory.Kernel",
		"MEMORY_KERNEL_TCP":         "LinuxMemory.KernelTcp",
		"MEMORY_SWAPPINESS":         "LinuxMemory.Swappiness",
		"MEMORY_DISABLE_OOM_KILLER": "LinuxMemory.DisableOomKiller",
		"MEMORY_USE_HIERARCHY":      "LinuxMemory.UseHierarchy",
		"CPU_SHARES":                "LinuxCPU.Shares",
		"CPU_QUOTA":                 "LinuxCPU.Quota",
		"CPU_PERIOD":                "LinuxCPU.Period",
		"CPU_REALTIME_RUNTIME":      "LinuxCPU.RealtimeRuntime",
		"CPU_REALTIME_PERIOD":       "LinuxCPU.RealtimePeriod",
		"CPUSET_CPUS":               "LinuxCPU.Cpus",
		"CPUSET_MEMS":               "LinuxCPU.Mems",
		"HUGEPAGE_LIMITS":           "LinuxResources.HugepageLimits",
		"UNIFIED":                   "LinuxResources.Unified",
		"PID_LIMIT":                 "LinuxResources.Pids",
		"DEVICE_CGROUP_RULES":       "LinuxResources.Devices",
		"BLOCKIO_CLASS":             "LinuxResources.BlockioClass",
		"RDT_CLASS":                 "LinuxResources.RdtClass",
	}
}

// updates answers what the library does about updates: which fields of an
// update in a response are merged, and what becomes of unsolicited updates,
// evictions and failures that may be ignored.
func (l *library) updates() map[string]Verdict {
	out := map[string]Verdict{
		"unsolicited":    l.unsolicited(),
		"locked":         l.locked(),
		"evict":          l.evicts(),
		"ignore-failure": l.ignoresFailure(),
		"to-oci-nil":     l.toOCINil(),
	}
	update := l.adaptation.method("result.update")
	merged := follow(update, []int{0})
	for _, field := range resourceFields() {
		out["merged "+field] = all(l.proto(field), merged.verdict(update, field))
	}
	for response, method := range map[string]string{
		"create": "result.createContainerResponse", "update": "result.updateContainerResponse", "stop": "result.stopContainerResponse",
	} {
		out["passed on "+response] = l.passesOn(method)
	}
	return out
}

// passesOn tells whether a merged response contains the updates.
func (l *library) passesOn(method string) Verdict {
	f := l.adaptation.method(method)
	if f == nil {
		return unknown("%s is not where it used to be", method)
	}
	for _, u := range f.uses {
		if strings.HasSuffix(u.field, "ContainerResponse.Update") && u.write {
			return yes(f.name, f.code.where(u.node))
		}
	}
	return l.adaptation.absent(f.name, f.decl)
}

// unsolicited is a crash if a plugin that connected by itself does not know
// the adaptation that it asks for updates.
func (l *library) unsolicited() Verdict {
	request, connect := l.adaptation.method("plugin.UpdateContainers"), l.adaptation.method("newExternalPlugin")
	if connect == nil {
		connect = l.adaptation.method("Adaptation.newExternalPlugin")
	}
	if request == nil || connect == nil {
		return unknown("plugin.UpdateContainers or newExternalPlugin is not where it used to be")
	}
	through := ""
	for _, call := range callsOf(request.decl.Body, "updateContainers") {
		if s, ok := call.Fun.(*ast.SelectorExpr); ok {
			through = selected(s.X)
		}
	}
	owner := through[strings.LastIndex(through, ".")+1:]
	if owner == "" {
		return unknown("%s does not call updateContainers", request.name)
	}
	lits := literals(connect.decl.Body, "plugin")
	if len(lits) == 0 {
		return unknown("%s makes no plugin", connect.name)
	}
	if kv, ok := literalKeys(connect.decl.Body, "plugin")[owner]; ok {
		return yes(connect.name, l.adaptation.where(kv))
	}
	if u, _, ok := find([]*fn{connect}, "plugin."+owner, true); ok {
		return yes(connect.name, l.adaptation.where(u.node))
	}
	return crash(connect.name, l.adaptation.where(lits[0]))
}

// locked is no if an update that comes while a request is served waits for the
// lock that the request holds.
func (l *library) locked() Verdict {
	update, create := l.adaptation.method("Adaptation.updateContainers"), l.adaptation.method("Adaptation.CreateContainer")
	if update == nil || create == nil {
		return unknown("Adaptation.updateContainers or CreateContainer is not where it used to be")
	}
	return waits(update, create)
}

// waits is no if one method waits for a lock that the other holds while it
// calls plugins: one of the same name, from the receiver on.
func waits(update, create *fn) Verdict {
	mine, others := locks(update), locks(create)
	for name, at := range mine {
		if others[name] != nil {
			return no(update.name, update.code.where(at))
		}
	}
	if len(mine) > 0 {
		return unknown("%s and %s take different locks", update.name, create.name)
	}
	return yes(update.name, update.where())
}

// locks are the calls of Lock and RLock in a method, by what is locked: ""
// for the receiver itself, ".mu" for a field of it.
func locks(f *fn) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, call := range append(callsOf(f.decl.Body, "Lock"), callsOf(f.decl.Body, "RLock")...) {
		if s, ok := call.Fun.(*ast.SelectorExpr); ok {
			_, field, _ := strings.Cut(selected(s.X), ".")
			out[field] = call
		}
	}
	return out
}

// evicts tells whether an eviction gets out of the adaptation: in a merged
// response, or with an unsolicited update.
func (l *library) evicts() Verdict {
	request := l.adaptation.method("plugin.UpdateContainers")
	apply := l.adaptation.method("result.apply")
	if request == nil || apply == nil {
		return unknown("plugin.UpdateContainers or result.apply is not where it used to be")
	}
	for _, f := range append(request.reach(), apply.reach()...) {
		for _, u := range f.uses {
			if strings.HasSuffix(u.field, ".Evict") && !u.write {
				return unknown("%s reads %s: follow where it goes", f.name, u.field)
			}
		}
	}
	for _, name := range []string{"result.createContainerResponse", "result.updateContainerResponse"} {
		f := l.adaptation.method(name)
		if f == nil {
			return unknown("%s is not where it used to be", name)
		}
		for _, u := range f.uses {
			if strings.HasSuffix(u.field, ".Evict") {
				return unknown("%s has %s: follow where it goes", f.name, u.field)
			}
		}
	}
	return l.adaptation.absent(request.name, request.decl)
}

// ignoresFailure tells whether the merging of updates looks at ignore_failure.
func (l *library) ignoresFailure() Verdict {
	update := l.adaptation.method("result.update")
	return follow(update, []int{0}).verdict(update, "ContainerUpdate.IgnoreFailure")
}

// toOCINil is partial if the library's conversion to OCI leaves the memory or
// the CPU part out where an update does not have it.
func (l *library) toOCINil() Verdict {
	f := l.api.method("LinuxResources.ToOCI")
	if f == nil {
		return unknown("LinuxResources.ToOCI is not where it used to be")
	}
	lits := literals(f.decl.Body, "LinuxResources")
	if len(lits) == 0 {
		return unknown("%s makes no LinuxResources", f.name)
	}
	keys := literalKeys(lits[0], "LinuxResources")
	if keys["Memory"] != nil && keys["CPU"] != nil {
		return yes(f.name, l.api.where(lits[0]))
	}
	return partial(f.name, l.api.where(lits[0]))
}

// fact returns the answer to a question about the library.
func (l *Library) fact(name string) Verdict {
	if v, ok := l.facts[name]; ok {
		return v
	}
	return unknown("nothing was asked about %s", name)
}

// verdict returns what the library alone says of a capability.
func (l *Library) verdict(id capability.ID) Verdict {
	if v, ok := l.verdicts[id]; ok {
		return v
	}
	return unknown("no probe of the library is about it")
}

// Executes returns what the library by itself does about an adjustment or an
// update in a response, given the options it asks for: what running it shows.
func (l *Library) Executes(id capability.ID) Verdict {
	switch id {
	case capability.UpdateUnsolicited:
		return l.fact("unsolicited")
	case capability.UpdateUnsolicitedFromHandler:
		return all(l.fact("unsolicited"), l.fact("locked"))
	case capability.UpdateOtherContainersOnCreate:
		return l.fact("passed on create")
	case capability.UpdateEvictContainer:
		return l.fact("evict")
	}
	if part, ok := strings.CutPrefix(id.String(), "UPDATE_LINUX_"); ok {
		return l.fact("merged " + resourceFields()[part])
	}
	return l.verdict(id)
}
