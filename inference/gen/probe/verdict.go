// Package probe reads the syntax of a container runtime and of the NRI library
// it carries, and decides from it what becomes of each capability. A probe
// names what it looked at; what it was not written to understand it leaves
// undecided, for a person.
//
// A capability can be lost in the library, in the code of the runtime that
// stands between its CRI service and the library, and by the default
// configuration. Which probes decide which capabilities:
//
//	ADJUST_…                adjust.go, removals.go: the fields a reply passes
//	                        through in the library; options.go: the options of
//	                        the spec generator
//	UPDATE_…                updates.go: the library; relayed.go: the runtime
//	INPUT_…, EXTRA_…        inputs.go: the messages the runtime fills in;
//	                        library.go: the conversions it uses for that
//	EVENT_…                 events.go, server.go: the calls of the CRI service; glue.go:
//	                        what they relay
//	SUBSCRIBE_…, PROTO_…    protocol.go; config.go: the default validator
//
// All meet in decide, in release.go.
package probe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// Verdict is what a probe found out about a capability at one place, or what
// several of them amount to.
type Verdict struct {
	State  capability.State
	Effect capability.Effect
	// When is the condition of a conditional state, such as "cri.enable_cdi=true".
	When string
	// Files are where it was read, as "file:line".
	Files []string
	// In names the function, literal or declaration that was looked at.
	In string
	// Why says what is in the way of a decision; only with an unknown state.
	Why string
}

// Same tells whether two verdicts say the same to a user.
func (v Verdict) Same(w Verdict) bool {
	return v.State == w.State && v.Effect == w.Effect && v.When == w.When
}

func (v Verdict) String() string {
	s := v.State.String()
	if v.When != "" {
		s += " (" + v.When + ")"
	}
	if v.Effect != capability.NoEffect {
		s += ", " + v.Effect.String()
	}
	return s
}

func yes(in string, files ...string) Verdict {
	return Verdict{State: capability.Yes, In: in, Files: files}
}

func no(in string, files ...string) Verdict {
	return Verdict{State: capability.No, In: in, Files: files}
}

func partial(in string, files ...string) Verdict {
	return Verdict{State: capability.Partial, In: in, Files: files}
}

func crash(in string, files ...string) Verdict {
	return Verdict{State: capability.Harmful, Effect: capability.Crash, In: in, Files: files}
}

func when(condition string, effect capability.Effect, in string, files ...string) Verdict {
	return Verdict{State: capability.Conditional, When: condition, Effect: effect, In: in, Files: files}
}

func unknown(format string, args ...any) Verdict {
	return Verdict{Why: fmt.Sprintf(format, args...)}
}

// yesIf is yes or no, depending on what was seen.
func yesIf(seen bool, in string, files ...string) Verdict {
	if seen {
		return yes(in, files...)
	}
	return no(in, files...)
}

// all is the verdict of places that a value passes one after the other. The
// first place that does not let it through decides; a place that is not
// understood counts only if it does not come behind such a one, and then
// nothing is known.
func all(places ...Verdict) Verdict {
	out := Verdict{State: capability.Yes}
	for _, p := range places {
		switch p.State {
		case capability.No, capability.Harmful, capability.Unknown:
			return p
		case capability.Conditional:
			if out.State == capability.Conditional && out.When != p.When {
				return unknown("it depends on two settings, %s and %s, which a row cannot say", out.When, p.When)
			}
			out.State, out.When, out.Effect = p.State, p.When, p.Effect
		case capability.Partial:
			if out.State == capability.Yes {
				out.State = capability.Partial
			}
		}
		out.Files = append(out.Files, p.Files...)
		out.In = cmp.Or(out.In, p.In)
	}
	return out
}

// anyWay is the verdict of ways that lead to the same end independently: what
// they agree on; otherwise partial, or conditional if the others need a
// setting only. A way that does harm decides, as does one that is not understood.
func anyWay(ways ...Verdict) Verdict {
	out := ways[0]
	for _, w := range ways {
		if w.State == capability.Unknown || w.State == capability.Harmful {
			return w
		}
	}
	for _, w := range ways[1:] {
		files := append(slices.Clone(out.Files), w.Files...)
		in := cmp.Or(out.In, w.In)
		switch {
		case out.Same(w):
		case out.State == capability.Yes && w.State == capability.Conditional:
			out = w
		case out.State == capability.Conditional && w.State == capability.Yes:
		default:
			out = Verdict{State: capability.Partial}
		}
		out.Files, out.In = files, in
	}
	return out
}

// trim leaves the first n files of a verdict, without repetitions, in the
// order in which the value passes them.
func (v Verdict) trim(n int) Verdict {
	var files []string
	for _, f := range v.Files {
		if !slices.Contains(files, f) && len(files) < n {
			files = append(files, f)
		}
	}
	v.Files = files
	return v
}
