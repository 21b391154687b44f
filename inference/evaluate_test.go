package inference

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func requirements(t *testing.T, names ...string) capability.Needs {
	t.Helper()
	var need capability.Needs
	for _, name := range names {
		id, err := capability.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		need.Requirements = append(need.Requirements, capability.Requirement{Capability: id})
	}
	return need
}

func TestEvaluateGroupsNeighbours(t *testing.T) {
	for _, test := range []struct {
		need   []string
		expr   string
		groups string
	}{
		{[]string{"ADJUST_CDI_DEVICES"}, "containerd@>=1.7.28 <2.2",
			"1.7.28-1.7.29 incompatible, 1.7.30-1.7.36 incompatible, 2.0.0-2.0.14 incompatible, 2.1.0-2.1.9 compatible"},
		{[]string{"ADJUST_LINUX_SYSCTL"}, "containerd@>=2.1.9 <2.3.1",
			"2.1.9-2.2.0 incompatible, 2.2.1-2.2.9 incompatible, 2.3.0-2.3.0 compatible"},
		{[]string{"ADJUST_MOUNTS"}, "cri-o@>=1.29.12 <1.30.2",
			"1.29.12-1.29.13 compatible, 1.30.0-1.30.1 compatible"}, // NRI is off by default, then on
		{[]string{"ADJUST_POSIX_RLIMITS"}, "containerd@>=1.7.6 <1.7.9", "1.7.6-1.7.6 incompatible, 1.7.7-1.7.8 compatible"},
	} {
		runtimes, err := Builtin().Select(test.expr)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		n := 0
		for _, g := range Builtin().Evaluate(requirements(t, test.need...), Builtin().LookupAll(runtimes, nil)) {
			n += len(g.Outcomes)
			got = append(got, fmt.Sprintf("%s-%s %s", g.First().Support.Runtime.Version, g.Last().Support.Runtime.Version, g.Last().Report.Verdict))
		}
		if s := strings.Join(got, ", "); s != test.groups || n != len(runtimes) {
			t.Errorf("%v on %s: %s, want %s", test.need, test.expr, s, test.groups)
		}
	}
}

// TestEvaluateKeepsGapsApart: releases that are not neighbours in the table
// never share a group, nor do vendor builds.
func TestEvaluateKeepsGapsApart(t *testing.T) {
	var runtimes []Runtime
	for _, s := range []string{"containerd@2.1.0", "containerd@2.1.2", "containerd@2.1.3-k3s1", "containerd@2.1.3"} {
		r, err := ParseRuntime(s)
		if err != nil {
			t.Fatal(err)
		}
		runtimes = append(runtimes, r)
	}
	if groups := Builtin().Evaluate(requirements(t, "ADJUST_MOUNTS"), Builtin().LookupAll(runtimes, nil)); len(groups) != 4 {
		t.Errorf("%d groups", len(groups))
	}
}

func TestWorstFirst(t *testing.T) {
	runtimes, err := Builtin().Select("containerd@>=2.1.9 <2.3.1")
	if err != nil {
		t.Fatal(err)
	}
	groups := Worst(Builtin().Evaluate(requirements(t, "ADJUST_LINUX_SYSCTL"), Builtin().LookupAll(runtimes, nil)))
	var order []string
	for _, g := range groups {
		order = append(order, g.Last().Report.Items[0].Status.String())
	}
	if want := []string{"harmful", "missing", "ok"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestAdvise(t *testing.T) {
	fit := func(f Fit) string {
		s := fmt.Sprintf("%s %s-%s", f.Runtime, f.From, f.To)
		if f.Open {
			s += " open"
		}
		if f.Continues {
			s += " continues"
		}
		return s + strings.Join(append([]string{""}, f.With...), " with ")
	}
	for _, test := range []struct {
		need    []string
		runtime []string
		fits    string
		nowhere string
	}{
		{[]string{"ADJUST_CDI_DEVICES"}, []string{Containerd, CRIO},
			"containerd 1.7.30-1.7.36 with cri.enable_cdi=true; containerd 2.1.0-2.1.9; containerd 2.2.0-2.2.9 continues; " +
				"containerd 2.3.0-2.3.7 continues; containerd 2.4.0-2.4.2 open continues; " +
				"cri-o 1.34.0-1.34.11; cri-o 1.35.0-1.35.6 continues; cri-o 1.36.0-1.36.3 open continues", ""},
		{[]string{"ADJUST_LINUX_SYSCTL"}, []string{Containerd, CRIO},
			"containerd 2.3.0-2.3.7; containerd 2.4.0-2.4.2 open continues", ""},
		{[]string{"ADJUST_ENV_REMOVAL", "UPDATE_EVICT_CONTAINER", "ADJUST_MOUNTS"}, []string{Containerd, CRIO},
			"", "ADJUST_ENV_REMOVAL UPDATE_EVICT_CONTAINER"},
		{[]string{"ADJUST_LINUX_MEMORY_POLICY"}, []string{CRIO}, "", "ADJUST_LINUX_MEMORY_POLICY"},
	} {
		a := Builtin().Advise(requirements(t, test.need...), test.runtime, nil)
		var fits, nowhere []string
		for _, f := range a.Fits {
			fits = append(fits, fit(f))
		}
		for _, id := range a.Nowhere {
			nowhere = append(nowhere, id.String())
		}
		if got := strings.Join(fits, "; "); got != test.fits || strings.Join(nowhere, " ") != test.nowhere {
			t.Errorf("%v: %s, nowhere %v", test.need, got, nowhere)
		}
	}
}

// TestAdviceHolds: every release that a fit names is compatible once the
// settings it names are as it says, and the one before it is not.
func TestAdviceHolds(t *testing.T) {
	for _, id := range capability.All() {
		need := requirements(t, id.String())
		for _, f := range Builtin().Advise(need, Runtimes(), nil).Fits {
			values := Values{}
			for _, w := range f.With {
				name, v, err := Builtin().ParseAssumption(w)
				if err != nil {
					t.Fatal(err)
				}
				values[name] = v
			}
			for _, v := range []Version{f.From, f.To} {
				s := Builtin().Lookup(Runtime{Name: f.Runtime, Version: v}, values)
				if got := capability.Check(need, s).Verdict; got != capability.Compatible {
					t.Errorf("%s on %s %s with %v: %s", id, f.Runtime, v, f.With, got)
				}
			}
		}
	}
}

func TestDiff(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     map[capability.ID]Shift
	}{
		{"containerd@1.7.30", "containerd@2.0.11", map[capability.ID]Shift{capability.AdjustCDIDevices: Lost}},
		{"containerd@1.7.29", "containerd@1.7.30", map[capability.ID]Shift{capability.AdjustCDIDevices: Gained}},
		{"containerd@1.7.30", "containerd@2.1.0", map[capability.ID]Shift{capability.AdjustCDIDevices: Better, capability.InputIPAddresses: Gained}},
		{"containerd@2.2.0", "containerd@2.2.1", map[capability.ID]Shift{capability.AdjustLinuxSysctl: Worse}},
		{"containerd@2.2.9", "containerd@2.3.0", map[capability.ID]Shift{capability.AdjustLinuxSysctl: Gained}},
		{"containerd@2.2.9", "containerd@9.9.9", map[capability.ID]Shift{capability.AdjustMounts: Unsure}},
		{"containerd@2.2.9", "containerd@2.2.9", map[capability.ID]Shift{capability.AdjustMounts: ""}},
	} {
		var sides [2]Support
		for i, s := range []string{test.from, test.to} {
			r, err := ParseRuntime(s)
			if err != nil {
				t.Fatal(err)
			}
			sides[i] = Builtin().Lookup(r, nil)
		}
		got := map[capability.ID]Shift{}
		for _, d := range Diff(sides[0], sides[1]) {
			got[d.Capability] = d.Shift
		}
		for id, want := range test.want {
			if got[id] != want {
				t.Errorf("%s from %s to %s: %q, want %q", id, test.from, test.to, got[id], want)
			}
		}
	}
}
