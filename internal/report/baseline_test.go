package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func TestBaseline(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, checkCases[1].document(t), JSON, Style{}); err != nil {
		t.Fatal(err)
	}
	saved, err := ReadCheck(&b, "old.json")
	if err != nil {
		t.Fatal(err)
	}
	base, err := NewBaseline(saved)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		plugin, runtime, release string
		id                       capability.ID
		status                   capability.Status
		want                     bool
	}{
		{"device-injector", "containerd", "2.0.5", capability.AdjustCDIDevices, capability.StatusMissing, true},
		{"device-injector", "containerd", "2.0.5", capability.AdjustCDIDevices, capability.StatusUnknown, true},
		{"device-injector", "containerd", "2.0.5", capability.AdjustCDIDevices, capability.StatusHarmful, false},
		{"device-injector", "containerd", "1.7.30", capability.AdjustCDIDevices, capability.StatusMissing, false}, // was conditional
		{"device-injector", "containerd", "2.0.5", capability.AdjustMounts, capability.StatusMissing, false},      // was ok
		{"device-injector", "containerd", "2.0.99", capability.AdjustCDIDevices, capability.StatusMissing, false},
		{"device-injector", "cri-o", "2.0.5", capability.AdjustCDIDevices, capability.StatusMissing, false},
		{"other", "containerd", "2.0.5", capability.AdjustCDIDevices, capability.StatusMissing, false},
	} {
		if got := base.Had(tt.plugin, tt.runtime, tt.release, tt.id, tt.status); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	inconclusive, err := NewBaseline(checkCases[2].document(t))
	if err != nil {
		t.Fatal(err)
	}
	if !inconclusive.HadGap("mounter", checkCases[2].gaps[0]) || inconclusive.HadGap("mounter", "another") || inconclusive.HadGap("x", checkCases[2].gaps[0]) {
		t.Error("gaps")
	}
	if _, err := NewBaseline(checkCases[5].document(t)); err == nil || !strings.Contains(err.Error(), "could not be checked") {
		t.Errorf("a check that failed is a baseline: %v", err)
	}
}

func TestReadCheckRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":        {"", "x.json: no report in JSON: unexpected end"},
		"no JSON":        {"results: []", "x.json: no report in JSON"},
		"a list":         {"[]", "x.json: no report in JSON"},
		"another schema": {`{"schema": "nri-compat.dev/matrix/v1"}`, `x.json: schema "nri-compat.dev/matrix/v1" is not nri-compat.dev/check/v1`},
		"newer schema":   {`{"schema": "nri-compat.dev/check/v2"}`, `x.json: schema "nri-compat.dev/check/v2" is not`},
		"wrong type":     {`{"schema": "nri-compat.dev/check/v1", "results": 1}`, "x.json: json: cannot unmarshal number"},
		"wrong status":   {`{"schema": "nri-compat.dev/check/v1", "results": [{"capabilities": [{"id": "A", "status": "fine"}]}]}`, `invalid status "fine"`},
	} {
		if c, err := ReadCheck(strings.NewReader(tt.text), "x.json"); err == nil || c != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
