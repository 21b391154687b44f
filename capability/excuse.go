package capability

import "slices"

// Excuse returns the needs as they count on one runtime if some outcomes are
// excused: a requirement that the runtime does not meet, and for which excused
// says why that shall not matter, is lowered from [Requires] to [Wants] and has
// the reason as its note. [Check] on the result gives the verdict; its rules
// are the same for everybody. What the runtime meets stays required, so that a
// known bug of it still counts. The receiver is not changed.
func (n Needs) Excuse(have Provider, excused func(Requirement, Status) (why string, ok bool)) Needs {
	var reqs []Requirement
	for i, r := range n.Requirements {
		if r.Level != Requires {
			continue
		}
		status := have.Answer(r.Capability).Status()
		if status == StatusOK {
			continue
		}
		why, ok := excused(r, status)
		if !ok {
			continue
		}
		if reqs == nil {
			reqs = slices.Clone(n.Requirements)
		}
		reqs[i].Level, reqs[i].Note = Wants, why
	}
	if reqs != nil {
		n.Requirements = reqs
	}
	return n
}
