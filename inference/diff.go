package inference

import (
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// Shift is what becomes of a capability between two runtimes.
type Shift string

// The shifts.
const (
	Gained  Shift = "gained"  // it is there in the second only
	Lost    Shift = "lost"    // it is there in the first only
	Worse   Shift = "worse"   // there in neither, and using it does more harm in the second
	Better  Shift = "better"  // there in neither, and using it does less harm in the second
	Changed Shift = "changed" // there in both or in neither, in another way
	Unsure  Shift = "unknown" // one of the two is not known
)

// Difference is one capability in which two runtimes differ.
type Difference struct {
	Capability capability.ID
	Shift      Shift
	From, To   capability.Answer
}

// Diff compares two runtimes, sorted by capability name.
func Diff(a, b Support) []Difference {
	var out []Difference
	for _, id := range capability.All() {
		x, y := a.Answer(id), b.Answer(id)
		if shift := compare(x, y); shift != "" {
			out = append(out, Difference{id, shift, x, y})
		}
	}
	return out
}

// compare tells how y differs from x, empty if it does not.
func compare(x, y capability.Answer) Shift {
	xs, ys := x.Status(), y.Status()
	switch {
	case x.State == capability.Unknown && y.State == capability.Unknown:
		return ""
	case xs == capability.StatusUnknown || ys == capability.StatusUnknown:
		return Unsure
	case xs != capability.StatusOK && ys == capability.StatusOK:
		return Gained
	case xs == capability.StatusOK && ys != capability.StatusOK:
		return Lost
	case xs != capability.StatusOK && y.Effect.Severity() > x.Effect.Severity():
		return Worse
	case xs != capability.StatusOK && y.Effect.Severity() < x.Effect.Severity():
		return Better
	case x.State != y.State || x.Effect != y.Effect || !slices.EqualFunc(x.Settings, y.Settings, sameCondition):
		return Changed
	}
	return ""
}

func sameCondition(a, b capability.Setting) bool {
	return a.Name == b.Name && a.Want == b.Want && a.Value == b.Value
}
