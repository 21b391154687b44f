package cmd

import (
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/pluginlog"
	"github.com/nri-compat/nri-compat/internal/standin"
)

// TestNoReleaseIsSure: of what no release is known to have, and one is not known
// to lack, nobody says that it works nowhere.
func TestNoReleaseIsSure(t *testing.T) {
	o := &observeOptions{app: newApp(nil, strings.NewReader(""), nil, nil)}
	table := inference.Builtin()
	reqs := func(ids ...capability.ID) (out []capability.Requirement) {
		for _, id := range ids {
			out = append(out, capability.Requirement{Capability: id, Source: capability.Observed})
		}
		return out
	}
	for _, test := range []struct {
		name string
		reqs []capability.Requirement
		want capability.Verdict
	}{
		{"a release has it", reqs(capability.DeviceCDIDevices), capability.Compatible},
		{"none has both", reqs(capability.DeviceRegisterBeforeServe, capability.DeviceCDIDevices), capability.Incompatible},
		{"one has the one, and of the other nothing is known", reqs(capability.DeviceCDIViaAnnotations, capability.DRAUnknownServices), capability.Inconclusive},
	} {
		doc := o.document(table, "plugin", nil, stageReport{Done: true}, standin.Findings{Needs: capability.Needs{Requirements: test.reqs}}, &pluginlog.Tail{})
		if doc.Verdict != test.want.String() {
			t.Errorf("%s: %s, want %s", test.name, doc.Verdict, test.want)
		}
	}
}
