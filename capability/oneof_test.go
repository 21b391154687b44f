package capability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCheckOneOf: alternatives count with the best status among them, and only
// harm counts by itself.
func TestCheckOneOf(t *testing.T) {
	off := Answer{State: Conditional, Settings: []Setting{{Name: "gate", Want: "true", Value: "false", Origin: "default"}}}
	have := answers{1: {State: Yes}, 2: {State: No}, 3: {State: Harmful}, 4: {State: Partial}, 5: off, 6: {State: No}}
	const ok, unknown, conditional, missing, harmful = StatusOK, StatusUnknown, StatusConditional, StatusMissing, StatusHarmful
	for _, test := range []struct {
		ids     []ID
		counts  []Status
		verdict Verdict
	}{
		{[]ID{1, 2}, []Status{ok, ok}, Compatible},
		{[]ID{2, 4}, []Status{ok, ok}, Compatible},
		{[]ID{2, 6}, []Status{missing, missing}, Incompatible},
		{[]ID{2, 5}, []Status{conditional, conditional}, Incompatible},
		{[]ID{2, 99}, []Status{unknown, unknown}, Inconclusive},
		{[]ID{5, 99}, []Status{unknown, unknown}, Inconclusive},
		{[]ID{1, 99}, []Status{ok, ok}, Compatible},
		{[]ID{1, 3}, []Status{ok, harmful}, Incompatible},
		{[]ID{2, 3}, []Status{missing, harmful}, Incompatible},
		{[]ID{3, 99}, []Status{harmful, unknown}, Incompatible},
		{[]ID{2}, []Status{missing}, Incompatible},
	} {
		for _, level := range []Level{Requires, Wants} {
			var need Needs
			for _, id := range test.ids {
				need.Requirements = append(need.Requirements, Requirement{Capability: id, Level: level, OneOf: "g"})
			}
			report := Check(need, have)
			want := test.verdict
			if level == Wants {
				want = Compatible
			}
			if report.Verdict != want {
				t.Errorf("%v %s: %s, want %s", test.ids, level, report.Verdict, want)
			}
			for i, item := range report.Items {
				if item.Counts != test.counts[i] || item.Status != have[test.ids[i]].Status() {
					t.Errorf("%v %s: %d is %s and counts %s, want %s", test.ids, level, test.ids[i], item.Status, item.Counts, test.counts[i])
				}
			}
		}
	}
}

// TestExcuseOneOf: what an alternative makes up for needs no excuse, and where
// none is there every one of them does.
func TestExcuseOneOf(t *testing.T) {
	need := Needs{Requirements: []Requirement{
		{Capability: DRAV1, OneOf: "dra"}, {Capability: DRAV1beta1, OneOf: "dra"}, {Capability: DRAV1alpha2, OneOf: "dra", Level: Wants},
	}}
	for _, test := range []struct {
		have    states
		excused []ID
		asked   string
		want    Verdict
	}{
		{states{DRAV1: Yes, DRAV1beta1: No}, nil, "", Compatible},
		{states{DRAV1alpha2: Yes, DRAV1beta1: No}, nil, "", Compatible},
		{states{DRAV1: No, DRAV1beta1: No, DRAV1alpha2: No}, nil, "DRA_V1 missing DRA_V1BETA1 missing", Incompatible},
		{states{DRAV1: No, DRAV1beta1: No, DRAV1alpha2: No}, []ID{DRAV1}, "DRA_V1 missing DRA_V1BETA1 missing", Incompatible},
		{states{DRAV1: No, DRAV1beta1: No, DRAV1alpha2: No}, []ID{DRAV1, DRAV1beta1}, "DRA_V1 missing DRA_V1BETA1 missing", Compatible},
		{states{DRAV1beta1: No, DRAV1alpha2: No}, nil, "DRA_V1 unknown DRA_V1BETA1 unknown", Inconclusive},
		{states{DRAV1beta1: No, DRAV1alpha2: No}, []ID{DRAV1}, "DRA_V1 unknown DRA_V1BETA1 unknown", Inconclusive},
		{states{DRAV1: Harmful, DRAV1beta1: Yes}, nil, "DRA_V1 harmful", Incompatible},
		{states{DRAV1: Harmful, DRAV1beta1: Yes}, []ID{DRAV1}, "DRA_V1 harmful", Compatible},
	} {
		var asked []string
		got := need.Excuse(test.have, func(r Requirement, s Status) (string, bool) {
			asked = append(asked, r.Capability.String()+" "+s.String())
			return "because", slices.Contains(test.excused, r.Capability)
		})
		if a := strings.Join(asked, " "); a != test.asked {
			t.Errorf("%v: asked about %q, want %q", test.have, a, test.asked)
		}
		if v := Check(got, test.have).Verdict; v != test.want {
			t.Errorf("%v without %v: %s, want %s", test.have, test.excused, v, test.want)
		}
	}
}

// described names requirements shortly: "A/B:X" is X in the group A/B, brackets
// are around what is only wanted.
func described(reqs []Requirement) string {
	var out []string
	for _, r := range reqs {
		s := r.Capability.String()
		if r.OneOf != "" {
			s = r.OneOf + ":" + s
		}
		if r.Level == Wants {
			s = "(" + s + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestNormalizeOneOf(t *testing.T) {
	const a, b, c = DRAV1, DRAV1beta1, DRAHealthV1
	req := func(id ID, group string) Requirement { return Requirement{Capability: id, OneOf: group} }
	want := func(id ID, group string) Requirement { return Requirement{Capability: id, OneOf: group, Level: Wants} }
	for _, test := range []struct {
		in   []Requirement
		want string
	}{
		{[]Requirement{req(b, "x"), req(a, "x")}, "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"},
		{[]Requirement{req(a, "x")}, "DRA_V1"},
		{[]Requirement{req(a, "x"), req(a, "x")}, "DRA_V1"},
		{[]Requirement{req(a, "x"), req(b, "x"), req(b, "y"), req(a, "y")}, "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"},
		{[]Requirement{req(a, "x"), req(b, "x"), req(a, "")}, "DRA_V1 (DRA_V1BETA1)"},
		{[]Requirement{req(a, "x"), req(b, "x"), req(a, ""), req(b, "")}, "DRA_V1 DRA_V1BETA1"},
		{[]Requirement{req(a, "x"), req(b, "x"), want(a, "")}, "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"},
		{[]Requirement{want(a, "x"), req(b, "x"), want(a, "")}, "(DRA_V1/DRA_V1BETA1:DRA_V1) DRA_V1/DRA_V1BETA1:DRA_V1BETA1"},
		{[]Requirement{want(a, "x"), want(b, "x"), want(a, "")}, "(DRA_V1) (DRA_V1BETA1)"},
		{[]Requirement{req(a, "x"), req(b, "x"), req(b, "y"), req(c, "y")},
			"DRA_HEALTH_V1/DRA_V1BETA1:DRA_HEALTH_V1 DRA_V1/DRA_V1BETA1:DRA_V1 DRA_HEALTH_V1/DRA_V1BETA1:DRA_V1BETA1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"},
		{[]Requirement{req(a, "x"), req(b, "x"), req(c, "y")}, "DRA_HEALTH_V1 DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"},
	} {
		before := described(test.in)
		if got := described(Normalize(test.in)); got != test.want {
			t.Errorf("%s: %s, want %s", before, got, test.want)
		}
		if described(test.in) != before {
			t.Errorf("%s: changed", before)
		}
	}
}

func TestGroups(t *testing.T) {
	need := Needs{Requirements: []Requirement{
		{Capability: 1}, {Capability: 2, OneOf: "x"}, {Capability: 3}, {Capability: 4, OneOf: "x", Level: Wants}, {Capability: 5, OneOf: "y", Level: Wants},
	}}
	var got []string
	for _, group := range need.Groups() {
		got = append(got, described(group))
	}
	want := []string{described(need.Requirements[:1]), described([]Requirement{need.Requirements[1], need.Requirements[3]}), described(need.Requirements[2:3]), described(need.Requirements[4:])}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := need.Required(); n != 3 {
		t.Errorf("%d required", n)
	}
}

// FuzzNormalize: in whatever form needs are given, normalized they mean the
// same, and once is enough.
func FuzzNormalize(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, []byte{1, 4})
	f.Add([]byte{8, 9, 16, 17, 1}, []byte{4, 1, 0})
	f.Add([]byte{8, 41, 1, 33}, []byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, needs, states []byte) {
		if len(needs) > 24 {
			return
		}
		have := answers{}
		for id, s := range states {
			// What harms is only looked at where it is required: not here.
			have[ID(id%8)] = Answer{State: State(s) % Harmful}
		}
		var reqs []Requirement
		for _, n := range needs {
			group := []string{"", "x", "y", "z"}[n>>3&3]
			reqs = append(reqs, Requirement{Capability: ID(n & 7), OneOf: group, Level: Level(n >> 5 & 1)})
		}
		normal := Normalize(reqs)
		if twice := described(Normalize(normal)); twice != described(normal) {
			t.Fatalf("%s becomes %s and then %s", described(reqs), described(normal), twice)
		}
		seen := map[string]bool{}
		for _, r := range normal {
			key := r.Capability.String() + " " + r.OneOf
			if seen[key] || r.OneOf != "" && seen[r.Capability.String()+" "] {
				t.Fatalf("%s is there twice in %s", key, described(normal))
			}
			seen[key] = true
		}
		if before, after := Check(Needs{Requirements: reqs}, have).Verdict, Check(Needs{Requirements: normal}, have).Verdict; before != after {
			t.Fatalf("%s is %s, as %s %s", described(reqs), before, described(normal), after)
		}
	})
}

// TestNormalizeMany: a saved report may have any number of groups; it takes no
// more than the number of capabilities to put them in order.
func TestNormalizeMany(t *testing.T) {
	var reqs []Requirement
	for i := range 200_000 {
		group := strings.Repeat("x", i%3) + string(rune('a'+i%26)) + fmt.Sprint(i/4)
		reqs = append(reqs, Requirement{Capability: ID((i*7919 + i/97) % 150), OneOf: group, Level: Level(i / 64 % 2)})
	}
	reqs = append(reqs, Requirement{Capability: 1}, Requirement{Capability: 2, Level: Wants})
	if got := Normalize(reqs); len(got) == 0 {
		t.Error("nothing is left")
	}
}
