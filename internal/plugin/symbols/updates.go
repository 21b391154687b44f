package symbols

import "github.com/nri-compat/nri-compat/capability"

// UpdatesResult tells which result of a handler of the stub is a list of
// updates, counted from 0; -1 for a handler that returns none.
func UpdatesResult(handler string) int {
	switch handler {
	case "CreateContainer":
		return 1
	case "Synchronize", "StopContainer", "UpdateContainer":
		return 0
	}
	return -1
}

// UpdatesRequirement returns what is shown by the handler at ev returning
// updates; UpdatesResult must know the handler.
func UpdatesRequirement(handler Handler, source capability.Source, ev capability.Evidence) capability.Requirement {
	ev.Kind, ev.Symbol, ev.Detail = "handler", "stub."+handler.Interface, "returns updates"
	r := capability.Requirement{Source: source, Evidence: []capability.Evidence{ev}}
	switch handler.Name {
	case "Synchronize":
		r.Capability = capability.UpdateOnSynchronize
	case "CreateContainer":
		r.Capability = capability.UpdateOtherContainersOnCreate
	case "StopContainer":
		r.Capability = capability.UpdateOtherContainersOnStop
	case "UpdateContainer":
		r.Capability = capability.UpdateOtherContainersOnUpdate
		r.Unproven, r.Note = true, "returns updates, but whether of another container than the one being updated is not known"
	}
	return r
}

// UnsolicitedRequirement returns what is shown by a call of the stub's
// UpdateContainers, at ev, that the named handler makes before it returns.
func UnsolicitedRequirement(handler string, source capability.Source, ev capability.Evidence) capability.Requirement {
	ev.Kind, ev.Symbol, ev.Detail = string(Call), UpdateContainers, "reached from "+handler
	return capability.Requirement{Capability: capability.UpdateUnsolicitedFromHandler, Source: source, Evidence: []capability.Evidence{ev}}
}

// UpdateContainers is the symbol of the stub's method for updates that nobody
// asked for.
const UpdateContainers = "stub.Stub.UpdateContainers"
