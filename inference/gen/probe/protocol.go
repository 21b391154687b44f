package probe

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// protocol decides what the library alone decides besides adjustments.
func (l *library) protocol() map[capability.ID]Verdict {
	return map[capability.ID]Verdict{
		capability.SubscribeUpdatePodSandbox:               l.events()["UPDATE_POD_SANDBOX"],
		capability.SubscribePostUpdatePodSandbox:           l.events()["POST_UPDATE_POD_SANDBOX"],
		capability.SubscribeValidateContainerAdjustment:    l.events()["VALIDATE_CONTAINER_ADJUSTMENT"],
		capability.ProtoCapabilityAdvertisement:            l.sent("ConfigureRequest", "Capabilities"),
		capability.ProtoConfigureTimeouts:                  all(l.sent("ConfigureRequest", "RegistrationTimeout"), l.sent("ConfigureRequest", "RequestTimeout")),
		capability.ProtoNRIVersion:                         l.sent("ConfigureRequest", "NRIVersion"),
		capability.InputPluginConfig:                       l.sent("ConfigureRequest", "Config"),
		capability.ProtoSynchronizeSplit:                   l.sent("SynchronizeRequest", "More"),
		capability.InputValidationOwners:                   l.sent("ValidateContainerAdjustmentRequest", "Owners"),
		capability.ProtoFailurePolicy:                      l.reads("ConfigureResponse", "FailurePolicy"),
		capability.ProtoDedicatedEventRpcs:                 l.dedicated(),
		capability.ProtoShutdown:                           l.shutdown(),
		capability.ProtoWASMPlugins:                        l.wasm(),
		capability.ProtoSynchronizePreinstalled:            l.synchronizesPreinstalled(),
		capability.ProtoPreinstalledPluginFailureTolerated: l.toleratesFailure(),
		capability.EventValidateContainerAdjustment:        l.validates(),
	}
}

// everything returns all functions of the adaptation.
func (l *library) everything() []*fn {
	var out []*fn
	for _, f := range l.adaptation.byName {
		out = append(out, f)
	}
	sortFuncs(out)
	return out
}

// sent tells whether the adaptation fills in a field of a message that it
// sends to plugins.
func (l *library) sent(message, field string) Verdict {
	if v := l.proto(message + "." + field); v.State != capability.Yes {
		return v
	}
	fns := l.everything()
	reached := fns // and the methods of the messages that they call
	for _, f := range fns {
		reached = append(reached, f.reach(l.api)[1:]...)
	}
	if u, f, ok := find(reached, message+"."+field, true); ok {
		return yes(f.name, f.code.where(u.node))
	}
	for _, f := range fns {
		if lits := literals(f.decl.Body, message); len(lits) > 0 {
			return l.adaptation.absent(f.name, lits[0])
		}
	}
	return unknown("the adaptation makes no %s", message)
}

// reads tells whether the adaptation reads a field of a plugin's answer.
func (l *library) reads(message, field string) Verdict {
	if v := l.proto(message + "." + field); v.State != capability.Yes {
		return v
	}
	if u, f, ok := find(l.everything(), message+"."+field, false); ok {
		return yes(f.name, f.code.where(u.node))
	}
	return l.adaptation.absent("package adaptation")
}

// dedicated tells whether pod and container events have calls of their own.
func (l *library) dedicated() Verdict {
	iface, _ := l.api.Types.Scope().Lookup("PluginService").(*types.TypeName)
	if iface == nil {
		return unknown("there is no interface PluginService")
	}
	methods, ok := iface.Type().Underlying().(*types.Interface)
	if !ok {
		return unknown("PluginService is no interface")
	}
	for m := range methods.ExplicitMethods() {
		if m.Name() != "RunPodSandbox" {
			continue
		}
		// A pre-v0.12 adaptation calls StateChange instead, so the call counts.
		for _, f := range l.everything() {
			for _, call := range callsOf(f.decl.Body, "RunPodSandbox") {
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && selected(s.X) != "plugin" {
					return yes(f.name, f.code.where(call))
				}
			}
		}
		return unknown("PluginService.RunPodSandbox is called by nobody")
	}
	return l.api.absent("interface PluginService", posNode(iface.Pos()))
}

// shutdown tells whether the adaptation ever calls Shutdown of a plugin.
func (l *library) shutdown() Verdict {
	for _, f := range l.everything() {
		if calls := callsOf(f.decl.Body, "Shutdown"); len(calls) > 0 {
			return yes(f.name, f.code.where(calls[0]))
		}
	}
	stop := l.adaptation.method("plugin.stop")
	if stop == nil {
		return unknown("plugin.stop is not where it used to be")
	}
	return l.adaptation.absent(stop.name, stop.decl)
}

// wasm tells whether pre-installed plugins may be WebAssembly.
func (l *library) wasm() Verdict {
	launch := l.adaptation.method("newLaunchedPlugin")
	if launch == nil {
		launch = l.adaptation.method("Adaptation.newLaunchedPlugin")
	}
	if launch == nil {
		return unknown("newLaunchedPlugin is not where it used to be")
	}
	for _, f := range launch.reach() {
		if at := mentionsPart(f.decl.Body, "wasm"); at != nil {
			return yes(f.name, f.code.where(at))
		}
	}
	return l.adaptation.absent(launch.name, launch.decl)
}

// synchronizesPreinstalled tells whether starting pre-installed plugins
// synchronizes them.
func (l *library) synchronizesPreinstalled() Verdict {
	start := l.adaptation.method("Adaptation.startPlugins")
	if start == nil {
		return unknown("Adaptation.startPlugins is not where it used to be")
	}
	for _, f := range start.reach() {
		if calls := callsOf(f.decl.Body, "syncFn"); len(calls) > 0 && callsOf(start.decl.Body, "synchronize") != nil {
			return yes(f.name, f.code.where(calls[0]))
		}
	}
	if !slices.ContainsFunc(l.everything(), func(f *fn) bool { return len(callsOf(f.decl.Body, "syncFn")) > 0 }) {
		return unknown("nothing in the adaptation calls syncFn")
	}
	return l.adaptation.absent(start.name, start.decl)
}

// toleratesFailure tells whether a pre-installed plugin that fails to start
// leaves the others alone: whether the loop over their names goes on.
func (l *library) toleratesFailure() Verdict {
	start := l.adaptation.method("Adaptation.startPlugins")
	if start == nil {
		return unknown("Adaptation.startPlugins is not where it used to be")
	}
	var out *Verdict
	ast.Inspect(start.decl.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || len(callsOf(loop.Body, "newLaunchedPlugin")) == 0 {
			return true
		}
		returns, goesOn := ast.Node(nil), false
		for _, s := range loop.Body.List {
			cond, ok := s.(*ast.IfStmt)
			if !ok {
				continue
			}
			for _, s := range cond.Body.List {
				switch s := s.(type) {
				case *ast.ReturnStmt:
					returns = s
				case *ast.BranchStmt:
					goesOn = true
				}
			}
		}
		v := unknown("%s neither returns nor goes on when a plugin fails", start.name)
		switch {
		case returns != nil:
			v = no(start.name, l.adaptation.where(returns))
		case goesOn:
			v = yes(start.name, l.adaptation.where(loop))
		}
		out = &v
		return false
	})
	if out == nil {
		return unknown("%s has no loop that launches plugins", start.name)
	}
	return *out
}

// validates tells whether validators are called before a container is created.
func (l *library) validates() Verdict {
	create := l.adaptation.method("Adaptation.CreateContainer")
	if create == nil {
		return unknown("Adaptation.CreateContainer is not where it used to be")
	}
	if v := l.events()["VALIDATE_CONTAINER_ADJUSTMENT"]; v.State != capability.Yes {
		if v.State == capability.No {
			v.Effect = capability.Refused
		}
		return v
	}
	for _, f := range create.reach() {
		if calls := callsOf(f.decl.Body, "ValidateContainerAdjustment"); len(calls) > 0 {
			return yes(f.name, f.code.where(calls[0]))
		}
	}
	return unknown("the event can be subscribed to, but %s is not seen to call validators", create.name)
}
