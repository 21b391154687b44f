package inference

import (
	"slices"

	"github.com/nri-compat/nri-compat/capability"
)

// Shift is what becomes of a capability between two runtimes.
type Shift string

// The shifts.
const (
	Gained  Shift = "gained"  // can be had in the second only
	Lost    Shift = "lost"    // can be had in the first only
	Worse   Shift = "worse"   // in both or in neither, and using it as it is does more harm in the second
	Better  Shift = "better"  // in both or in neither, and using it as it is does less harm in the second
	Changed Shift = "changed" // in both or in neither, in another way
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

// compare tells how y differs from x, empty if it does not. What can be had by
// changing a setting counts as there: an upgrade that takes it away for good
// loses it.
func compare(x, y capability.Answer) Shift {
	switch {
	case x.State == capability.Unknown && y.State == capability.Unknown:
		return ""
	case x.State == capability.Unknown || y.State == capability.Unknown:
		return Unsure
	case !obtainable(x) && obtainable(y):
		return Gained
	case obtainable(x) && !obtainable(y):
		return Lost
	}
	if a, b := harm(x), harm(y); a != b {
		if a < b {
			return Worse
		}
		return Better
	}
	if x.State != y.State || x.Effect != y.Effect || !slices.EqualFunc(x.Settings, y.Settings, sameCondition) {
		return Changed
	}
	return ""
}

func obtainable(a capability.Answer) bool {
	return a.State == capability.Yes || a.State == capability.Partial || a.State == capability.Conditional
}

// harm ranks what happens to a plugin that uses the capability as it is.
func harm(a capability.Answer) int {
	if a.Status() == capability.StatusOK {
		return 0
	}
	return a.Effect.Severity()
}

func sameCondition(a, b capability.Setting) bool {
	return a.Name == b.Name && a.Want == b.Want && a.Value == b.Value
}
