package probe

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// adjustment says which fields an adjustment passes through: what the protocol
// must have, what the adaptation must take over from a plugin's reply, and
// what the spec generator must read.
type adjustment struct {
	id        capability.ID
	collected string // field, "Message.Field"
	generated string // the same as collected if empty
}

// adjustments lists the fields of all adjustments but removals.
func adjustments() []adjustment {
	return []adjustment{
		{capability.AdjustAnnotations, "ContainerAdjustment.Annotations", ""},
		{capability.AdjustMounts, "ContainerAdjustment.Mounts", ""},
		{capability.AdjustEnv, "ContainerAdjustment.Env", ""},
		{capability.AdjustOCIHooks, "ContainerAdjustment.Hooks", ""},
		{capability.AdjustPosixRlimits, "ContainerAdjustment.Rlimits", ""},
		{capability.AdjustCDIDevices, "ContainerAdjustment.CDIDevices", ""},
		{capability.AdjustLinuxContainerArgs, "ContainerAdjustment.Args", ""},
		{capability.AdjustLinuxDevices, "LinuxContainerAdjustment.Devices", ""},
		{capability.AdjustLinuxCgroupsPath, "LinuxContainerAdjustment.CgroupsPath", ""},
		{capability.AdjustLinuxOOMScore, "LinuxContainerAdjustment.OomScoreAdj", ""},
		{capability.AdjustLinuxIOPriority, "LinuxContainerAdjustment.IoPriority", ""},
		{capability.AdjustLinuxNamespaces, "LinuxContainerAdjustment.Namespaces", ""},
		{capability.AdjustLinuxSeccompPolicy, "LinuxContainerAdjustment.SeccompPolicy", ""},
		{capability.AdjustLinuxSeccompDefaultErrno, "LinuxContainerAdjustment.SeccompPolicy", "LinuxSeccomp.DefaultErrno"},
		{capability.AdjustLinuxSeccompErrnoRet, "LinuxContainerAdjustment.SeccompPolicy", "LinuxSyscall.ErrnoRet"},
		{capability.AdjustLinuxSysctl, "LinuxContainerAdjustment.Sysctl", ""},
		{capability.AdjustLinuxNetworkDevices, "LinuxContainerAdjustment.NetDevices", ""},
		{capability.AdjustLinuxSchedulingPolicy, "LinuxContainerAdjustment.Scheduler", ""},
		{capability.AdjustLinuxMemoryPolicy, "LinuxContainerAdjustment.MemoryPolicy", ""},
		{capability.AdjustLinuxRDTClos, "LinuxRdt.ClosId", ""},
		{capability.AdjustLinuxRDTSchemata, "LinuxRdt.Schemata", ""},
		{capability.AdjustLinuxRDTMonitoring, "LinuxRdt.EnableMonitoring", ""},
		{capability.AdjustLinuxRDTRemoval, "LinuxRdt.Remove", ""},
		{capability.AdjustLinuxBlockioClass, "LinuxResources.BlockioClass", ""},
		{capability.AdjustLinuxRDTClass, "LinuxResources.RdtClass", ""},
		{capability.AdjustLinuxHugepageLimits, "LinuxResources.HugepageLimits", ""},
		{capability.AdjustLinuxUnified, "LinuxResources.Unified", ""},
		{capability.AdjustLinuxPIDLimit, "LinuxResources.Pids", ""},
		{capability.AdjustLinuxDeviceCgroupRules, "LinuxResources.Devices", ""},
		{capability.AdjustLinuxMemoryLimit, "LinuxMemory.Limit", ""},
		{capability.AdjustLinuxMemoryReservation, "LinuxMemory.Reservation", ""},
		{capability.AdjustLinuxMemorySwap, "LinuxMemory.Swap", ""},
		{capability.AdjustLinuxMemoryKernel, "LinuxMemory.Kernel", ""},
		{capability.AdjustLinuxMemoryKernelTCP, "LinuxMemory.KernelTcp", ""},
		{capability.AdjustLinuxMemorySwappiness, "LinuxMemory.Swappiness", ""},
		{capability.AdjustLinuxMemoryDisableOOMKiller, "LinuxMemory.DisableOomKiller", ""},
		{capability.AdjustLinuxMemoryUseHierarchy, "LinuxMemory.UseHierarchy", ""},
		{capability.AdjustLinuxCPUShares, "LinuxCPU.Shares", ""},
		{capability.AdjustLinuxCPUQuota, "LinuxCPU.Quota", ""},
		{capability.AdjustLinuxCPUPeriod, "LinuxCPU.Period", ""},
		{capability.AdjustLinuxCPURealtimeRuntime, "LinuxCPU.RealtimeRuntime", ""},
		{capability.AdjustLinuxCPURealtimePeriod, "LinuxCPU.RealtimePeriod", ""},
		{capability.AdjustLinuxCpusetCpus, "LinuxCPU.Cpus", ""},
		{capability.AdjustLinuxCpusetMems, "LinuxCPU.Mems", ""},
	}
}

// adjusts decides what the library itself does about every adjustment.
func (l *library) adjusts() map[capability.ID]Verdict {
	out := map[capability.ID]Verdict{}
	adjust, generate := l.adaptation.method("result.adjust"), l.generate.method("Generator.Adjust")
	collect := follow(adjust, []int{0})
	apply := follow(generate, []int{0}, l.api)
	for _, a := range adjustments() {
		field := a.generated
		if field == "" {
			field = a.collected
		}
		out[a.id] = all(
			l.proto(a.collected),
			l.proto(field),
			collect.verdict(adjust, a.collected),
			l.unspoiled(collect, a.collected),
			apply.verdict(generate, field),
			guarded(apply, field),
			safe(apply, field),
		)
	}
	for _, a := range removals() {
		out[a.id] = all(
			l.proto(a.collected),
			collect.verdict(adjust, a.collected),
			passesRemovals(collect, a.collected),
			appliesRemovals(apply, a.collected),
		)
	}
	return out
}

// proto is yes if the protocol has the field.
func (l *library) proto(field string) Verdict {
	message, name, _ := strings.Cut(field, ".")
	if _, ok := l.api.hasField(message, name); ok {
		return yes("") // where it is used is the better evidence
	}
	if at := l.api.Types.Scope().Lookup(message); at != nil {
		return l.api.absent("type "+message, posNode(at.Pos()))
	}
	return l.api.absent("package api")
}

// unspoiled is a crash if taking over the field writes into a map that nothing
// makes: the assignment panics in the runtime.
func (l *library) unspoiled(collect *flow, field string) Verdict {
	for _, h := range collect.handlers[field] {
		for _, u := range h.uses {
			s, ok := u.node.(*ast.SelectorExpr)
			if !ok || !u.write || !indexed(h, s) {
				continue
			}
			if _, isMap := types.Unalias(h.code.Info.TypeOf(s)).(*types.Map); !isMap || l.made(u.field) {
				continue
			}
			if message, _, _ := strings.Cut(u.field, "."); !l.makes(message) {
				return unknown("nothing in the adaptation makes the %s that %s writes to", message, h.name)
			}
			return crash(h.name, h.code.where(s))
		}
	}
	return yes("")
}

// indexed tells whether a selector is written to as "x.Field[key] = value".
func indexed(f *fn, s *ast.SelectorExpr) bool {
	nodes := trail(f.decl.Body, s)
	if len(nodes) < 2 {
		return false
	}
	ix, ok := nodes[len(nodes)-2].(*ast.IndexExpr)
	return ok && ix.X == s
}

// made tells whether a map field is given a value anywhere in the adaptation.
func (l *library) made(field string) bool {
	for _, f := range l.adaptation.byName {
		for _, u := range f.uses {
			if u.field != field || !u.write {
				continue
			}
			if s, ok := u.node.(*ast.SelectorExpr); !ok || !indexed(f, s) {
				return true
			}
		}
	}
	return false
}

// makes tells whether the adaptation itself makes a message, or for a part of
// an adjustment the whole, with something in it.
func (l *library) makes(message string) bool {
	if strings.HasSuffix(message, "Adjustment") {
		message = "ContainerAdjustment"
	}
	for _, f := range l.adaptation.byName {
		for _, lit := range literals(f.decl.Body, message) {
			if message != "ContainerAdjustment" || len(lit.Elts) > 0 {
				return true
			}
		}
	}
	return false
}

// guarded is partial if the generator applies a field of the CPU resources
// without asking whether it is set: what no plugin set is then overwritten.
func guarded(apply *flow, field string) Verdict {
	if !strings.HasPrefix(field, "LinuxCPU.") {
		return yes("")
	}
	at, f, ok := apply.read(field)
	if !ok {
		return yes("")
	}
	set := false
	for _, n := range trail(f.decl.Body, at.node) {
		if call, ok := n.(*ast.CallExpr); ok && strings.HasPrefix(calledName(call), "SetLinuxResources") {
			set = true
		}
		if cond, ok := n.(*ast.IfStmt); ok {
			asks := false
			ast.Inspect(cond.Cond, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && fieldOf(f.code.Info, s) == field {
					asks = true
				}
				return true
			})
			if cond.Init != nil && mentions(cond.Init, strings.TrimPrefix(field, "LinuxCPU.")) {
				asks = true
			}
			if asks {
				return yes("")
			}
		}
	}
	if !set {
		return unknown("%s applies %s in a way that is not understood", f.name, field)
	}
	return partial(f.name, f.code.where(at.node))
}

// safe is a crash if the function that reads the field writes through a
// pointer that is nil.
func safe(apply *flow, field string) Verdict {
	_, f, ok := apply.read(field)
	if !ok || strings.HasPrefix(field, "ContainerAdjustment.") || strings.HasPrefix(field, "LinuxContainerAdjustment.") {
		return yes("")
	}
	if at := derefOfNil(f); at != nil {
		return crash(f.name, f.code.where(at))
	}
	return yes("")
}
