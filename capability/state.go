package capability

// State is what a runtime does about a capability. The zero value is
// [Unknown]: nothing is known, which is neither yes nor no.
type State uint8

// The states. Their text forms are "unknown", "yes", "partial", "conditional",
// "no" and "harmful".
const (
	Unknown     State = iota // nothing is known
	Yes                      // works
	Partial                  // works with a limit that the answer's note tells
	Conditional              // works if the named settings have the named values
	No                       // does not work; the answer's effect tells what happens
	Harmful                  // using it crashes or hangs the runtime
)

var stateNames = []string{"unknown", "yes", "partial", "conditional", "no", "harmful"}

func (s State) String() string { return enumName(stateNames, s) }

// MarshalText returns the text form of s.
func (s State) MarshalText() ([]byte, error) { return enumText("state", stateNames, s) }

// UnmarshalText sets s from its text form; other text is an error.
func (s *State) UnmarshalText(text []byte) error { return enumParse("state", stateNames, text, s) }

// Effect is what happens to a plugin that uses a capability which is not
// there. The zero value is [NoEffect].
type Effect uint8

// The effects. Their text forms are "none", "refused", "create-error",
// "dropped", "empty", "never-called", "crash" and "hang".
const (
	NoEffect    Effect = iota // the capability works, or nothing is known
	Refused                   // the registration of the plugin fails
	CreateError               // the container is not created
	Dropped                   // accepted, without effect
	Empty                     // the field stays unset
	NeverCalled               // the handler never runs
	Crash                     // the runtime process ends
	Hang                      // the runtime stops answering
)

var effectNames = []string{"none", "refused", "create-error", "dropped", "empty", "never-called", "crash", "hang"}

func (e Effect) String() string { return enumName(effectNames, e) }

// MarshalText returns the text form of e.
func (e Effect) MarshalText() ([]byte, error) { return enumText("effect", effectNames, e) }

// UnmarshalText sets e from its text form; other text is an error.
func (e *Effect) UnmarshalText(text []byte) error { return enumParse("effect", effectNames, text, e) }

// Severity orders effects by how much they hurt: a crash or a hang of the
// runtime outranks a refused plugin, which outranks a failing container, which
// outranks what is lost without a word. Higher is worse, 0 is no effect.
func (e Effect) Severity() int {
	switch e {
	case Crash, Hang:
		return 4
	case Refused:
		return 3
	case CreateError:
		return 2
	case Dropped, Empty, NeverCalled:
		return 1
	}
	return 0
}

// Level says how much a plugin depends on a capability. The zero value is
// [Requires], the cautious one.
type Level uint8

// The levels. Their text forms are "requires" and "wants".
const (
	Requires Level = iota // the plugin does not do its work without it
	Wants                 // the plugin has a fallback; never decides a verdict
)

var levelNames = []string{"requires", "wants"}

func (l Level) String() string { return enumName(levelNames, l) }

// MarshalText returns the text form of l.
func (l Level) MarshalText() ([]byte, error) { return enumText("level", levelNames, l) }

// UnmarshalText sets l from its text form; other text is an error.
func (l *Level) UnmarshalText(text []byte) error { return enumParse("level", levelNames, text, l) }

// Source tells how a requirement was learnt.
type Source uint8

// The sources. Their text forms are "declared", "source", "binary" and
// "observed".
const (
	Declared   Source = iota // said by the user, or by the plugin's author in a manifest
	FromSource               // read from the plugin's source code
	FromBinary               // read from the plugin's executable
	Observed                 // seen while the plugin ran
)

var sourceNames = []string{"declared", "source", "binary", "observed"}

func (s Source) String() string { return enumName(sourceNames, s) }

// MarshalText returns the text form of s.
func (s Source) MarshalText() ([]byte, error) { return enumText("source", sourceNames, s) }

// UnmarshalText sets s from its text form; other text is an error.
func (s *Source) UnmarshalText(text []byte) error { return enumParse("source", sourceNames, text, s) }

// Status is the outcome for one requirement on one runtime. The zero value is
// [StatusUnknown].
type Status uint8

// The statuses, from the least to the most alarming but for unknown, which
// stands between ok and missing in [Status.Rank]. Their text forms are
// "unknown", "ok", "conditional", "missing" and "harmful".
const (
	StatusUnknown     Status = iota // could not be decided
	StatusOK                        // there
	StatusConditional               // there, but a setting on which it depends is not as needed
	StatusMissing                   // not there
	StatusHarmful                   // using it crashes or hangs the runtime
)

var statusNames = []string{"unknown", "ok", "conditional", "missing", "harmful"}

func (s Status) String() string { return enumName(statusNames, s) }

// MarshalText returns the text form of s.
func (s Status) MarshalText() ([]byte, error) { return enumText("status", statusNames, s) }

// UnmarshalText sets s from its text form; other text is an error.
func (s *Status) UnmarshalText(text []byte) error { return enumParse("status", statusNames, text, s) }

// Rank orders statuses for display, worst first when sorted downwards: ok,
// unknown, conditional, missing, harmful.
func (s Status) Rank() int {
	switch s {
	case StatusOK:
		return 0
	case StatusConditional:
		return 2
	case StatusMissing:
		return 3
	case StatusHarmful:
		return 4
	}
	return 1
}

// Verdict is the answer to "will this plugin work on that runtime?". The zero
// value is [Inconclusive].
type Verdict uint8

// The verdicts. Their text forms are "inconclusive", "compatible" and
// "incompatible".
const (
	Inconclusive Verdict = iota // nothing is known to be missing, but something could not be decided
	Compatible                  // everything required is there
	Incompatible                // something required is missing, switched off or harmful
)

var verdictNames = []string{"inconclusive", "compatible", "incompatible"}

func (v Verdict) String() string { return enumName(verdictNames, v) }

// MarshalText returns the text form of v.
func (v Verdict) MarshalText() ([]byte, error) { return enumText("verdict", verdictNames, v) }

// UnmarshalText sets v from its text form; other text is an error.
func (v *Verdict) UnmarshalText(text []byte) error {
	return enumParse("verdict", verdictNames, text, v)
}
