package probe

import (
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// TestPlacesAndWays: what a value passes one after the other, and what leads
// to the same end independently.
func TestPlacesAndWays(t *testing.T) {
	cdi, hugetlb := when(cdiEnabled, capability.CreateError, "f"), when(hugetlbEnabled, capability.Dropped, "g")
	nothing := unknown("not seen")
	for _, test := range []struct {
		name string
		got  Verdict
		want string
	}{
		{"all let it through", all(yes("a"), yes("b")), "yes"},
		{"one does not", all(yes("a"), no("b"), nothing), "no"},
		{"one before it is not understood", all(nothing, no("b")), "unknown"},
		{"one crashes", all(yes("a"), crash("b"), no("c")), "harmful, crash"},
		{"one limits it", all(partial("a"), yes("b")), "partial"},
		{"one needs a setting", all(partial("a"), cdi), "conditional (cri.enable_cdi=true), create-error"},
		{"two need the same setting", all(cdi, cdi), "conditional (cri.enable_cdi=true), create-error"},
		{"two need different settings", all(cdi, hugetlb), "unknown"},

		{"all ways", anyWay(yes("a"), yes("b"), yes("c")), "yes"},
		{"no way", anyWay(no("a"), no("b")), "no"},
		{"some ways", anyWay(yes("a"), no("b")), "partial"},
		{"a limited way", anyWay(yes("a"), partial("b")), "partial"},
		{"all ways need a setting", anyWay(hugetlb, hugetlb), "conditional (cri.disable_hugetlb_controller=false), dropped"},
		{"the others need a setting", anyWay(yes("a"), hugetlb), "conditional (cri.disable_hugetlb_controller=false), dropped"},
		{"a way with a setting, and none", anyWay(hugetlb, no("b")), "partial"},
		{"ways with different settings", anyWay(hugetlb, cdi), "partial"},
		{"a way that crashes", anyWay(yes("a"), crash("b")), "harmful, crash"},
		{"a way that is not understood", anyWay(yes("a"), nothing), "unknown"},
	} {
		if got := test.got.String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestEvidence: places are named in the order in which a value passes them,
// each once, and those of a place that decides alone stand alone.
func TestEvidence(t *testing.T) {
	v := all(yes("a", "f:1", "f:2"), yes("b", "f:2", "f:3", "f:4")).trim(3)
	if got := v.Files; len(got) != 3 || got[0] != "f:1" || got[1] != "f:2" || got[2] != "f:3" {
		t.Errorf("%v", got)
	}
	if v := all(yes("a", "f:1"), no("b", "f:2")); len(v.Files) != 1 || v.Files[0] != "f:2" || v.In != "b" {
		t.Errorf("%+v", v)
	}
}

// TestFieldsOfResources: every capability about a field of resources is about
// one that is known here.
func TestFieldsOfResources(t *testing.T) {
	fields := resourceFields()
	for part := range fields {
		n := 0
		for _, kind := range []string{"ADJUST_LINUX_", "UPDATE_LINUX_", "INPUT_LINUX_"} {
			if _, err := capability.Parse(kind + part); err == nil {
				n++
			}
		}
		if n != 3 {
			t.Errorf("%s is part of %d capabilities, want 3", part, n)
		}
	}
	for _, id := range capability.All() {
		if name, ok := strings.CutPrefix(id.String(), "UPDATE_LINUX_"); ok && fields[name] == "" {
			t.Errorf("%s: no field", id)
		}
	}
}
