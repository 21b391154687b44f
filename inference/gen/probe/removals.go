package probe

import (
	"go/ast"
	"go/types"

	"github.com/nri-compat/nri-compat/capability"
)

// removals lists the adjustments that are marks for removal in a list or map.
func removals() []adjustment {
	return []adjustment{
		{id: capability.AdjustAnnotationsRemoval, collected: "ContainerAdjustment.Annotations"},
		{id: capability.AdjustMountsRemoval, collected: "ContainerAdjustment.Mounts"},
		{id: capability.AdjustEnvRemoval, collected: "ContainerAdjustment.Env"},
		{id: capability.AdjustLinuxDevicesRemoval, collected: "LinuxContainerAdjustment.Devices"},
		{id: capability.AdjustLinuxNamespacesRemoval, collected: "LinuxContainerAdjustment.Namespaces"},
		{id: capability.AdjustLinuxNetworkDevicesRemoval, collected: "LinuxContainerAdjustment.NetDevices"},
		{id: capability.AdjustLinuxSysctlRemoval, collected: "LinuxContainerAdjustment.Sysctl"},
	}
}

// passesRemovals tells whether a mark for removal of something that no other
// plugin added gets into the collected adjustment.
func passesRemovals(collect *flow, field string) Verdict {
	handlers := collect.handlers[field]
	if len(handlers) == 0 {
		return unknown("%s is not handed to a function of its own", field)
	}
	for _, h := range handlers {
		marked := markedSets(h)
		var found ast.Node
		ast.Inspect(h.decl.Body, func(n ast.Node) bool {
			loop, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			over, _ := loop.X.(*ast.Ident)
			fromMarks := over != nil && marked[h.code.Info.Uses[over]]
			fromParam := over != nil && h.code.Info.Uses[over] == h.param(0) && len(marked) == 0
			for _, u := range h.uses {
				if u.field != field || !u.write {
					continue
				}
				if nodes := trail(loop.Body, u.node); nodes != nil && (fromMarks || fromParam && !conditional(nodes)) {
					found = u.node
				}
			}
			return true
		})
		if found != nil {
			return yes(h.name, h.code.where(found))
		}
		if goesElsewhere(h, marked) {
			return unknown("%s hands what is marked for removal to another function", h.name)
		}
		if len(callsOf(h.decl.Body, "IsMarkedForRemoval")) > 0 {
			return no(h.name, h.where())
		}
	}
	return unknown("%s looks at no mark for removal", handlers[0].name)
}

// goesElsewhere tells whether one of some variables is an argument of a call of
// anything but a builtin function.
func goesElsewhere(f *fn, variables map[types.Object]bool) bool {
	found := false
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if id, ok := call.Fun.(*ast.Ident); ok {
			if _, builtin := f.code.Info.Uses[id].(*types.Builtin); builtin {
				return true
			}
		}
		for _, arg := range call.Args {
			if id, ok := arg.(*ast.Ident); ok && variables[f.code.Info.Uses[id]] {
				found = true
			}
		}
		return true
	})
	return found
}

// markedSets returns the variables in which a function keeps what is marked
// for removal: those filled under a condition that comes from IsMarkedForRemoval.
func markedSets(f *fn) map[types.Object]bool {
	out := map[types.Object]bool{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if !ok || cond.Init == nil || len(callsOf(cond.Init, "IsMarkedForRemoval")) == 0 {
			return true
		}
		ast.Inspect(cond.Body, func(n ast.Node) bool {
			if assign, ok := n.(*ast.AssignStmt); ok {
				for _, l := range assign.Lhs {
					if ix, ok := l.(*ast.IndexExpr); ok {
						if id, ok := ix.X.(*ast.Ident); ok {
							out[f.code.Info.Uses[id]] = true
						}
					}
				}
			}
			return true
		})
		return true
	})
	return out
}

// conditional tells whether a path of nodes leads through an if.
func conditional(nodes []ast.Node) bool {
	for _, n := range nodes {
		if _, ok := n.(*ast.IfStmt); ok {
			return true
		}
	}
	return false
}

// appliesRemovals tells whether the generator looks at marks for removal.
func appliesRemovals(apply *flow, field string) Verdict {
	for _, h := range apply.handlers[field] {
		if calls := callsOf(h.decl.Body, "IsMarkedForRemoval"); len(calls) > 0 {
			return yes(h.name, h.code.where(calls[0]))
		}
	}
	if len(apply.handlers[field]) == 0 {
		return unknown("%s is not handed to a function of the generator", field)
	}
	h := apply.handlers[field][0]
	return h.code.absent(h.name, h.decl)
}
