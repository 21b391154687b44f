package inference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// KubeletObservation is what was learnt of a kubelet at first hand.
type KubeletObservation struct {
	// Claims are the versions that are told of it, the best evidence first.
	Claims []Claim
	// Unknown says, in one sentence, why there is no claim; may be empty.
	Unknown string
	// Served tells of capabilities of its pod resources service what its socket
	// answers; what is not in it was not asked, or the answer did not tell.
	Served map[capability.ID]Served
}

// Claim is a version of a kubelet and what tells it.
type Claim struct {
	// Version is as it was told, such as "v1.30.4+k3s1".
	Version string
	// Origin is what tells it, such as "the kubelet" or "its build information".
	Origin string
}

// Served is what a kubelet was seen to do about a method of its API.
type Served string

// What a kubelet does about a method: it does not know it, it has it switched off
// by a feature gate, or it answers.
const (
	ServedAbsent Served = "absent"
	ServedOff    Served = "off"
	ServedOn     Served = "on"
)

// assumedOrigin is the origin of a value that somebody has said.
const assumedOrigin = "assumed"

// ObserveKubelet finds what is known of a kubelet that was seen at first hand. The
// first claim that is a version decides which release it is. What its socket
// answers decides about the feature gates behind it, unless somebody has said
// their value. Where two kinds of evidence contradict each other,
// Support.Contradictions says so; a capability that the socket answers as the
// release cannot is unknown. A kubelet of which no version is known gives a
// Support without a row, not an error; its Why then says which releases its socket
// leaves.
func (t *Table) ObserveKubelet(o KubeletObservation, values Values) Support {
	s := Support{Runtime: Runtime{Name: Kubelet}, Match: NoMatch, table: t, values: values}
	var contradictions []string
	var first *Claim
	if s.Why = o.Unknown; s.Why == "" {
		s.Why = "nothing tells which release it is"
	}
	for i, c := range o.Claims {
		r, err := NewRuntime(Kubelet, c.Version)
		switch {
		case err != nil && first == nil && i == 0:
			s.Why = err.Error()
		case err != nil:
		case first == nil:
			first = &o.Claims[i]
			s = t.Lookup(r, values)
		case r.Version != s.Runtime.Version:
			contradictions = append(contradictions, fmt.Sprintf("%s says it is %s, %s says %s", first.Origin, s.Runtime.Version, c.Origin, r.Version))
		}
	}
	s.observed, s.Contradictions = true, contradictions
	if lines := t.linesThatServe(o.Served); first == nil && lines != "" {
		s.Why += "; by what its pod resources service answers it is " + lines
	}
	s.values = maps.Clone(values)
	if s.values == nil {
		s.values = Values{}
	}
	for _, id := range slices.Sorted(maps.Keys(o.Served)) {
		s.weighServed(id, o.Served[id])
	}
	return s
}

// weighServed compares what a socket answers with the release and with the feature
// gate, and lets it decide about the gate.
func (s *Support) weighServed(id capability.ID, served Served) {
	if s.Row == nil {
		return
	}
	cell, ok := s.table.cell(id, s.Row.Runtime, s.Row.Version)
	if !ok {
		return
	}
	if !allows(cell, served) {
		s.contradict("%s is %s in the pod resources service of the kubelet, which is not so in %s", id, served, s.Runtime.Version)
		if s.disputed == nil {
			s.disputed = map[capability.ID]string{}
		}
		s.disputed[id] = s.Contradictions[len(s.Contradictions)-1]
		return
	}
	gate, want, gated := strings.Cut(cell.When, "=")
	if !gated || want != "true" {
		return
	}
	found := Value{Value: fmt.Sprint(served == ServedOn), Origin: "its pod resources service"}
	set := s.table.condition(cell.When, s.release(), s.values)
	switch said := s.values[gate]; {
	case said.Origin == assumedOrigin:
		return
	case set.Origin == "default" && set.Value != found.Value:
		s.contradict("%s is %s by default and set nowhere, but the kubelet answers as if it were %s", gate, set.Value, found.Value)
	case set.Known() && set.Value != found.Value:
		s.contradict("%s is %s (%s), but the kubelet answers as if it were %s", gate, set.Value, set.Origin, found.Value)
	}
	s.values[gate] = found
}

// allows tells whether a release can answer so.
func allows(cell Range, served Served) bool {
	switch cell.State {
	case capability.No:
		return served == ServedAbsent
	case capability.Yes, capability.Partial:
		return served == ServedOn
	case capability.Conditional:
		return served == ServedOn || served == ServedOff
	}
	return true // nothing is known of the release
}

// linesThatServe names the release lines of the kubelet that can answer so; empty
// if all of them can, or none.
func (t *Table) linesThatServe(served map[capability.ID]Served) string {
	all := t.Lines(Kubelet)
	var fit []string
	for _, line := range all {
		released := t.line(Kubelet, line).released()
		if len(released) == 0 {
			released = t.line(Kubelet, line).rows
		}
		ok := true
		for id, s := range served {
			cell, known := t.cell(id, Kubelet, released[0].Version)
			ok = ok && (!known || allows(cell, s))
		}
		if ok {
			fit = append(fit, line)
		}
	}
	switch {
	case len(fit) == 0 || len(fit) == len(all):
		return ""
	case len(fit) == 1:
		return fit[0]
	case fit[len(fit)-1] == all[len(all)-1]:
		return fit[0] + " or newer"
	case fit[0] == all[0]:
		return fit[len(fit)-1] + " or older"
	}
	return fit[0] + " to " + fit[len(fit)-1]
}
