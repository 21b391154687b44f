package probe

import "github.com/nri-compat/nri-compat/capability"

// events decides which events arrive.
func (s *server) events(relays, unclear map[string][]string, lib *Library) map[capability.ID]Verdict {
	out := map[capability.ID]Verdict{}
	for _, e := range []struct {
		id       capability.ID
		event    string // the call of the adaptation
		handlers []string
		bit      string // the event that must be subscribed to, if not all know it
	}{
		{capability.EventRunPodSandbox, "RunPodSandbox", []string{"RunPodSandbox"}, ""},
		{capability.EventUpdatePodSandbox, "UpdatePodSandbox", []string{"UpdatePodSandboxResources"}, "UPDATE_POD_SANDBOX"},
		{capability.EventPostUpdatePodSandbox, "PostUpdatePodSandbox", []string{"UpdatePodSandboxResources"}, "POST_UPDATE_POD_SANDBOX"},
		{capability.EventStopPodSandbox, "StopPodSandbox", []string{"StopPodSandbox"}, ""},
		{capability.EventRemovePodSandbox, "RemovePodSandbox", []string{"RemovePodSandbox"}, ""},
		{capability.EventCreateContainer, "CreateContainer", []string{"CreateContainer"}, ""},
		{capability.EventPostCreateContainer, "PostCreateContainer", []string{"CreateContainer"}, ""},
		{capability.EventStartContainer, "StartContainer", []string{"StartContainer"}, ""},
		{capability.EventPostStartContainer, "PostStartContainer", []string{"StartContainer"}, ""},
		{capability.EventUpdateContainer, "UpdateContainer", []string{"UpdateContainerResources"}, ""},
		{capability.EventPostUpdateContainer, "PostUpdateContainer", []string{"UpdateContainerResources"}, ""},
		{capability.EventStopContainer, "StopContainer", []string{"StopContainer"}, ""},
		{capability.EventStopContainerOnExit, "StopContainer", []string{"handleContainerExit", "handleExit"}, ""},
		{capability.EventRemoveContainer, "RemoveContainer", []string{"RemoveContainer"}, ""},
	} {
		if e.bit != "" {
			if accepted := lib.events[e.bit]; accepted.State != capability.Yes {
				if accepted.State == capability.No {
					accepted.Effect = capability.Refused
				}
				out[e.id] = accepted
				continue
			}
		}
		if relays == nil {
			out[e.id] = unknown("nothing in the NRI layer is seen to relay an event")
			continue
		}
		out[e.id] = s.relay(relays[e.event], unclear[e.event], e.handlers...)
	}
	return out
}
