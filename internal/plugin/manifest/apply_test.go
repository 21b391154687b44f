package manifest

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

func detected() found.Plugin {
	return found.Plugin{
		Name:   "injector",
		Ref:    "./bin/injector",
		Reader: "binary",
		Gaps:   []string{"one\npackage"},
		Opaque: []string{"prints containers"},
		Requirements: []capability.Requirement{
			{
				Capability: capability.AdjustLinuxDevices, Source: capability.FromBinary,
				Evidence: []capability.Evidence{{Kind: "call", Symbol: "api.AddDevice\n- EVIL", File: "a.go", Line: 7}},
			},
			{Capability: capability.AdjustEnv, Source: capability.FromBinary, Unproven: true},
			{Capability: capability.AdjustLinuxSysctl, Source: capability.FromBinary, Unproven: true},
			{Capability: capability.EventCreateContainer, Source: capability.FromBinary},
		},
	}
}

func TestApply(t *testing.T) {
	m, err := Read(strings.NewReader(`schema: nri-compat.dev/manifest/v1
plugin: other-name
requires:
  - ADJUST_LINUX_DEVICES
  - ADJUST_MOUNTS
wants:
  - {capability: ADJUST_ENV, reason: has a fallback}
excludes:
  - {capability: ADJUST_LINUX_SYSCTL, reason: never called}
  - {capability: ADJUST_LINUX_RDT_CLASS, reason: long gone}
runtimes: [containerd@1.7]
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before := detected()
	got, diffs := Apply(before, m)
	if d := cmp.Diff(detected(), before); d != "" {
		t.Errorf("Apply changed its argument: %s", d)
	}
	wantDiffs := []Difference{
		{capability.AdjustLinuxRDTClass, StaleExclusion, "excludes"},
		{capability.AdjustMounts, NotDetected, "requires"},
		{capability.EventCreateContainer, NotDeclared, ""},
	}
	if d := cmp.Diff(wantDiffs, diffs); d != "" {
		t.Errorf("differences (-want +got)\n%s", d)
	}
	want := detected()
	want.Name = "other-name"
	want.Supports = []string{"containerd@1.7"}
	said := func(line int, list string) capability.Evidence {
		return capability.Evidence{Kind: "manifest", File: "m.yaml", Line: line, Detail: list}
	}
	want.Requirements = []capability.Requirement{
		{Capability: capability.AdjustEnv, Level: capability.Wants, Source: capability.FromBinary, Note: "has a fallback", Evidence: []capability.Evidence{said(7, "wants")}},
		{
			Capability: capability.AdjustLinuxDevices, Source: capability.FromBinary,
			Evidence: append(detected().Requirements[0].Evidence, said(4, "requires")),
		},
		{Capability: capability.AdjustMounts, Source: capability.Declared, Evidence: []capability.Evidence{said(5, "requires")}},
		{Capability: capability.EventCreateContainer, Source: capability.FromBinary},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("plugin (-want +got)\n%s", d)
	}
	for _, d := range diffs {
		if s := d.String(); !strings.HasPrefix(s, d.Capability.String()) {
			t.Errorf("difference reads %q", s)
		}
	}
}

// TestWriteThenApplyChangesNothing: a manifest written from what was detected
// is valid, whatever the detected strings hold, and agrees with the plugin.
func TestWriteThenApplyChangesNothing(t *testing.T) {
	p := detected()
	p.Name = "evil\"\n- name: \x00\u2028"
	p.Requirements[1].Level = capability.Wants
	var b, again bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	if err := Write(&again, p); err != nil || b.String() != again.String() {
		t.Errorf("written differently the second time, %v", err)
	}
	m, err := Read(&b, "m.yaml")
	if err != nil {
		t.Fatalf("%v in\n%s", err, again.String())
	}
	got, diffs := Apply(p, m)
	if len(diffs) > 0 {
		t.Errorf("differences: %v", diffs)
	}
	levels := func(p found.Plugin) map[string]string {
		out := map[string]string{}
		for _, r := range p.Requirements {
			out[r.Capability.String()] = r.Level.String()
		}
		return out
	}
	if d := cmp.Diff(levels(p), levels(got)); d != "" {
		t.Errorf("levels (-before +after)\n%s", d)
	}
	if !strings.Contains(again.String(), "# api.AddDevice?- EVIL at a.go:7\n") {
		t.Errorf("no evidence beside the capability in\n%s", again.String())
	}
}

// TestApplyOneOf: how declared and detected alternatives are joined.
func TestApplyOneOf(t *testing.T) {
	detected := found.Plugin{Reader: "source", Requirements: []capability.Requirement{
		{Capability: capability.DRAV1, OneOf: "dra", Source: capability.FromSource},
		{Capability: capability.DRAV1beta1, OneOf: "dra", Source: capability.FromSource},
		{Capability: capability.PodresV1List, Source: capability.FromSource},
	}}
	const both = "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1 "
	for _, test := range []struct{ manifest, needs, diffs string }{
		{"", both + "PODRES_V1_LIST", "DRA_V1 detected-not-declared DRA_V1BETA1 detected-not-declared PODRES_V1_LIST detected-not-declared"},
		{"requires: [{oneOf: [DRA_V1, DRA_V1BETA1]}, PODRES_V1_LIST]", both + "PODRES_V1_LIST", ""},
		{"requires: [DRA_V1, PODRES_V1_LIST]", "DRA_V1 (DRA_V1BETA1) PODRES_V1_LIST", "DRA_V1BETA1 alternative-not-declared"},
		{"requires: [DRA_V1, DRA_V1BETA1, PODRES_V1_LIST]", "DRA_V1 DRA_V1BETA1 PODRES_V1_LIST", ""},
		{"requires: [PODRES_V1_LIST]\nwants: [DRA_V1]", "(DRA_V1/DRA_V1BETA1:DRA_V1) DRA_V1/DRA_V1BETA1:DRA_V1BETA1 PODRES_V1_LIST", "DRA_V1BETA1 detected-not-declared"},
		{"requires: [PODRES_V1_LIST]\nwants: [{oneOf: [DRA_V1, DRA_V1BETA1]}]", "(DRA_V1/DRA_V1BETA1:DRA_V1) (DRA_V1/DRA_V1BETA1:DRA_V1BETA1) PODRES_V1_LIST", ""},
		{"requires: [PODRES_V1_LIST]\nexcludes: [{capability: DRA_V1, reason: never}]", "DRA_V1BETA1 PODRES_V1_LIST", "DRA_V1BETA1 detected-not-declared"},
		{"requires: [PODRES_V1_LIST, {oneOf: [DRA_V1BETA1, DRA_V1ALPHA2]}]",
			"(DRA_V1) DRA_V1ALPHA2/DRA_V1BETA1:DRA_V1ALPHA2 DRA_V1ALPHA2/DRA_V1BETA1:DRA_V1BETA1 PODRES_V1_LIST", "DRA_V1 alternative-not-declared DRA_V1ALPHA2 declared-not-detected"},
	} {
		m, err := Read(strings.NewReader("schema: nri-compat.dev/manifest/v1\n"+test.manifest), "m.yaml")
		if err != nil {
			t.Fatal(err)
		}
		got, diffs := Apply(detected, m)
		if s := needs(got); s != test.needs {
			t.Errorf("%s: %s, want %s", test.manifest, s, test.needs)
		}
		var list []string
		for _, d := range diffs {
			list = append(list, d.Capability.String()+" "+string(d.Kind))
		}
		if s := strings.Join(list, " "); s != test.diffs {
			t.Errorf("%s: differences %s, want %s", test.manifest, s, test.diffs)
		}
		// What was joined is written so that it is read back the same.
		var b bytes.Buffer
		if err := Write(&b, got); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, "m.yaml")
		if err != nil {
			t.Errorf("%s: what was written is refused: %v", test.manifest, err)
		}
		mixed := strings.Contains(test.manifest, "wants: [DRA_V1]") // a manifest has no words for that
		if s := needs(again.Declared()); s != test.needs && !mixed {
			t.Errorf("%s: written and read back: %s, want %s", test.manifest, s, test.needs)
		}
	}
}

// needs names requirements: those of a group after its name, those that are only
// wanted in brackets.
func needs(p found.Plugin) string {
	var out []string
	for _, r := range p.Requirements {
		s := r.Capability.String()
		if r.OneOf != "" {
			s = r.OneOf + ":" + s
		}
		if r.Level == capability.Wants {
			s = "(" + s + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestDeclared(t *testing.T) {
	m := Manifest{Name: "m.yaml", Plugin: "x", Requires: []Entry{{Capability: capability.AdjustEnv}}}
	p := m.Declared()
	if p.Reader != "manifest" || p.Name != "x" || len(p.Requirements) != 1 || len(p.Gaps) != 0 ||
		p.Requirements[0].Source != capability.Declared {
		t.Errorf("%+v", p)
	}
	if p := (Manifest{Name: "m.yaml"}).Declared(); len(p.Gaps) != 1 {
		t.Errorf("a manifest that names nothing leaves no gap: %+v", p)
	}
}

func TestWriteReportsAFailingWriter(t *testing.T) {
	if err := Write(failing{}, detected()); err == nil {
		t.Error("no error")
	}
	if err := Encode(failing{}, Manifest{}); err == nil {
		t.Error("no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestWriteRefuses: what a manifest cannot say is not written, since nobody could
// read it back.
func TestWriteRefuses(t *testing.T) {
	p := found.Plugin{Name: "x", Reader: "run", Requirements: []capability.Requirement{
		{Capability: capability.DRAV1, OneOf: "one driver"}, {Capability: capability.DRAV1beta1, OneOf: "one driver"},
		{Capability: capability.DRAV1beta1, OneOf: "another"}, {Capability: capability.DRAV1alpha3Structured, OneOf: "another"},
	}}
	var b bytes.Buffer
	err := Write(&b, p)
	want := "DRA_V1BETA1 is one of DRA_V1/DRA_V1BETA1 and of DRA_V1ALPHA3_STRUCTURED/DRA_V1BETA1, and a manifest names a capability once: write it by hand"
	if err == nil || err.Error() != want || b.Len() > 0 {
		t.Errorf("%v, %q", err, b.String())
	}
}
