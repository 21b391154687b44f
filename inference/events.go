package inference

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Event is one event a plugin can subscribe to.
type Event struct {
	// Name is the name of the call, such as "ValidateContainerAdjustment".
	Name string
	// Mask is its bit in the event mask that Configure returns.
	Mask uint32
	// Delivered is the capability that the call really arrives.
	Delivered capability.ID
	// Accepted is the capability that a registration with the bit is accepted;
	// HasAccepted is false for the first eleven events, which every NRI
	// version accepts.
	Accepted    capability.ID
	HasAccepted bool
}

// Events returns the events of NRI up to v0.12.5, in the order of their bits.
// Event n of the protocol is bit n-1.
func Events() []Event {
	return []Event{
		{Name: "RunPodSandbox", Mask: 1 << 0, Delivered: capability.EventRunPodSandbox},
		{Name: "StopPodSandbox", Mask: 1 << 1, Delivered: capability.EventStopPodSandbox},
		{Name: "RemovePodSandbox", Mask: 1 << 2, Delivered: capability.EventRemovePodSandbox},
		{Name: "CreateContainer", Mask: 1 << 3, Delivered: capability.EventCreateContainer},
		{Name: "PostCreateContainer", Mask: 1 << 4, Delivered: capability.EventPostCreateContainer},
		{Name: "StartContainer", Mask: 1 << 5, Delivered: capability.EventStartContainer},
		{Name: "PostStartContainer", Mask: 1 << 6, Delivered: capability.EventPostStartContainer},
		{Name: "UpdateContainer", Mask: 1 << 7, Delivered: capability.EventUpdateContainer},
		{Name: "PostUpdateContainer", Mask: 1 << 8, Delivered: capability.EventPostUpdateContainer},
		{Name: "StopContainer", Mask: 1 << 9, Delivered: capability.EventStopContainer},
		{Name: "RemoveContainer", Mask: 1 << 10, Delivered: capability.EventRemoveContainer},
		{Name: "UpdatePodSandbox", Mask: 1 << 11, Delivered: capability.EventUpdatePodSandbox,
			Accepted: capability.SubscribeUpdatePodSandbox, HasAccepted: true},
		{Name: "PostUpdatePodSandbox", Mask: 1 << 12, Delivered: capability.EventPostUpdatePodSandbox,
			Accepted: capability.SubscribePostUpdatePodSandbox, HasAccepted: true},
		{Name: "ValidateContainerAdjustment", Mask: 1 << 13, Delivered: capability.EventValidateContainerAdjustment,
			Accepted: capability.SubscribeValidateContainerAdjustment, HasAccepted: true},
	}
}

// EventMask is a set of events as a plugin returns it from Configure and as a
// runtime logs it when it refuses one ("invalid plugin events: 0x3800"). Zero
// means every event the runtime knows.
type EventMask uint32

// ParseEventMask reads a mask in hexadecimal with "0x", as in a runtime's log.
func ParseEventMask(s string) (EventMask, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(s)), "0x")
	n, err := strconv.ParseUint(digits, 16, 32)
	if !ok || err != nil {
		return 0, fmt.Errorf("invalid event mask %q: want up to 8 hexadecimal digits after 0x, such as 0x3800", shorten(s))
	}
	return EventMask(n), nil
}

// String returns the mask as a runtime logs it.
func (m EventMask) String() string { return fmt.Sprintf("0x%x", uint32(m)) }

// Events returns the known events of the mask, and the bits that no NRI
// version up to v0.12.5 knows.
func (m EventMask) Events() (known []Event, unknown EventMask) {
	unknown = m
	for _, e := range Events() {
		if uint32(m)&e.Mask != 0 {
			known = append(known, e)
			unknown &^= EventMask(e.Mask)
		}
	}
	return known, unknown
}

// Needs returns what a registration with the mask depends on.
func (m EventMask) Needs() []capability.Requirement {
	known, _ := m.Events()
	var out []capability.Requirement
	for _, e := range known {
		if e.HasAccepted {
			out = append(out, capability.Requirement{Capability: e.Accepted})
		}
	}
	return out
}
