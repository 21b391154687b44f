package pluginlog

import (
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Reason is why a plugin failed, as far as its log tells.
type Reason struct {
	// Entry is what tells it; of a message of several lines only the one that
	// quotes the refusal, if one does.
	Entry Entry
	// Text says it in one line for a person.
	Text string
	// Capabilities are what the entry shows to be missing on the runtime; none if
	// it shows none. There can be several: one mask of events, one list of
	// services.
	Capabilities []capability.ID
	// Certain is set if these are words of the runtime, or of the library that
	// speaks for it, that mean just this. Otherwise it only looks so.
	Certain bool
	// Refusal is set for what is known to be said by a runtime, or by the system
	// about its socket; it is not for what is only a fatal entry or an error.
	Refusal bool
}

// maxReasons is how many reasons are worth reading.
const maxReasons = 20

// maxText is the length of a reason's text.
const maxText = 500

// Reasons returns why a plugin failed as far as the entries of its log tell,
// the most telling first: what a runtime refused, what looks as if its socket
// was not there, then fatal entries and panics, then errors; within each in the
// order of the log. What is said again is left out. No entry that is less than
// an error is a reason, unless it quotes a refusal.
func Reasons(entries []Entry) []Reason {
	var classes [4][]Reason
	seen := map[string]bool{}
	for _, e := range entries {
		r, class, ok := reasonOf(e)
		if !ok || seen[r.Text] {
			continue
		}
		seen[r.Text] = true
		classes[class] = append(classes[class], r)
	}
	reasons := slices.Concat(classes[:]...)
	return reasons[:min(len(reasons), maxReasons)]
}

// reasonOf tells what an entry says of a failure, and how telling that is: 0 is
// most.
func reasonOf(e Entry) (r Reason, class int, ok bool) {
	if refusal := refusalIn(e); refusal != nil {
		r = refusal.reason(e)
		if !r.Certain {
			return r, 1, true
		}
		return r, 0, true
	}
	switch e.Severity {
	case Fatal:
		class = 2
	case Error:
		class = 3
	default:
		return r, 0, false
	}
	text := e.Message
	if e.Format == Panic {
		text, _, _ = strings.Cut(text, "\n")
	}
	if e.Err != "" && !strings.Contains(text, e.Err) {
		text = strings.TrimSuffix(text, ":") + ": " + e.Err
	}
	text = oneLine(text)
	if text == "" {
		return r, 0, false
	}
	if len(text) > maxText {
		text = clip(text, maxText) + "…"
	}
	return Reason{Entry: e, Text: text}, class, true
}
