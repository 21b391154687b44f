package probe

import (
	"github.com/nri-compat/nri-compat/capability"
)

// criField is how a field of resources is called in CRI, by the name of the
// field in NRI; fields that CRI does not have are left out.
func criField(field string) string {
	return map[string]string{
		"LinuxMemory.Limit":             "MemoryLimitInBytes",
		"LinuxMemory.Swap":              "MemorySwapLimitInBytes",
		"LinuxCPU.Shares":               "CpuShares",
		"LinuxCPU.Quota":                "CpuQuota",
		"LinuxCPU.Period":               "CpuPeriod",
		"LinuxCPU.Cpus":                 "CpusetCpus",
		"LinuxCPU.Mems":                 "CpusetMems",
		"LinuxResources.HugepageLimits": "HugepageLimits",
		"LinuxResources.Unified":        "Unified",
	}[field]
}

// updates decides what becomes of updates: of every field, and of every
// occasion on which a plugin can ask for them.
func (g *glue) updates(s *server, c *configs) map[capability.ID]Verdict {
	out := map[capability.ID]Verdict{}
	for part, field := range resourceFields() {
		id, err := capability.Parse("UPDATE_LINUX_" + part)
		if err != nil {
			continue
		}
		merged := g.lib.fact("merged " + field)
		direct, requested := g.applied(field, s, c)
		out[id] = anyWay(all(merged, requested), all(merged, direct), direct)
	}
	unsolicited := all(g.lib.fact("unsolicited"), g.applies("updateFromPlugin"))
	partOnly := g.partOnly(s)
	out[capability.UpdateUnsolicited] = all(unsolicited, partOnly)
	out[capability.UpdateUnsolicitedFromHandler] = all(unsolicited, g.lib.fact("locked"), g.locked())
	out[capability.UpdateOnSynchronize] = all(g.applies("syncPlugin"), partOnly)
	out[capability.UpdateOtherContainersOnCreate] = all(g.lib.fact("passed on create"), g.applies("CreateContainer"))
	out[capability.UpdateOtherContainersOnUpdate] = all(g.lib.fact("passed on update"), g.applies("UpdateContainer"))
	out[capability.UpdateOtherContainersOnStop] = all(g.lib.fact("passed on stop"), g.applies("stopContainer"))
	out[capability.UpdateIgnoreFailure] = all(g.lib.fact("ignore-failure"), g.ignoresFailure())
	out[capability.UpdateEvictContainer] = g.lib.fact("evict")
	return out
}

// applies tells whether a method of package nri applies the updates it gets.
func (g *glue) applies(method string) Verdict {
	f := g.domain.method("local." + method)
	if f == nil {
		return unknown("local.%s is not where it used to be", method)
	}
	if g.domain.method("local.applyUpdates") == nil {
		return unknown("local.applyUpdates is not where it used to be")
	}
	if calls := callsOf(f.decl.Body, "applyUpdates"); len(calls) > 0 {
		return yes(f.name, f.code.where(calls[0]))
	}
	return g.domain.absent(f.name, f.decl)
}

// locked is no if an update that comes while the runtime relays an event waits
// for the lock that the relaying holds.
func (g *glue) locked() Verdict {
	update, create := g.domain.method("local.updateFromPlugin"), g.domain.method("local.CreateContainer")
	if update == nil || create == nil {
		return unknown("local.updateFromPlugin or local.CreateContainer is not where it used to be")
	}
	return waits(update, create)
}

// updater is the function with which the runtime updates one of its containers.
func (g *glue) updater() *fn {
	for _, api := range []string{"API", "nriAPI"} {
		if f := g.cri.method(api + ".UpdateContainer"); f != nil {
			return f
		}
	}
	return nil
}

func (g *glue) ignoresFailure() Verdict {
	f := g.updater()
	if f == nil {
		return unknown("the function that updates a container is not where it used to be")
	}
	if u, in, ok := find(f.reach(), "ContainerUpdate.IgnoreFailure", false); ok {
		return yes(in.name, in.code.where(u.node))
	}
	return g.cri.absent(f.name, f.decl)
}

// applied returns what becomes of a field of an update: of one that is applied
// to a container directly, and of one that goes into the request for the
// container that is being updated.
func (g *glue) applied(field string, s *server, c *configs) (direct, requested Verdict) {
	f := g.updater()
	if f == nil {
		v := unknown("the function that updates a container is not where it used to be")
		return v, v
	}
	if g.places.runtime == "cri-o" {
		if len(callsOf(f.decl.Body, "ToOCI")) == 0 {
			direct = unknown("%s does not call ToOCI", f.name)
		} else {
			direct = pick(g.lib.toOCI, field, "LinuxResources.ToOCI")
		}
		return direct, all(g.toCRI(field), s.readsCRI("toOCIResources", criField(field)))
	}
	v := all(g.toCRI(field), c.appliesResource(criField(field)))
	return v, v
}

// toCRI tells whether a field of the resources gets into the CRI resources
// that the runtime makes of them.
func (g *glue) toCRI(field string) Verdict {
	name := criField(field)
	fields := g.lib.toCRI
	for _, f := range []string{"toCRIResources", "toCRILinuxResources"} {
		if m := g.cri.method(f); m != nil {
			fields = fieldsRead(m, []int{0})
		}
	}
	read := pick(fields, field, "the conversion to CRI resources")
	if name == "" || read.State != capability.Yes {
		if read.State == capability.Yes {
			return unknown("%s gets into CRI resources, where it has no field", field)
		}
		return read
	}
	return all(read, pick(fields, "="+name, "the conversion to CRI resources"))
}

// partOnly is partial if an update that has only a memory or only a CPU part
// ends the runtime: the library leaves the other part out and the runtime
// relies on it.
func (g *glue) partOnly(s *server) Verdict {
	f := g.updater()
	if f == nil {
		return unknown("the function that updates a container is not where it used to be")
	}
	if len(callsOf(f.decl.Body, "ToOCI")) == 0 || len(callsOf(f.decl.Body, "UpdateContainerLinuxResources")) == 0 {
		return yes("")
	}
	whole := g.lib.fact("to-oci-nil")
	if whole.State != capability.Partial {
		return whole
	}
	return all(s.relies("UpdateContainerLinuxResources", "CPU"), whole)
}

// startsSocket tells whether the adaptation is started, which opens the socket.
func (g *glue) startsSocket() Verdict {
	f := g.domain.method("local.Start")
	if f == nil {
		return unknown("local.Start is not where it used to be")
	}
	for _, in := range f.reach() {
		for _, call := range in.calls {
			if call.Pkg() == g.lib.adaptationTypes && receiver(call) == "Adaptation" && call.Name() == "Start" {
				return yes(in.name, in.where())
			}
		}
	}
	return unknown("%s is not seen to start the adaptation", f.name)
}
