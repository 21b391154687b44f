package inference

import (
	"fmt"

	"github.com/nri-compat/nri-compat/capability"
)

// Observation is what was learnt of a runtime at first hand: from the NRI
// handshake, from its executable, or from both.
type Observation struct {
	// Name and Version are what the runtime sent in Configure; both empty if
	// nobody asked it.
	Name, Version string
	// NRIVersion is the NRI version it sent; NRI v0.12.0 and later do.
	NRIVersion string
	// Timeouts tells that it sent its timeouts, as NRI v0.7.0 and later do.
	Timeouts bool
	// Advertised are the capabilities it sent, as drafted in containerd/nri#265;
	// nil if it sent none.
	Advertised *capability.Set
	// Binary is what its executable says; nil if that was not read.
	Binary *Binary
}

// Binary is the build information of a runtime's executable.
type Binary struct {
	Path string
	// Name and Version are those of the runtime in it, such as "containerd" and
	// "v2.1.5"; Version is empty if the build does not say.
	Name, Version string
	// Fork is the module that stands in for upstream's, such as
	// "github.com/k3s-io/containerd/v2"; empty for upstream's own.
	Fork string
	// NRI is the version of the NRI module, with "v"; empty if unknown.
	NRI string
}

// evidence is what a [Support] rests on besides a row of the table.
type evidence struct {
	nri, nriOrigin string
	nriLow         string // with nri: the two ends of what the handshake shows
	advertised     *capability.Set
}

// Observe finds what is known of a runtime that was seen at first hand. What
// the runtime advertises wins over the NRI version it reports, that over its
// executable, that over the table's row for its name and version; where two of
// them contradict each other, Support.Contradictions says so. A runtime of
// which nothing is known gives a Support without a row, not an error.
func (t *Table) Observe(o Observation, values Values) Support {
	sent, sentErr := NewRuntime(o.Name, o.Version)
	var built Runtime
	builtErr := fmt.Errorf("no executable was read")
	if o.Binary != nil && o.Binary.Version != "" {
		built, builtErr = NewRuntime(o.Binary.Name, o.Binary.Version)
	}
	r := sent
	if builtErr == nil && (sentErr != nil || built.Version != sent.Version) {
		r = built
	}
	if sentErr != nil && builtErr != nil {
		r = Runtime{Name: o.Name}
		if canonical, ok := canonicalRuntime(o.Name); ok {
			r.Name = canonical
		}
	}
	s := Support{Runtime: r, Match: NoMatch, table: t, values: values}
	switch {
	case sentErr == nil || builtErr == nil:
		s = t.Lookup(r, values)
	case o.Name != "":
		s.Why = sentErr.Error()
	default:
		s.Why = "neither the runtime nor its executable says which release it is"
	}
	s.observed = true
	s.seen = t.weigh(&s, o)
	if sentErr == nil && builtErr == nil && sent.Version != built.Version {
		s.contradict("the runtime says it is %s, its executable says %s", sent.Version, built.Version)
	}
	if o.Binary != nil && o.Binary.Fork != "" && s.Match == Exact {
		s.Match = VendorBuild
		s.Why = fmt.Sprintf("answered as %s %s; it was built from %s", r.Name, s.Row.Version, o.Binary.Fork)
	}
	return s
}

func (s *Support) contradict(format string, args ...any) {
	s.Contradictions = append(s.Contradictions, fmt.Sprintf(format, args...))
}

// weigh picks the NRI version by the best evidence and notes what contradicts
// it.
func (t *Table) weigh(s *Support, o Observation) evidence {
	var e evidence
	claims := []struct{ version, origin string }{{o.NRIVersion, "reported"}}
	if o.Binary != nil {
		claims = append(claims, struct{ version, origin string }{o.Binary.NRI, "binary"})
	}
	if s.Row != nil {
		claims = append(claims, struct{ version, origin string }{s.Row.NRI, "table"})
	}
	for _, c := range claims {
		v, err := ParseNRIVersion(c.version)
		if err != nil {
			continue
		}
		switch {
		case e.nri == "":
			e.nri, e.nriOrigin = v.String(), c.origin
		case e.nri != v.String():
			s.contradict("NRI %s (%s), but %s (%s)", e.nri, e.nriOrigin, v, c.origin)
		}
	}
	if e.nri == "" && o.Name != "" {
		// The handshake itself brackets the version.
		e.nriLow, e.nri, e.nriOrigin = "v0.2.0", "v0.6.1", "handshake"
		if o.Timeouts {
			e.nriLow, e.nri = "v0.7.0", "v0.11.0"
		}
	}
	if o.Advertised != nil {
		e.advertised = o.Advertised
		if s.Match == NoMatch {
			s.Match = Advertised
		}
		t.checkAdvertised(s, *o.Advertised)
	}
	return e
}

// checkAdvertised notes what a runtime advertises although its row says it
// does not work.
func (t *Table) checkAdvertised(s *Support, set capability.Set) {
	if s.Row == nil {
		return
	}
	for _, id := range set.DraftOnly().IDs() {
		cell, ok := t.cell(id, s.Row.Runtime, s.Row.Version)
		if ok && (cell.State == capability.No || cell.State == capability.Harmful) {
			s.contradict("the runtime advertises %s, of which the table says %s", id, cell.State)
		}
	}
}

// seenAnswer answers from what was seen at first hand, where that knows more
// or other than the row; ok is false where the row answers.
func (s Support) seenAnswer(id capability.ID, row capability.Answer) (capability.Answer, bool) {
	if set := s.seen.advertised; set != nil && id.Draft() && id.Known() && row.State != capability.Harmful {
		a := capability.Answer{State: capability.Yes, Origin: "advertised", Bugs: row.Bugs}
		if !set.Has(id) {
			e, _ := capability.Lookup(id)
			a.State, a.Effect = capability.No, e.Effect
		}
		return a, true
	}
	if s.seen.nri == "" || s.Row != nil && s.seen.nri == s.Row.NRI {
		return row, false
	}
	high := libraryAnswer(s.seen.nri, id)
	if s.seen.nriLow != "" {
		if low := libraryAnswer(s.seen.nriLow, id); low.State != high.State {
			high = capability.Answer{Note: "the handshake shows no more than NRI " + s.seen.nriLow + " to " + s.seen.nri}
		}
	}
	if s.Row == nil {
		return high, true
	}
	// A build with another NRI than its release: what the library decides
	// follows the library, the rest only where both libraries agree.
	if expected := libraryAnswer(s.Row.NRI, id); expected.State == high.State {
		return row, false
	}
	if high.State == capability.Unknown {
		high.Note = fmt.Sprintf("its NRI is %s, that of the release is %s", s.seen.nri, s.Row.NRI)
	}
	return high, true
}

func libraryAnswer(version string, id capability.ID) capability.Answer {
	v, err := ParseNRIVersion(version)
	if err != nil {
		return capability.Answer{}
	}
	return Library{v}.Answer(id)
}
