package inference

import (
	"fmt"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// NewestNRI is the newest version of the NRI library whose layers were read
// and run for this package's answers about the library.
const NewestNRI = "v0.12.5"

// NRIVersion is a version of the NRI library: a release, a pseudo-version or a
// git describe form.
type NRIVersion struct {
	v string // canonical semantic version with "v"; after a describe form its tag
	// Commits counts the commits after the release for a git describe form.
	Commits int
}

// ParseNRIVersion reads the version of an NRI library as a Go module, a build
// or a runtime reports it: "v0.8.0", "0.8.0", "v0.9.1-0.20250219030224-e597e7849f24",
// "v0.8.0-12-gabcdef0.m". "(devel)" and "0.0.0-unknown" are errors: they name
// no version.
func ParseNRIVersion(s string) (NRIVersion, error) {
	text := strings.TrimSpace(s)
	if text != "" && text[0] != 'v' {
		text = "v" + text
	}
	n := NRIVersion{v: semver.Canonical(text)}
	if v, rest, ok := cutVersion(text); ok && v.Pre == "" {
		if commits, _, _, ok := cutDescribe(rest); ok {
			return NRIVersion{v: "v" + v.String(), Commits: commits}, nil
		}
	}
	if n.v == "" || strings.HasPrefix(n.v, "v0.0.0-unknown") {
		return NRIVersion{}, fmt.Errorf("invalid NRI version %q: want a release such as v0.8.0 or a Go pseudo-version", shorten(s))
	}
	return n, nil
}

// String returns the version with "v".
func (n NRIVersion) String() string {
	if n.Commits > 0 {
		return fmt.Sprintf("%s+%d commits", n.v, n.Commits)
	}
	return n.v
}

// Compare orders versions as Go modules do: a pseudo-version stands between
// the release it follows and the next one.
func (n NRIVersion) Compare(m NRIVersion) int {
	if c := semver.Compare(n.v, m.v); c != 0 {
		return c
	}
	return n.Commits - m.Commits
}

// Pseudo tells whether it is a commit that has no tag.
func (n NRIVersion) Pseudo() bool { return module.IsPseudoVersion(n.v) || n.Commits > 0 }

// Library answers what the NRI library of one version does by itself. It
// implements [capability.Provider]. What the runtime around it decides is
// unknown here: every input, whatever needs an option, every event. So is
// everything about a version newer than [NewestNRI].
type Library struct{ Version NRIVersion }

// Answer tells what the library does about a capability: no, where a layer
// that must have it lacks it; harmful, where using it is known to end the
// process; yes, where the library alone decides and has it; otherwise unknown.
func (l Library) Answer(id capability.ID) capability.Answer {
	e, ok := capability.Lookup(id)
	if !ok || l.Version.v == "" {
		return capability.Answer{}
	}
	if newest, err := ParseNRIVersion(NewestNRI); err == nil && l.Version.Compare(newest) > 0 {
		return capability.Answer{Note: "newer than NRI " + NewestNRI + ", the newest version that was read"}
	}
	a := capability.Answer{Origin: "library", Note: e.Note}
	if l.harmed(e) {
		a.State, a.Effect = capability.Harmful, capability.Crash
		return a
	}
	if e.SinceProto == "" && e.SinceCollected == "" {
		// Nothing in the library has a part in it.
		return capability.Answer{Note: "the runtime decides, not the library"}
	}
	for _, since := range []string{e.SinceProto, e.SinceCollected} {
		if since != "" && !l.has(since) {
			a.State, a.Effect = capability.No, e.Effect
			return a
		}
	}
	switch id.Kind() {
	case capability.Adjust:
		switch {
		case e.Since == "" || e.SinceGenerated == "" || !l.has(e.SinceGenerated):
			a.State, a.Effect = capability.No, e.Effect
		case !l.has(e.Since):
			a.State = capability.Partial // applied, but with damage to something else
		case e.Option == "":
			a.State = capability.Yes
		default:
			a.State = capability.Unknown
			a.Note = "the runtime must hand the library an option for it: " + e.Option
			a.Origin = ""
		}
	case capability.Subscribe:
		a.State = capability.Yes
	default:
		return capability.Answer{Note: "the library has it; whether it works is up to the runtime"}
	}
	return a
}

func (l Library) has(since string) bool {
	v, err := ParseNRIVersion(since)
	return err == nil && l.Version.Compare(v) >= 0
}

// harmed tells whether every use of the capability ends the runtime in this
// version.
func (l Library) harmed(e capability.Entry) bool {
	for _, h := range e.Hazards {
		if h.Crash && (h.From == "" || l.has(h.From)) && (h.Before == "" || !l.has(h.Before)) {
			return true
		}
	}
	return false
}
