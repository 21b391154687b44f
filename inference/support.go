package inference

import (
	"fmt"
	"maps"

	"github.com/nri-compat/nri-compat/capability"
)

// Match tells how the runtime that was asked for relates to the row of the
// table that answers.
type Match string

// The matches.
const (
	// Exact: the release itself. Of the kubelet the table has one row for each
	// minor release, read at its first patch release; what a capability depends on
	// does not change in patch releases of Kubernetes, so that the row is exact
	// for all of them. Known bugs are told by patch release.
	Exact Match = "exact"
	// VendorBuild: a distribution's or developer's build of that release, which
	// may have patches that the table knows nothing of.
	VendorBuild Match = "vendor-build"
	// NearestOlder: the table lacks that release and has older and newer ones of
	// its line; the next older one answers.
	NearestOlder Match = "nearest-older"
	// NewerThanTable: newer than every release of its line in the table; the
	// newest one answers.
	NewerThanTable Match = "newer-than-table"
	// BeforeNRI: a release from before the runtime had an NRI socket.
	BeforeNRI Match = "before-nri"
	// Advertised: the runtime says itself what it can do.
	Advertised Match = "advertised"
	// NoMatch: the table knows nothing of that line.
	NoMatch Match = "unknown"
)

// Support is what is known of one runtime: an answer for every capability and
// how it came about.
type Support struct {
	// Runtime is the runtime that was asked for.
	Runtime Runtime
	// Match tells how Row relates to it.
	Match Match
	// Row is the release that answers, not to be changed; nil for [NoMatch] and
	// [BeforeNRI].
	Row *Release
	// Why explains a match other than [Exact], in one sentence; may be empty.
	Why string
	// Contradictions are what two kinds of evidence say differently, a sentence
	// each; only of a runtime that was observed.
	Contradictions []string

	table    *Table
	values   Values
	seen     evidence
	observed bool                     // it was seen at first hand: one runtime, not a release
	disputed map[capability.ID]string // why what was seen of it leaves these unknown
}

// noSocket is what becomes of a plugin where there is no NRI at all.
const noSocket = "the plugin cannot connect: there is no NRI socket"

// Lookup finds what is known of a runtime. Settings that values does not name
// have the default of the release; NRI itself is taken to be switched on
// unless values says otherwise for [NRIEnabled].
func (t *Table) Lookup(r Runtime, values Values) Support {
	s := Support{Runtime: r, Match: NoMatch, table: t, values: values}
	if row, ok := t.releases[releaseKey{r.Name, r.Version}]; ok {
		s.Row, s.Match = row, Exact
		if !r.Upstream() {
			s.Match = VendorBuild
			s.Why = fmt.Sprintf("answered as %s %s, on which it is built", r.Name, row.Version)
		}
		return s
	}
	for _, o := range t.rows.Origins {
		if o.Runtime == r.Name && r.Version.Compare(o.First) < 0 {
			s.Match, s.Why = BeforeNRI, o.Why
			return s
		}
	}
	if row := t.minorRow(r); row != nil {
		s.Row, s.Match = row, Exact
		s.Why = fmt.Sprintf("answered as %s %s, like every patch release of %s", r.Name, row.Version, r.Version.Line())
		if !r.Upstream() {
			s.Match = VendorBuild
			s.Why += ", on one of which it is built"
		}
		return s
	}
	older, newer := t.neighbours(r.Name, r.Version)
	switch {
	case older == nil:
		s.Why = fmt.Sprintf("the table has no release line %s of %s", r.Version.Line(), r.Name)
		if newer != nil {
			s.Why = fmt.Sprintf("the table has no release of %s as old as %s in line %s", r.Name, r.Version, r.Version.Line())
		}
	case newer == nil:
		s.Row, s.Match = older, NewerThanTable
		s.Why = fmt.Sprintf("answered as %s %s, the newest release of its line in the table", r.Name, older.Version)
	default:
		s.Row, s.Match = older, NearestOlder
		s.Why = fmt.Sprintf("answered as %s %s, the next older release in the table", r.Name, older.Version)
	}
	return s
}

// minorRow returns the row of the minor release of a kubelet, nil if there is
// none or if it is a pre-release.
func (t *Table) minorRow(r Runtime) *Release {
	if r.Name != Kubelet || r.Version.Prerelease() {
		return nil
	}
	for _, row := range t.line(r.Name, r.Version.Line()).released() {
		if row.Version.Compare(r.Version) <= 0 {
			return row
		}
	}
	return nil
}

// release is the release that the answers are about: the row, for a kubelet
// with the patch release that was asked for.
func (s Support) release() Release {
	r := *s.Row
	if r.Runtime == Kubelet {
		r.Version = s.Runtime.Version
	}
	return r
}

// neighbours returns the rows next to a version within its line, nil where
// there is none.
func (t *Table) neighbours(runtime string, v Version) (older, newer *Release) {
	for _, r := range t.line(runtime, v.Line()).rows {
		if r.Version.Compare(v) < 0 {
			older = r
		} else if newer == nil {
			newer = r
		}
	}
	return older, newer
}

// NRI is the version of the NRI library the runtime carries, with "v"; empty
// if it is not known.
func (s Support) NRI() string {
	switch {
	case s.seen.nri != "" && s.seen.nriLow == "":
		return s.seen.nri
	case s.Row != nil:
		return s.Row.NRI
	}
	return ""
}

// NRIOrigin tells where the NRI version is known from: "reported" by the
// runtime, "binary", "table" or, for a range of versions, "handshake"; empty
// if nothing is known.
func (s Support) NRIOrigin() string {
	switch {
	case s.seen.nriOrigin != "":
		return s.seen.nriOrigin
	case s.Row != nil:
		return "table"
	}
	return ""
}

// NRIRange is the oldest and the newest NRI version the handshake allows for a
// runtime of which nothing else is known; empty otherwise.
func (s Support) NRIRange() (oldest, newest string) {
	if s.seen.nriLow == "" {
		return "", ""
	}
	return s.seen.nriLow, s.seen.nri
}

// NRISwitch is the setting that switches NRI on, with the value that holds for
// this runtime by default or by the values it was looked up with. The second
// result is false if nothing is known about it.
func (s Support) NRISwitch() (capability.Setting, bool) {
	if s.Row == nil || FamilyOf(s.Runtime.Name) != capability.NRI {
		return capability.Setting{}, false
	}
	set := s.table.condition(NRIEnabled+"=true", *s.Row, s.values)
	return set, set.Known()
}

// With returns the same runtime with one setting otherwise.
func (s Support) With(setting string, v Value) Support {
	values := maps.Clone(s.values)
	if values == nil {
		values = Values{}
	}
	values[setting] = v
	s.values = values
	return s
}

// Answer tells what the runtime does about a capability. It implements
// [capability.Provider].
//
// A capability of the other family is unknown: a container runtime does not
// decide what the kubelet does, nor the other way round.
func (s Support) Answer(id capability.ID) capability.Answer {
	if s.Runtime.Name != "" && id.Known() && id.Kind().Family() != FamilyOf(s.Runtime.Name) {
		return elsewhere(id, s.Runtime.Name)
	}
	if s.Match == BeforeNRI {
		return capability.Answer{State: capability.No, Effect: capability.Refused, Consequence: noSocket, Note: s.Why, Origin: "table"}
	}
	if s.Row == nil {
		if a, ok := s.seenAnswer(id, capability.Answer{}); ok {
			return a
		}
		return capability.Answer{Note: s.Why}
	}
	if off, ok := s.switchedOff(); ok {
		return off
	}
	if why, ok := s.disputed[id]; ok {
		return capability.Answer{Note: why}
	}
	cell, ok := s.table.cell(id, s.Row.Runtime, s.Row.Version)
	if !ok {
		return capability.Answer{Note: "the table has no entry for it"}
	}
	a, _ := s.seenAnswer(id, s.table.answer(cell, s.release(), s.values))
	return s.validated(id, s.aligned(id, a))
}

// switchedOff answers everything when it was said that NRI is off, or that its
// default counts and is off. Without a word it is taken to be on: who asks
// about a release wants to know what the release can do.
func (s Support) switchedOff() (capability.Answer, bool) {
	if _, said := s.values[NRIEnabled]; !said || FamilyOf(s.Runtime.Name) != capability.NRI {
		return capability.Answer{}, false
	}
	set, known := s.NRISwitch()
	if known && set.Met() {
		return capability.Answer{}, false
	}
	return capability.Answer{
		State: capability.Conditional, Effect: capability.Refused, Settings: []capability.Setting{set},
		Consequence: noSocket, Note: "NRI is switched off", Origin: "table",
	}, true
}

// answer turns a range into the answer for one of its releases.
func (t *Table) answer(c Range, r Release, values Values) capability.Answer {
	a := capability.Answer{State: c.State, Effect: c.Effect, Origin: "table", References: c.References()}
	if c.State != capability.Yes {
		a.Note = t.Note(c.Capability, c.Runtime)
	}
	if c.Because != "" {
		a.Note = c.Because
	}
	if c.State == capability.No && a.Effect == capability.NoEffect {
		if e, ok := capability.Lookup(c.Capability); ok {
			a.Effect = e.Effect
		}
	}
	if c.When != "" {
		a.Settings = []capability.Setting{t.condition(c.When, r, values)}
	}
	for _, b := range t.BugsOf(r) {
		if b.touches(c.Capability) {
			a.Bugs = append(a.Bugs, b.in(r))
		}
	}
	return a
}

// References returns the pull request and the files at the tag, each in a form
// that a person can look up.
func (r Range) References() []string {
	var out []string
	source := r.Sources()
	if source.Ref != "" {
		out = append(out, source.Ref)
	}
	at := r.From
	if !source.At.IsZero() {
		at = source.At
	}
	tag := at.String()
	if !at.Main {
		tag = "v" + tag
	}
	for _, f := range source.Files {
		out = append(out, r.Runtime+" "+tag+" "+f)
	}
	return out
}

// Set returns the capabilities that are there: yes, partial, and conditional
// ones whose settings are met.
func (s Support) Set() capability.Set {
	var ids []capability.ID
	for _, id := range CapabilitiesOf(s.Runtime.Name) {
		if s.Answer(id).Status() == capability.StatusOK {
			ids = append(ids, id)
		}
	}
	return capability.NewSet(ids...)
}

// Bugs returns the known bugs of the runtime, those of any plugin included.
func (s Support) Bugs() []Bug {
	if s.Row == nil {
		return nil
	}
	return s.table.BugsOf(s.release())
}

// Settings returns every setting that the table has for the runtime, with the
// values that hold.
func (s Support) Settings() []capability.Setting {
	if s.Row == nil {
		return nil
	}
	var out []capability.Setting
	for _, name := range s.table.SettingNames() {
		set := s.table.condition(name+"=", s.release(), s.values)
		if set.Known() {
			out = append(out, set)
		}
	}
	return out
}
