package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// TestLogDifferences: only what the runtime's words show and the readers did not
// find is a difference.
func TestLogDifferences(t *testing.T) {
	table := inference.Builtin()
	d := NewInspect(Head{Schema: "nri-compat.dev/inspect/v1"})
	d.Add(InspectPlugin{Name: "gpu", Gaps: []string{"an executable"}}, []capability.Requirement{{Capability: capability.PodresGet}}, inference.Advice{})
	reason := func(certain bool, ids ...capability.ID) LogReason {
		r := LogReason{Severity: "error", Refusal: true, Certain: certain}
		for _, id := range ids {
			r.Capabilities = append(r.Capabilities, NewLogCapability(table, id))
		}
		return r
	}
	d.SetLog(Log{Reasons: []LogReason{
		reason(true, capability.PodresGet, capability.DRAV1),
		reason(false, capability.DeviceTopology),
		reason(true, capability.DRAV1),
	}})
	want := []string{"the log shows that DRA_V1 is missing on the runtime; nothing that depends on it was found in gpu, of which not everything could be read"}
	if !slices.Equal(d.Log.Differences, want) {
		t.Errorf("%q", d.Log.Differences)
	}
}

// TestHostileLog: what a log says can neither steer a terminal nor break a
// document.
func TestHostileLog(t *testing.T) {
	const evil = "\x1b[2Jx\r\n\u202e|`<b>[x](http://x)\xff"
	d := NewInspect(NewHead("inspect", "v0", inference.Builtin()))
	d.SetLog(Log{File: evil, Lines: 1, Last: evil, Reasons: []LogReason{
		{Severity: "error", Source: evil, Line: 1, Text: evil, Quote: evil + "!", Capabilities: []LogCapability{NewLogCapability(inference.Builtin(), capability.DRAV1)}},
	}})
	schema := mustCompile("../../testdata/schema/inspect.v1.json")
	for _, f := range Formats(d) {
		var b bytes.Buffer
		if err := Write(&b, d, f, Style{}); err != nil {
			t.Fatal(err)
		}
		if err := noControls(b.Bytes(), "\n"); err != nil && f != YAML {
			t.Errorf("%s: %v", f, err)
		}
		if f == JSON {
			if err := validateJSON(schema, b.Bytes()); err != nil {
				t.Error(err)
			}
		}
		if f == Markdown && strings.Contains(b.String(), "<b>") {
			t.Errorf("%s", b.String())
		}
	}
}
