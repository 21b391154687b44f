package capability

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ID is the number of a capability. Numbers are stable; see the package
// comment for their ranges. The zero value is a real capability of the draft
// enum (ADJUST_POSIX_RLIMITS), so an ID says nothing about being set.
type ID uint16

// FirstOwn is the first number that is this project's own. Numbers below it
// belong to the draft Capability enum of containerd/nri#265.
const FirstOwn ID = 256

// Kind is the first part of a capability's name; it tells what sort of thing
// the capability is.
type Kind string

// The kinds, in the order in which they are usually shown.
const (
	Adjust    Kind = "ADJUST"    // a change to a container at creation
	Update    Kind = "UPDATE"    // a change to a container later on
	Input     Kind = "INPUT"     // data the plugin is given
	Event     Kind = "EVENT"     // the call really arrives
	Subscribe Kind = "SUBSCRIBE" // a registration with that event bit is accepted
	Proto     Kind = "PROTO"     // behaviour of the protocol
	Extra     Kind = "EXTRA"     // EXTRA_CONTAINER_STATUS, named so by the draft
	Device    Kind = "DEVICE"    // what the kubelet does for a device plugin
	PodRes    Kind = "PODRES"    // the kubelet's pod resources API
	Pods      Kind = "PODS"      // the kubelet's pods API
	DRA       Kind = "DRA"       // what the kubelet does for a DRA driver
)

// Kinds returns all kinds in display order.
func Kinds() []Kind {
	return []Kind{Adjust, Update, Input, Extra, Event, Subscribe, Proto, Device, PodRes, Pods, DRA}
}

// Family tells who decides about a capability.
type Family string

// The families.
const (
	NRI     Family = "nri"     // the container runtime: containerd, CRI-O
	Kubelet Family = "kubelet" // the kubelet
)

// Family returns the family of the capabilities of a kind, empty for a kind
// that does not exist.
func (k Kind) Family() Family {
	switch k {
	case Adjust, Update, Input, Extra, Event, Subscribe, Proto:
		return NRI
	case Device, PodRes, Pods, DRA:
		return Kubelet
	}
	return ""
}

type namedID struct {
	id   ID
	name string
}

// All returns every known capability, sorted by name.
func All() []ID {
	ids := make([]ID, len(names))
	for i, n := range names {
		ids[i] = n.id
	}
	return ids
}

// OfFamily returns the known capabilities of a family, sorted by name.
func OfFamily(f Family) []ID {
	var ids []ID
	for _, n := range names {
		if prefix, _, _ := strings.Cut(n.name, "_"); Kind(prefix).Family() == f {
			ids = append(ids, n.id)
		}
	}
	return ids
}

// Known tells whether id is in the catalogue.
func (id ID) Known() bool {
	_, ok := id.lookup()
	return ok
}

// Draft tells whether the number of id belongs to the draft enum of
// containerd/nri#265, so that a runtime may advertise it.
func (id ID) Draft() bool { return id < FirstOwn }

func (id ID) lookup() (string, bool) {
	i, ok := slices.BinarySearchFunc(numbers[:], id, func(n uint16, id ID) int {
		return cmp.Compare(names[n].id, id)
	})
	if !ok {
		return "", false
	}
	return names[numbers[i]].name, true
}

// String returns the name of the capability, such as "ADJUST_CDI_DEVICES", or
// "UNKNOWN_41" for a number that is not in the catalogue.
func (id ID) String() string {
	if name, ok := id.lookup(); ok {
		return name
	}
	return fmt.Sprintf("UNKNOWN_%d", uint16(id))
}

// Kind returns the kind of the capability, empty for an unknown number.
func (id ID) Kind() Kind {
	name, ok := id.lookup()
	if !ok {
		return ""
	}
	prefix, _, _ := strings.Cut(name, "_")
	return Kind(prefix)
}

// MarshalText returns the name of the capability; an unknown number is written
// as UNKNOWN_n.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText sets id as [Parse] does.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Parse returns the capability with the given name. Case does not matter and
// "-" stands for "_". The error for an unknown name is an [UnknownNameError].
func Parse(name string) (ID, error) {
	want := canonicalName(name)
	i, ok := slices.BinarySearchFunc(names[:], want, func(n namedID, want string) int {
		return cmp.Compare(n.name, want)
	})
	if !ok {
		return 0, &UnknownNameError{Name: name, Near: nearest(want, 3)}
	}
	return names[i].id, nil
}

// Match returns the capabilities whose names match a pattern in which "*"
// stands for any run of characters and "?" for one, sorted by name. A pattern
// that is malformed or matches nothing is an error; without wildcards it is
// the one of [Parse].
func Match(pattern string) ([]ID, error) {
	if !strings.ContainsAny(pattern, "*?[\\") {
		id, err := Parse(pattern)
		if err != nil {
			return nil, err
		}
		return []ID{id}, nil
	}
	want := canonicalName(pattern)
	var ids []ID
	for _, n := range names {
		ok, err := path.Match(want, n.name)
		if err != nil {
			return nil, fmt.Errorf("invalid capability pattern %q: use * and ? as wildcards", pattern)
		}
		if ok {
			ids = append(ids, n.id)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no capability matches %q: patterns look like 'ADJUST_LINUX_*'", pattern)
	}
	return ids, nil
}

func canonicalName(name string) string {
	return strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(name)), "-", "_")
}

// UnknownNameError reports a capability name that is not in the catalogue.
type UnknownNameError struct {
	Name string   // as it was given
	Near []string // the nearest names, best first
}

func (e *UnknownNameError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("unknown capability %q", e.Name)
	}
	return fmt.Sprintf("unknown capability %q: did you mean %s?", e.Name, strings.Join(e.Near, ", "))
}
