package standin

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// FuzzFindings: whatever a plugin sent, what is concluded is well formed, the
// same each time, and never says that a plugin that was not fully seen needs
// nothing more.
func FuzzFindings(f *testing.F) {
	for _, o := range []Observation{
		{}, {Ignored: 3},
		{Registrations: []Registration{{Resource: "a/b", Told: &PluginOptions{true, true}, Answered: &PluginOptions{}, Served: ServedLate}}},
		{Registrations: []Registration{{Refused: "no"}, {Way: BySocket, Allocated: &Allocation{CDI: []string{"x"}}, Calls: []Call{{"Allocate", "x", "Unimplemented"}}}}},
		{Drivers: []Driver{{Name: "x", Type: "DRAPlugin", Services: []string{"v1.DRAPlugin", "\x00"}}}},
	} {
		text, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var o Observation
		if json.Unmarshal(text, &o) != nil {
			return
		}
		found := o.Findings()
		for i, r := range found.Needs.Requirements {
			if !r.Capability.Known() || r.Capability.Kind().Family() != capability.Kubelet || len(r.Evidence) == 0 {
				t.Errorf("%+v", r)
			}
			if i > 0 && r.Capability.String() <= found.Needs.Requirements[i-1].Capability.String() {
				t.Errorf("%s is not in order", r.Capability)
			}
		}
		for _, r := range o.Registrations {
			if (r.Refused != "" || r.Waiting != "") && len(found.Needs.Gaps) == 0 {
				t.Errorf("no gap although %+v", r)
			}
		}
		if len(o.Registrations)+len(o.Drivers) == 0 && len(found.Needs.Gaps) == 0 {
			t.Error("nothing was seen, and nothing is missing")
		}
		if len(found.Needs.Requirements) == 0 && len(found.Needs.Gaps) == 0 {
			t.Error("it needs nothing, and nothing is missing")
		}
		again := o.Findings()
		if !slices.Equal(again.Needs.Gaps, found.Needs.Gaps) || !slices.Equal(again.Broken, found.Broken) {
			t.Error("not the same again")
		}
	})
}
