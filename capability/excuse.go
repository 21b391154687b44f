package capability

import "slices"

// Excuse returns the needs as they count on one runtime if some outcomes are
// excused: a requirement that the runtime does not meet, and for which excused
// says why that shall not matter, is lowered from [Requires] to [Wants] and has
// the reason as its note. [Check] on the result gives the verdict; its rules
// are the same for everybody. What the runtime meets stays required, so that a
// known bug of it still counts, and so does what an alternative makes up for.
// Where no alternative is there each of them has to be excused: those that are
// not are needed as before. Excused is asked with the status that counts, see
// [Item.Counts]. The receiver is not changed.
func (n Needs) Excuse(have Provider, excused func(Requirement, Status) (why string, ok bool)) Needs {
	var reqs []Requirement
	for i, item := range Check(n, have).Items {
		if !item.Decides() {
			continue
		}
		why, ok := excused(item.Requirement, item.Counts)
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
