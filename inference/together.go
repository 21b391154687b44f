package inference

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// Pair is a kubelet and the container runtime that it uses. It implements
// [capability.Provider]: each of the two answers for what it decides about, and
// what needs both is there only if both have it. That is the case for
// DEVICE_CDI_DEVICES: the kubelet hands the names of the devices on in the CRI
// request, and the container runtime has to inject them.
type Pair struct {
	Kubelet Support
	Runtime Support
}

// NewPair finds the kubelet and the container runtime among what was asked for.
// It is an error if it is anything but one of each.
func NewPair(supports []Support) (Pair, error) {
	if len(supports) != 2 || FamilyOf(supports[0].Runtime.Name) == FamilyOf(supports[1].Runtime.Name) {
		return Pair{}, errors.New("what runs together is one kubelet and one container runtime, a release of each, such as kubelet@1.32.0 and containerd@2.1.3")
	}
	if FamilyOf(supports[0].Runtime.Name) == capability.Kubelet {
		return Pair{supports[0], supports[1]}, nil
	}
	return Pair{supports[1], supports[0]}, nil
}

// Answer tells what the two do about a capability.
func (p Pair) Answer(id capability.ID) capability.Answer {
	if id.Kind().Family() != capability.Kubelet {
		return p.Runtime.Answer(id)
	}
	a := p.Kubelet.Answer(id)
	if id == capability.DeviceCDIDevices {
		return both(a, p.cdi())
	}
	return a
}

// both is the answer where two have to play their part: what lacks decides, and
// what is not known is not known.
func both(a, b capability.Answer) capability.Answer {
	for _, state := range []capability.State{capability.No, capability.Unknown} {
		for _, x := range []capability.Answer{a, b} {
			if x.State == state {
				return x
			}
		}
	}
	out := a
	if b.State == capability.Conditional {
		out.State, out.Effect, out.Consequence = b.State, b.Effect, b.Consequence
		if a.Status() == capability.StatusConditional {
			out.Effect, out.Consequence = a.Effect, a.Consequence
		}
	}
	out.Settings = slices.Concat(a.Settings, b.Settings)
	out.References = slices.Concat(a.References, b.References)
	return out
}

// The releases from which on the container runtimes inject the CDI devices of
// a CRI request.
var (
	containerdCDIField   = Version{Major: 1, Minor: 7, Patch: 2}
	containerdCDIAlways  = Version{Major: 2, Minor: 4}
	containerdAnnotation = Version{Major: 1, Minor: 7}
	crioCDIField         = Version{Major: 1, Minor: 28}
	crioAnnotation       = Version{Major: 1, Minor: 26}
)

// cdi tells whether the container runtime injects the CDI devices that the
// kubelet hands on. Kubelets up to 1.31 write them into annotations as well,
// which older runtimes read.
func (p Pair) cdi() capability.Answer {
	s := p.Runtime
	lost := capability.Answer{
		State: capability.No, Effect: capability.Dropped, Origin: "table",
		Consequence: fmt.Sprintf("the kubelet hands the device on, %s drops it: the container starts without the device", s.Runtime.Name),
	}
	v := s.Runtime.Version
	annotated := p.Kubelet.Answer(capability.DeviceCDIViaAnnotations).Status() == capability.StatusOK
	switch {
	case s.Match == NoMatch || v.IsZero():
		return capability.Answer{Note: s.Why}
	case s.Runtime.Name == CRIO && (v.Main || v.Compare(crioCDIField) >= 0):
		return capability.Answer{State: capability.Yes, Origin: "table", References: []string{"cri-o v1.28.0: first release that reads the CDI devices of a CRI request"}}
	case s.Runtime.Name == CRIO && v.Compare(crioAnnotation) < 0:
		return capability.Answer{Note: "what CRI-O before 1.26 does about CDI devices was not read"}
	case s.Runtime.Name == CRIO && annotated:
		return capability.Answer{State: capability.Yes, Origin: "table"}
	case s.Runtime.Name == CRIO:
		return lost
	case v.Compare(containerdCDIAlways) >= 0:
		return capability.Answer{State: capability.Yes, Origin: "table"}
	case s.Row == nil, v.Compare(containerdCDIField) < 0 && !(annotated && v.Compare(containerdAnnotation) >= 0):
		lost.References = []string{"containerd v1.7.2: first release that reads the CDI devices of a CRI request"}
		return lost
	}
	lost.State = capability.Conditional
	lost.Settings = []capability.Setting{s.table.condition("cri.enable_cdi=true", s.release(), s.values)}
	return lost
}

// EvaluateTogether checks a plugin's needs against a kubelet and a container
// runtime as one.
func EvaluateTogether(need capability.Needs, p Pair) Group {
	return Group{[]Outcome{{Support: p.Kubelet, Below: &p.Runtime, Report: capability.Check(need, p)}}}
}
