package capability

// Provider answers what one runtime does about a capability. An implementation
// returns an [Answer] with state [Unknown] for everything it does not know.
type Provider interface {
	Answer(ID) Answer
}

// Answer is what one runtime does about one capability, and how that is known.
type Answer struct {
	State State
	// Effect is what happens when the capability is used. It is [NoEffect] for
	// state [Yes] and, unless the note says otherwise, for [Partial].
	Effect Effect
	// Consequence says in words what happens, where it is not what the catalogue
	// says; usually empty.
	Consequence string
	// Settings are what a [Conditional] state depends on; all of them must be
	// met. Empty for every other state.
	Settings []Setting
	// Note is a sentence for a person: a limit, an exception, a reason. Empty if
	// there is nothing to add.
	Note string
	// Origin names the kind of evidence the answer rests on: "advertised",
	// "table", "library" or "binary". Empty for state [Unknown].
	Origin string
	// References are the pull requests and the files at a release's tag that
	// show it, for a person to look up.
	References []string
	// Bugs are known bugs of this runtime that touch the capability and can
	// strike although the state is good.
	Bugs []Bug
}

// Setting is one configuration value that a conditional state depends on.
type Setting struct {
	// Name is the short name that --assume takes, such as "cri.enable_cdi".
	Name string `json:"name"`
	// Want is the value needed; "set" stands for any value that is not empty.
	Want string `json:"want"`
	// Value is the value in force, empty if not set or not known.
	Value string `json:"value"`
	// Origin tells where Value comes from: "default", "assumed" or the file
	// it was read from; "unknown" if nobody knows.
	Origin string `json:"origin"`
	// Key tells where to change it, such as
	// `config.toml: [plugins."io.containerd.grpc.v1.cri"] enable_cdi`.
	Key string `json:"key,omitempty"`
}

// Met tells whether the value in force is the one needed. It is false too for
// a value that is not known; see [Setting.Known].
func (s Setting) Met() bool {
	if !s.Known() {
		return false
	}
	if s.Want == "set" {
		return s.Value != "" && s.Value != "false"
	}
	return s.Value == s.Want
}

// Known tells whether the value in force is known.
func (s Setting) Known() bool { return s.Origin != "" && s.Origin != "unknown" }

// Bug is a known bug of a runtime, as far as a plugin can hit it.
type Bug struct {
	// ID is a stable name, such as "unsolicited-update-deadlock".
	ID string `json:"id"`
	// Severity is "critical", "high", "medium" or "low".
	Severity string `json:"severity"`
	// Text says what goes wrong and when.
	Text string `json:"text"`
	// Fixed is the first release of the same line without it, empty if none is.
	Fixed string `json:"fixed,omitempty"`
}

// Item is the outcome for one requirement.
type Item struct {
	Requirement Requirement
	// Status is what the answer means for this capability alone.
	Status Status
	// Counts is the status that counts for the verdict. It differs from Status
	// only among alternatives: each of them counts with the best status that one
	// of them has, in the order of [Status.Rank]. What is missing counts as ok if
	// an alternative is ok, as unknown if one may be.
	//
	// Harm counts nevertheless: a plugin uses all of its alternatives, by what the
	// requirement says. A service that it offers and the runtime does not know
	// does nothing, but one that brings the runtime down does so whatever else
	// there is.
	Counts Status
	Answer Answer
}

// Decides tells whether the item keeps the verdict from being [Compatible]: it
// is required, and the status that counts is not ok.
func (i Item) Decides() bool {
	return i.Requirement.Level == Requires && i.Counts != StatusOK
}

// Report is the outcome of [Check]. Items stand in the order of the
// requirements that were given.
type Report struct {
	Verdict Verdict
	Items   []Item
	// Gaps repeats what could not be read of the plugin.
	Gaps []string
}

// Check joins what a plugin needs with what a runtime does.
//
// A required capability that is missing, harmful, or conditional on a setting
// that is not as needed makes the verdict [Incompatible]. Otherwise one that is
// unknown, or a gap in what is known of the plugin, makes it [Inconclusive].
// A partial capability counts as there. What is only wanted never decides.
// Of alternatives one is enough, even one that is only wanted: each counts with
// the best status among them, see [Item.Counts].
// A plugin of which nothing is known to be required and nothing is known to be
// lacking is Compatible: the caller must put a gap where it could not look.
func Check(need Needs, have Provider) Report {
	r := Report{Verdict: Compatible, Items: make([]Item, 0, len(need.Requirements)), Gaps: need.Gaps}
	if len(need.Gaps) > 0 {
		r.Verdict = Inconclusive
	}
	for _, req := range need.Requirements {
		answer := have.Answer(req.Capability)
		r.Items = append(r.Items, Item{Requirement: req, Status: answer.Status(), Answer: answer})
	}
	weigh(r.Items)
	for _, item := range r.Items {
		switch {
		case !item.Decides():
		case item.Counts != StatusUnknown:
			r.Verdict = Incompatible
		case r.Verdict == Compatible:
			r.Verdict = Inconclusive
		}
	}
	return r
}

// Status is what the answer means for a plugin that uses the capability.
func (a Answer) Status() Status {
	switch a.State {
	case Yes, Partial:
		return StatusOK
	case No:
		return StatusMissing
	case Harmful:
		return StatusHarmful
	case Conditional:
		return a.conditionalStatus()
	}
	return StatusUnknown
}

// conditionalStatus: one setting known to be wrong decides; a conditional
// answer that names no setting cannot be decided.
func (a Answer) conditionalStatus() Status {
	status := StatusOK
	if len(a.Settings) == 0 {
		status = StatusUnknown
	}
	for _, s := range a.Settings {
		switch {
		case !s.Known():
			status = StatusUnknown
		case !s.Met():
			return StatusConditional
		}
	}
	return status
}
