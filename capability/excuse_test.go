package capability

import (
	"slices"
	"testing"
)

// states is a provider with one state a capability.
type states map[ID]State

func (s states) Answer(id ID) Answer { return Answer{State: s[id]} }

func TestExcuse(t *testing.T) {
	have := states{AdjustMounts: Yes, AdjustCDIDevices: No, AdjustLinuxSysctl: Harmful, InputIPAddresses: No}
	need := Needs{Requirements: []Requirement{
		{Capability: AdjustMounts}, {Capability: AdjustCDIDevices}, {Capability: AdjustLinuxSysctl},
		{Capability: AdjustEnvRemoval}, {Capability: InputIPAddresses, Level: Wants},
	}}
	before := slices.Clone(need.Requirements)
	var asked []Status
	excuse := func(ids ...ID) Needs {
		asked = nil
		return need.Excuse(have, func(r Requirement, s Status) (string, bool) {
			asked = append(asked, s)
			return "because", slices.Contains(ids, r.Capability)
		})
	}
	for _, tt := range []struct {
		excused []ID
		want    Verdict
	}{
		{nil, Incompatible},
		{[]ID{AdjustCDIDevices}, Incompatible},
		{[]ID{AdjustCDIDevices, AdjustLinuxSysctl}, Inconclusive}, // ADJUST_ENV_REMOVAL is not known
		{[]ID{AdjustCDIDevices, AdjustLinuxSysctl, AdjustEnvRemoval}, Compatible},
		{[]ID{AdjustMounts}, Incompatible}, // what is met needs no excuse
	} {
		got := excuse(tt.excused...)
		if v := Check(got, have).Verdict; v != tt.want {
			t.Errorf("%v: %s, want %s", tt.excused, v, tt.want)
		}
		for i, r := range got.Requirements {
			lowered := slices.Contains(tt.excused, r.Capability) && have[r.Capability] != Yes
			if (r.Level == Wants && before[i].Level == Requires) != lowered || (r.Note == "because") != lowered {
				t.Errorf("%v: %+v", tt.excused, r)
			}
		}
	}
	if !slices.EqualFunc(need.Requirements, before, func(a, b Requirement) bool {
		return a.Capability == b.Capability && a.Level == b.Level && a.Note == b.Note
	}) {
		t.Error("the receiver changed")
	}
	if !slices.Equal(asked, []Status{StatusMissing, StatusHarmful, StatusUnknown}) {
		t.Errorf("asked about %v", asked)
	}
}
