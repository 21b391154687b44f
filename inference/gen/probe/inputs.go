package probe

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// input says which field of a message a capability is.
type input struct {
	id    capability.ID
	field string
}

// inputFields lists the inputs that are nothing but a field.
func inputFields() []input {
	return []input{
		{capability.InputPodID, "PodSandbox.Id"},
		{capability.InputPodName, "PodSandbox.Name"},
		{capability.InputPodUID, "PodSandbox.Uid"},
		{capability.InputPodNamespace, "PodSandbox.Namespace"},
		{capability.InputPodLabels, "PodSandbox.Labels"},
		{capability.InputPodAnnotations, "PodSandbox.Annotations"},
		{capability.InputPodRuntimeHandler, "PodSandbox.RuntimeHandler"},
		{capability.InputIPAddresses, "PodSandbox.Ips"},
		{capability.InputPodLinuxNamespaces, "LinuxPodSandbox.Namespaces"},
		{capability.InputPodLinuxOverhead, "LinuxPodSandbox.PodOverhead"},
		{capability.InputPodLinuxResources, "LinuxPodSandbox.PodResources"},
		{capability.InputPodCgroupParent, "LinuxPodSandbox.CgroupParent"},
		{capability.InputPodCgroupsPath, "LinuxPodSandbox.CgroupsPath"},
		{capability.InputPodLinuxSandboxResources, "LinuxPodSandbox.Resources"},
		{capability.InputContainerID, "Container.Id"},
		{capability.InputContainerPodID, "Container.PodSandboxId"},
		{capability.InputContainerLabels, "Container.Labels"},
		{capability.InputContainerAnnotations, "Container.Annotations"},
		{capability.InputContainerArgs, "Container.Args"},
		{capability.InputContainerEnv, "Container.Env"},
		{capability.InputContainerMounts, "Container.Mounts"},
		{capability.InputContainerOCIHooks, "Container.Hooks"},
		{capability.InputContainerPID, "Container.Pid"},
		{capability.InputContainerCreatedAt, "Container.CreatedAt"},
		{capability.InputContainerStartedAt, "Container.StartedAt"},
		{capability.InputContainerFinishedAt, "Container.FinishedAt"},
		{capability.InputContainerExitCode, "Container.ExitCode"},
		{capability.InputContainerStatusReason, "Container.StatusReason"},
		{capability.InputContainerStatusMessage, "Container.StatusMessage"},
		{capability.InputContainerImage, "Container.Image"},
		{capability.InputCDIDevices, "Container.CDIDevices"},
		{capability.InputPosixRlimits, "Container.Rlimits"},
		{capability.InputUIDAndGids, "Container.User"},
		{capability.InputLinuxNamespaces, "LinuxContainer.Namespaces"},
		{capability.InputLinuxDevices, "LinuxContainer.Devices"},
		{capability.InputLinuxCgroupsPath, "LinuxContainer.CgroupsPath"},
		{capability.InputLinuxOOMScore, "LinuxContainer.OomScoreAdj"},
		{capability.InputLinuxIOPriority, "LinuxContainer.IoPriority"},
		{capability.InputLinuxSchedulingPolicy, "LinuxContainer.Scheduler"},
		{capability.InputLinuxNetworkDevices, "LinuxContainer.NetDevices"},
		{capability.InputLinuxRDTClos, "LinuxContainer.Rdt"},
		{capability.InputLinuxSecurityProfile, "LinuxContainer.SeccompProfile"},
		{capability.InputLinuxSeccompPolicy, "LinuxContainer.SeccompPolicy"},
		{capability.InputLinuxSysctl, "LinuxContainer.Sysctl"},
		{capability.InputLinuxMemoryPolicy, "LinuxContainer.MemoryPolicy"},
	}
}

// inputs decides everything that a plugin sees of pods and containers.
func (g *glue) inputs(c *configs, s *server) map[capability.ID]Verdict {
	out := map[capability.ID]Verdict{}
	for _, in := range inputFields() {
		out[in.id] = g.field(in.field)
	}
	out[capability.InputContainerName] = all(g.field("Container.Name"), g.nameSource())
	out[capability.InputContainerState] = all(g.field("Container.State"), g.stateSource(s))
	out[capability.InputPodPID] = all(g.field("PodSandbox.Pid"), g.podPID(c))
	out[capability.ExtraContainerStatus] = anyWay(
		out[capability.InputContainerCreatedAt], out[capability.InputContainerStartedAt], out[capability.InputContainerFinishedAt],
		out[capability.InputContainerExitCode], out[capability.InputContainerStatusReason], out[capability.InputContainerStatusMessage],
	)
	for part, field := range resourceFields() {
		id, err := capability.Parse("INPUT_LINUX_" + part)
		if err != nil {
			continue
		}
		out[id] = all(g.field("LinuxContainer.Resources"), g.resource(field), c.everSet(field))
	}
	out[capability.InputSyncExitedContainers] = g.listsExited()
	filled := g.updateRequest()
	out[capability.InputUpdateLinuxResources] = all(pick(filled, "LinuxMemory.Limit", "the conversion of CRI resources"), pick(filled, "LinuxCPU.Shares", "the conversion of CRI resources"))
	out[capability.InputUpdateLinuxUnified] = pick(filled, "LinuxResources.Unified", "the conversion of CRI resources")
	out[capability.InputUpdateLinuxMemorySwap] = pick(filled, "LinuxMemory.Swap", "the conversion of CRI resources")
	return out
}

// resource tells whether a field of the container's resources is copied from
// its OCI spec.
func (g *glue) resource(field string) Verdict {
	get := g.cri.method("criContainer.GetLinuxResources")
	if get == nil {
		return unknown("criContainer.GetLinuxResources is not where it used to be")
	}
	if len(callsOf(get.decl.Body, "FromOCILinuxResources")) == 0 {
		return unknown("%s does not call FromOCILinuxResources", get.name)
	}
	return pick(g.lib.inputs, field, "FromOCILinuxResources")
}

// nameSource is partial if the only source of a container's name is the label
// that the kubelet sets.
func (g *glue) nameSource() Verdict {
	const kubeletLabel, kubeletConst = "io.kubernetes.container.name", "KubernetesContainerNameLabel"
	get := g.cri.method("criContainer.GetName")
	if get == nil {
		return unknown("criContainer.GetName is not where it used to be")
	}
	var keys []string
	others := 0
	ast.Inspect(get.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if lit, ok := n.Index.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				keys = append(keys, strings.Trim(lit.Value, "\"`"))
			} else {
				keys = append(keys, selected(n.Index))
			}
		case *ast.CallExpr:
			if strings.HasPrefix(calledName(n), "GetName") {
				others++
			}
		}
		return true
	})
	switch {
	case len(keys) == 0 && others == 0:
		return unknown("%s has no source that is understood", get.name)
	case others > 0:
		return yes(get.name, get.where())
	}
	for _, key := range keys {
		if key != kubeletLabel && !strings.HasSuffix(key, kubeletConst) {
			return yes(get.name, get.where())
		}
	}
	return partial(get.name, get.where())
}

// stateSource is partial if there is an event at which the state is not the
// one the container is in: after its exit, or after its start.
func (g *glue) stateSource(s *server) Verdict {
	get := g.cri.method("criContainer.GetStatus")
	old := get == nil
	if old {
		get = g.cri.method("criContainer.GetState")
	}
	if get == nil {
		return unknown("neither criContainer.GetStatus nor GetState is where it used to be")
	}
	v := unknown("%s has no case for a container that has exited", get.name)
	ast.Inspect(get.decl.Body, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok || !clauseNames(clause, "EXITED", "Stopped") {
			return true
		}
		sets := old && len(clause.Body) > 0
		for _, u := range get.uses {
			if u.field == "ContainerStatus.State" && u.write && trail(clause, u.node) != nil {
				sets = true
			}
		}
		v = yes(get.name, g.cri.where(clause))
		if !sets {
			v.State = capability.Partial
		}
		return false
	})
	if g.places.runtime == "cri-o" {
		return all(v, s.refreshesStateAfterStart())
	}
	return v
}

// clauseNames tells whether a case names a constant that ends with one of some words.
func clauseNames(clause *ast.CaseClause, words ...string) bool {
	for _, e := range clause.List {
		for _, w := range words {
			if strings.HasSuffix(selected(e), w) {
				return true
			}
		}
	}
	return false
}

// podPID is partial if the process whose PID it is does not exist by default.
func (g *glue) podPID(c *configs) Verdict {
	wrap := g.cri.method("nriPodSandbox")
	if g.places.runtime != "cri-o" {
		return yes("")
	}
	if wrap == nil || len(callsOf(wrap.decl.Body, "InfraContainer")) == 0 {
		return unknown("nriPodSandbox, which knows the infra container, is not where it used to be")
	}
	drop := c.defaultOf("DropInfraCtr")
	switch {
	case drop.Why != "":
		return unknown("%s", drop.Why)
	case drop.Value == "true":
		return partial(wrap.name, wrap.where(), drop.At)
	}
	return yes(wrap.name, wrap.where())
}

// listsExited tells whether containers that have exited are part of what a
// plugin is synchronized with.
func (g *glue) listsExited() Verdict {
	var list *fn
	for _, api := range []string{"API", "nriAPI"} {
		if f := g.cri.method(api + ".ListContainers"); f != nil {
			list = f
		}
	}
	if list == nil {
		return unknown("ListContainers is not where it used to be")
	}
	adds := callsOf(list.decl.Body, "append")
	if len(adds) == 0 {
		return unknown("%s appends nothing", list.name)
	}
	v := yes(list.name, list.where())
	ast.Inspect(list.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if trail(n, adds[0]) != nil {
				v = unknown("%s has a condition that is not understood", list.name)
			}
		case *ast.SwitchStmt:
			v = g.exitedClause(list, n, adds[0])
			return false
		}
		return true
	})
	return v
}

// exitedClause tells what a switch over the states of containers does with
// those that have exited: skip them by a case of their own, or by having cases
// for others only.
func (g *glue) exitedClause(list *fn, sw *ast.SwitchStmt, add ast.Node) Verdict {
	for _, s := range sw.Body.List {
		clause := s.(*ast.CaseClause)
		if !clauseNames(clause, "EXITED", "Stopped") {
			continue
		}
		for _, s := range clause.Body {
			if b, ok := s.(*ast.BranchStmt); ok && b.Tok == token.CONTINUE {
				return no(list.name, g.cri.where(clause))
			}
		}
		return yes(list.name, g.cri.where(clause))
	}
	for _, s := range sw.Body.List {
		clause := s.(*ast.CaseClause)
		if trail(clause, add) != nil && len(clause.List) > 0 && clauseNames(clause, "Running", "RUNNING") {
			return no(list.name, g.cri.where(clause))
		}
	}
	return unknown("%s has no case for containers that have exited", list.name)
}

// updateRequest returns the fields of the resources of an update request that
// a plugin gets to see.
func (g *glue) updateRequest() map[string]Verdict {
	if _, _, ok := find(g.functions(), "UpdateContainerRequest.LinuxResources", true); !ok {
		return nil
	}
	for _, api := range []string{"API", "nriAPI"} {
		for _, m := range g.cri.methods(api) {
			for _, call := range callsOf(m.decl.Body, "UpdateContainer") {
				if len(call.Args) == 0 {
					continue
				}
				conversion, ok := call.Args[len(call.Args)-1].(*ast.CallExpr)
				if !ok {
					continue
				}
				name := calledName(conversion)
				if f := g.cri.method(name); f != nil {
					return fieldsFilled(f)
				}
				if name == "FromCRILinuxResources" {
					return g.lib.fromCRI
				}
			}
		}
	}
	return nil
}
