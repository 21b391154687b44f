package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

func needing(gaps []string, ids ...capability.ID) PluginNeeds {
	p := PluginNeeds{Name: "p", Needs: capability.Needs{Gaps: gaps}}
	for _, id := range ids {
		p.Needs.Requirements = append(p.Needs.Requirements, capability.Requirement{Capability: id})
	}
	return p
}

func TestCompare(t *testing.T) {
	table := inference.Builtin()
	runtimes, err := table.Select("containerd@>=1.7.28 <2.1.2")
	if err != nil {
		t.Fatal(err)
	}
	mounts, cdi := needing(nil, capability.AdjustMounts), needing(nil, capability.AdjustMounts, capability.AdjustCDIDevices)
	gaps := needing([]string{"packed"}, capability.AdjustMounts)
	device := needing(nil, capability.AdjustMounts, capability.DeviceCDIDevices)
	deviceCDI := needing(nil, capability.AdjustCDIDevices, capability.DeviceCDIDevices)
	either := needing(nil, capability.AdjustCDIDevices, capability.AdjustMounts)
	for i := range either.Needs.Requirements {
		either.Needs.Requirements[i].OneOf = "g"
	}
	for _, tt := range []struct {
		name                    string
		from, to                PluginNeeds
		lost, undecided, gained int
		runs                    []string
	}{
		{"the same", cdi, cdi, 0, 0, 0, nil},
		{"more", mounts, cdi, 23, 0, 0, []string{"lost 1.7.28-1.7.29", "lost 1.7.30-1.7.36", "lost 2.0.0-2.0.14"}},
		{"less", cdi, mounts, 0, 0, 23, []string{"gained 1.7.28-1.7.29", "gained 1.7.30-1.7.36", "gained 2.0.0-2.0.14"}},
		{"new cannot be read", mounts, gaps, 0, 25, 0, []string{"undecided 1.7.28-2.1.1"}},
		{"old cannot be read", gaps, mounts, 0, 0, 25, []string{"gained 1.7.28-2.1.1"}},
		{"more, of both families", device, deviceCDI, 23, 0, 0, []string{"lost 1.7.28-1.7.29", "lost 1.7.30-1.7.36", "lost 2.0.0-2.0.14"}},
		{"less, of both families", deviceCDI, device, 0, 0, 23, []string{"gained 1.7.28-1.7.29", "gained 1.7.30-1.7.36", "gained 2.0.0-2.0.14"}},
		{"more of the kubelet", mounts, device, 0, 0, 0, nil},
		{"an alternative less", either, cdi, 23, 0, 0, []string{"lost 1.7.28-1.7.29", "lost 1.7.30-1.7.36", "lost 2.0.0-2.0.14"}},
		{"an alternative more", mounts, either, 0, 0, 0, nil},
		{"old cannot be read, new fails", gaps, cdi, 0, 23, 2, []string{"undecided 1.7.28-1.7.29", "undecided 1.7.30-1.7.36", "undecided 2.0.0-2.0.14", "gained 2.1.0-2.1.1"}},
	} {
		d := NewCompare(Head{}, tt.from, tt.to, [2]string{"a", "b"}, table.LookupAll(runtimes, nil))
		var runs []string
		n := 0
		for _, r := range d.Runtimes {
			runs = append(runs, fmt.Sprintf("%s %s-%s", r.Change, r.From, r.To))
			n += len(r.Releases)
		}
		if diff := cmp.Diff(tt.runs, runs); diff != "" || d.Lost != tt.lost || d.Undecided != tt.undecided || d.Gained != tt.gained || n != tt.lost+tt.undecided+tt.gained {
			t.Errorf("%s: %d lost, %d undecided, %d gained\n%s", tt.name, d.Lost, d.Undecided, d.Gained, diff)
		}
	}
}

// TestReadNeeds: what check and inspect save reads back to the same needs.
func TestReadNeeds(t *testing.T) {
	want := needing([]string{"packed"}, capability.AdjustCDIDevices, capability.AdjustMounts)
	inspect := NewInspect(Head{Schema: "nri-compat.dev/inspect/v1"})
	inspect.Add(InspectPlugin{Name: "p", Gaps: want.Needs.Gaps}, want.Needs.Requirements, inference.Advice{})
	check := NewCheck(Head{Schema: "nri-compat.dev/check/v1"})
	table := inference.Builtin()
	runtimes, err := table.Select("containerd@2.0.x")
	if err != nil {
		t.Fatal(err)
	}
	check.Add(CheckPlugin{Name: "p", Gaps: want.Needs.Gaps}, table.Evaluate(want.Needs, table.LookupAll(runtimes, nil)), inference.Advice{}, nil)
	for _, doc := range []Document{inspect, check} {
		var b bytes.Buffer
		if err := Write(&b, doc, JSON, Style{}); err != nil {
			t.Fatal(err)
		}
		got, err := ReadNeeds(&b, "x.json")
		if err != nil {
			t.Fatal(err)
		}
		for i := range got[0].Needs.Requirements {
			got[0].Needs.Requirements[i].Evidence = nil
		}
		if diff := cmp.Diff([]PluginNeeds{want}, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestReadNeedsRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":            {"", "x.json: no report in JSON"},
		"another schema":     {`{"schema": "x"}`, `schema "x" is neither`},
		"no plugin":          {`{"schema": "nri-compat.dev/inspect/v1"}`, "x.json: no plugin in it"},
		"errors":             {`{"schema": "nri-compat.dev/inspect/v1", "plugins": [{}], "errors": [{"ref": "a", "error": "b"}]}`, "could not be read in it: a: b"},
		"unknown capability": {`{"schema": "nri-compat.dev/inspect/v1", "plugins": [{"name": "p", "requirements": [{"id": "ADJUST_X", "level": "requires", "source": "binary"}]}]}`, "x.json: p: "},
		"unknown level":      {`{"schema": "nri-compat.dev/inspect/v1", "plugins": [{"name": "p", "requirements": [{"id": "ADJUST_MOUNTS", "level": "needs", "source": "binary"}]}]}`, `invalid level "needs"`},
		"not checked":        {`{"schema": "nri-compat.dev/check/v1", "plugins": [{"name": "p"}]}`, "p has no result"},
	} {
		if got, err := ReadNeeds(strings.NewReader(tt.text), "x.json"); err == nil || got != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
