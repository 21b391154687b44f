package capability

import (
	"encoding/json"
	"testing"
)

// answers is a Provider made of a map; what is not in it is unknown.
type answers map[ID]Answer

func (a answers) Answer(id ID) Answer { return a[id] }

func TestCheck(t *testing.T) {
	off := Setting{Name: "cri.enable_cdi", Want: "true", Value: "false", Origin: "default"}
	on := Setting{Name: "cri.enable_cdi", Want: "true", Value: "true", Origin: "assumed"}
	unset := Setting{Name: "blockio_config_file", Want: "set", Origin: "default"}
	lost := Setting{Name: "cri.enable_cdi", Want: "true", Origin: "unknown"}
	have := answers{
		1:  {State: Yes},
		2:  {State: Partial, Note: "only at night"},
		3:  {State: No, Effect: Dropped},
		4:  {State: Harmful, Effect: Crash},
		5:  {State: Conditional, Settings: []Setting{off}},
		6:  {State: Conditional, Settings: []Setting{on}},
		7:  {State: Conditional, Settings: []Setting{lost}},
		8:  {State: Conditional, Settings: []Setting{lost, off}},
		9:  {State: Conditional},
		10: {State: Conditional, Settings: []Setting{unset}},
	}
	for _, test := range []struct {
		id      ID
		level   Level
		status  Status
		verdict Verdict
	}{
		{1, Requires, StatusOK, Compatible},
		{2, Requires, StatusOK, Compatible},
		{3, Requires, StatusMissing, Incompatible},
		{3, Wants, StatusMissing, Compatible},
		{4, Requires, StatusHarmful, Incompatible},
		{4, Wants, StatusHarmful, Compatible},
		{5, Requires, StatusConditional, Incompatible},
		{6, Requires, StatusOK, Compatible},
		{7, Requires, StatusUnknown, Inconclusive},
		{8, Requires, StatusConditional, Incompatible},
		{9, Requires, StatusUnknown, Inconclusive},
		{10, Requires, StatusConditional, Incompatible},
		{99, Requires, StatusUnknown, Inconclusive},
		{99, Wants, StatusUnknown, Compatible},
	} {
		report := Check(Needs{Requirements: []Requirement{{Capability: test.id, Level: test.level}}}, have)
		if report.Verdict != test.verdict || report.Items[0].Status != test.status {
			t.Errorf("%d %s: %s, %s; want %s, %s", test.id, test.level,
				report.Items[0].Status, report.Verdict, test.status, test.verdict)
		}
	}
}

// TestCheckJoins: the worst outcome decides, in whatever order.
func TestCheckJoins(t *testing.T) {
	have := answers{1: {State: Yes}, 3: {State: No}}
	need := func(gaps []string, ids ...ID) Needs {
		n := Needs{Gaps: gaps}
		for _, id := range ids {
			n.Requirements = append(n.Requirements, Requirement{Capability: id})
		}
		return n
	}
	for _, test := range []struct {
		need Needs
		want Verdict
	}{
		{need(nil), Compatible},
		{need(nil, 1, 99), Inconclusive},
		{need(nil, 99, 3), Incompatible},
		{need(nil, 3, 99), Incompatible},
		{need([]string{"a wrapper script"}), Inconclusive},
		{need([]string{"a wrapper script"}, 1), Inconclusive},
		{need([]string{"a wrapper script"}, 3), Incompatible},
	} {
		if got := Check(test.need, have).Verdict; got != test.want {
			t.Errorf("%+v: %s, want %s", test.need, got, test.want)
		}
	}
}

func TestNormalize(t *testing.T) {
	a, b := Evidence{Kind: "call", Line: 1}, Evidence{Kind: "call", Line: 2}
	in := []Requirement{
		{Capability: AdjustMounts, Level: Wants, Unproven: true, Evidence: []Evidence{a}},
		{Capability: AdjustEnv},
		{Capability: AdjustMounts, Level: Requires, Evidence: []Evidence{b, a}},
	}
	got := Normalize(in)
	if len(got) != 2 || got[0].Capability != AdjustEnv || got[1].Capability != AdjustMounts {
		t.Fatalf("Normalize: %+v", got)
	}
	m := got[1]
	if m.Level != Requires || m.Unproven || len(m.Evidence) != 2 {
		t.Errorf("joined: %+v", m)
	}
	if len(in[0].Evidence) != 1 {
		t.Error("Normalize changed its argument")
	}
}

// TestZeroValuesAreCautious: what nobody filled in must not read as good.
func TestZeroValuesAreCautious(t *testing.T) {
	var a Answer
	var r Report
	if a.State != Unknown || a.Status() != StatusUnknown || r.Verdict != Inconclusive || (Setting{}).Met() {
		t.Errorf("zero values: %s, %s, %s", a.State, a.Status(), r.Verdict)
	}
}

func TestEnumsReadBackWhatTheyWrite(t *testing.T) {
	type all struct {
		State   State
		Effect  Effect
		Level   Level
		Source  Source
		Status  Status
		Verdict Verdict
		ID      ID
	}
	in := all{Harmful, Hang, Wants, Observed, StatusHarmful, Incompatible, AdjustEnv}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out all
	if err := json.Unmarshal(data, &out); err != nil || out != in {
		t.Errorf("%s: %+v, %v", data, out, err)
	}
	for _, bad := range []string{`{"State":"maybe"}`, `{"ID":"NOPE"}`, `{"Level":1}`} {
		if err := json.Unmarshal([]byte(bad), &out); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	if _, err := State(77).MarshalText(); err == nil || State(77).String() != "invalid(77)" {
		t.Error("an invalid state has a text form")
	}
}
