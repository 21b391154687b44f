package config

import (
	"fmt"
	"path"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"go.yaml.in/yaml/v3"
)

// Waiver says that something which does not work shall not count.
type Waiver struct {
	// Plugin is the name of the plugin, its reference, or a pattern of either
	// as path.Match takes it; empty for every plugin.
	Plugin     string
	Capability capability.ID
	// Runtimes are expressions as --runtime takes them; none for every runtime.
	Runtimes []Text
	// Reason is never empty.
	Reason string
	// Until is the last day on which the waiver holds; zero if it has no end.
	Until time.Time
	// Line is where the waiver stands in the file.
	Line int
}

// dayForm is how a day is written.
const dayForm = "2006-01-02"

func (rd reader) day(n *yaml.Node) (time.Time, error) {
	t, err := rd.text(n, "until")
	if err != nil {
		return time.Time{}, err
	}
	day, err := time.Parse(dayForm, t.Value)
	if err != nil {
		return time.Time{}, rd.errorf(n, "invalid until %.60q: write a day as YYYY-MM-DD", t.Value)
	}
	return day, nil
}

// Day is the last day on which the waiver holds as YYYY-MM-DD, empty if it has
// no end.
func (w Waiver) Day() string {
	if w.Until.IsZero() {
		return ""
	}
	return w.Until.Format(dayForm)
}

// Expired tells whether the last day is over by the calendar of now
// (in its time zone): a waiver holds through the whole of its last day.
func (w Waiver) Expired(now time.Time) bool {
	return !w.Until.IsZero() && now.Format(dayForm) > w.Day()
}

// Names tells whether the waiver is about a plugin with this name and
// reference.
func (w Waiver) Names(name, ref string) bool {
	if w.Plugin == "" {
		return true
	}
	for _, s := range []string{name, ref} {
		if s == "" {
			continue
		}
		if ok, err := path.Match(w.Plugin, s); ok && err == nil || w.Plugin == s {
			return true
		}
	}
	return false
}

// Covers tells whether the waiver is about a runtime. Its expressions have
// passed [File.Check].
func (w Waiver) Covers(t *inference.Table, r inference.Runtime) bool {
	if len(w.Runtimes) == 0 {
		return true
	}
	for _, expr := range w.Runtimes {
		if ok, err := t.Matches(expr.Value, r); ok && err == nil {
			return true
		}
	}
	return false
}

// Check checks what only the table and the calendar know: the runtimes of the
// waivers, and that no waiver has expired. Errors are of type [Error].
func (f *File) Check(t *inference.Table, now time.Time) error {
	for _, w := range f.Waivers {
		if w.Expired(now) {
			return &Error{f.Name, w.Line, fmt.Errorf("the waiver of %s expired on %s (%s): fix it, extend it or remove it", w.Capability, w.Day(), w.Reason)}
		}
		for _, expr := range w.Runtimes {
			if _, err := t.Matches(expr.Value, inference.Runtime{}); err != nil {
				return f.At(expr, err)
			}
		}
		if _, err := path.Match(w.Plugin, ""); err != nil {
			return &Error{f.Name, w.Line, fmt.Errorf("invalid plugin %.60q: a pattern has *, ? and [a-z]", w.Plugin)}
		}
	}
	return nil
}
