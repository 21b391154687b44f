package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// checkCase makes a document from the table for one plugin.
type checkCase struct {
	name     string
	plugin   CheckPlugin
	requires []capability.ID
	oneOf    string // the name of the group that they all are in
	gaps     []string
	runtimes []string
	waive    *Waived
	fail     error
}

var checkCases = []checkCase{
	{name: "passing", plugin: CheckPlugin{Name: "mounter"}, requires: []capability.ID{capability.AdjustMounts}, runtimes: []string{"containerd@2.1.3"}},
	{name: "failing", plugin: CheckPlugin{Name: "device-injector", Ref: "./plugins/device-injector", Dir: "plugins/device-injector", NRI: "v0.12.5"},
		requires: []capability.ID{capability.AdjustCDIDevices, capability.AdjustMounts}, runtimes: []string{"containerd@>=1.7.28 <2.1.1"}},
	{name: "inconclusive", plugin: CheckPlugin{Name: "mounter", Ref: "bin/mounter"}, requires: []capability.ID{capability.AdjustMounts},
		gaps: []string{"the section with the function table is packed"}, runtimes: []string{"containerd@9.9.9", "cri-o@1.36.3"}},
	{name: "harmful", plugin: CheckPlugin{Name: "sysctl", Place: &Place{"go.mod", 7}}, requires: []capability.ID{capability.AdjustLinuxSysctl},
		runtimes: []string{"containerd@2.2.9", "cri-o@1.35.0"}},
	{name: "waived", plugin: CheckPlugin{Name: "network", Ref: "bin/network"}, requires: []capability.ID{capability.AdjustLinuxNetworkDevices},
		runtimes: []string{"containerd@2.1.3"}, waive: &Waived{By: "waiver", Reason: "falls back to a hook; PLAT-123", Until: "2027-03-31"}},
	{name: "failed", plugin: CheckPlugin{Name: "mounter"}, requires: []capability.ID{capability.AdjustMounts}, runtimes: []string{"containerd@2.1.3"},
		fail: errors.New("bin/other: no Go program")},
	{name: "alternatives", plugin: CheckPlugin{Name: "driver", Ref: "./driver", Dir: "driver"}, requires: []capability.ID{capability.DRAV1, capability.DRAV1alpha3Structured, capability.DRAV1beta1},
		oneOf: "DRA_V1/DRA_V1ALPHA3_STRUCTURED/DRA_V1BETA1", runtimes: []string{"kubelet@1.30.0", "kubelet@1.33.0", "kubelet@>=1.34"}},
	{name: "undecided", plugin: CheckPlugin{Name: "driver", Ref: "./driver", Dir: "driver"}, requires: []capability.ID{capability.DRAV1, capability.DRAUnknownServices},
		oneOf: "DRA_UNKNOWN_SERVICES/DRA_V1", runtimes: []string{"kubelet@1.31.0"}},
}

func (cc checkCase) document(t testing.TB) *Check {
	t.Helper()
	table := inference.Builtin()
	doc := NewCheck(Head{Schema: "nri-compat.dev/check/v1", Tool: Tool{"nri-compat", "v1.2.3"}, Table: Table{"2026-11-30", "0123", "builtin"}})
	level := capability.Requires
	if cc.waive != nil {
		level = capability.Wants
	}
	need := capability.Needs{Gaps: cc.gaps}
	for _, id := range cc.requires {
		need.Requirements = append(need.Requirements, capability.Requirement{
			Capability: id, Level: level, OneOf: cc.oneOf, Source: capability.FromSource,
			Evidence: []capability.Evidence{{Kind: "call", Symbol: "api." + id.String(), Function: "main.(*plugin).CreateContainer", File: "plugin.go", Line: 12}},
		})
	}
	if cc.plugin.Dir == "" {
		for i := range need.Requirements {
			need.Requirements[i].Evidence = nil
		}
	}
	var runtimes []inference.Runtime
	for _, expr := range cc.runtimes {
		rs, err := table.Select(expr)
		if err != nil {
			t.Fatal(err)
		}
		runtimes = append(runtimes, rs...)
	}
	cc.plugin.Required = len(cc.requires)
	if cc.oneOf != "" {
		cc.plugin.Required = 1
	}
	groups := inference.Worst(table.Evaluate(need, table.LookupAll(runtimes, nil)))
	advised := inference.RuntimesForNeeds(need)[:1]
	name := doc.Add(cc.plugin, groups, table.Advise(need, advised, nil), advised)
	if cc.waive != nil {
		doc.Waive(name, func(string, string, string) *Waived { return cc.waive })
	}
	if cc.fail != nil {
		doc.Fail("bin/other", cc.fail)
	}
	return doc
}

var extensions = map[Format]string{
	Text: "txt", Wide: "wide.txt", JSON: "json", YAML: "yaml", Markdown: "md", CSV: "csv",
	HTML: "html", SARIF: "sarif", JUnit: "xml", GitHub: "github",
}

// TestCheckFormats shows one result of every kind in every format, and checks
// each by the rules of its format.
func TestCheckFormats(t *testing.T) {
	for _, cc := range checkCases {
		doc := cc.document(t)
		for _, format := range Formats(doc) {
			t.Run(cc.name+"."+extensions[format], func(t *testing.T) {
				var b bytes.Buffer
				if err := Write(&b, doc, format, Style{}); err != nil {
					t.Fatal(err)
				}
				if err := wellFormed(format, b.Bytes()); err != nil {
					t.Errorf("%v\n%s", err, b.Bytes())
				}
				text := b.Bytes()
				if format == HTML {
					// The style and the script are files of their own.
					text = regexp.MustCompile(`(?s)<(style|script)>.*?</`).ReplaceAll(text, []byte("<$1>…</"))
					text = regexp.MustCompile(`sha256-[A-Za-z0-9+/=&#;]+?=&`).ReplaceAll(text, []byte("sha256-…&"))
				}
				compareGolden(t, filepath.Join("testdata/check", cc.name+"."+extensions[format]), text)
			})
		}
	}
}

func compareGolden(t *testing.T, path string, have []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, have, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(have)); diff != "" {
		t.Errorf("%s (run with -update to accept):\n%s", path, diff)
	}
}

// TestEveryFormatIsTested: a new format gets its golden files.
func TestEveryFormatIsTested(t *testing.T) {
	for _, f := range Formats(&Check{}) {
		if extensions[f] == "" {
			t.Errorf("no file extension for format %s", f)
		}
	}
}

func TestSARIFSaysWhatFailed(t *testing.T) {
	run := sarifOf(t, checkCases[5].document(t))
	i := run.Invocations[0]
	if i.ExecutionSuccessful || len(i.Notifications) != 1 || !strings.Contains(i.Notifications[0].Message.Text, "no Go program") {
		t.Errorf("%+v", i)
	}
	if i := sarifOf(t, checkCases[0].document(t)).Invocations[0]; !i.ExecutionSuccessful {
		t.Errorf("%+v", i)
	}
}

func sarifOf(t *testing.T, doc *Check) sarifRun {
	t.Helper()
	var b bytes.Buffer
	if err := doc.SARIF(&b); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0]
}

// TestSARIFFingerprints: no two results of a run share one, and one stays the
// same when the table learns of a newer release.
func TestSARIFFingerprints(t *testing.T) {
	all := checkCase{name: "all", plugin: CheckPlugin{Name: "p"}, runtimes: []string{"containerd@all", "cri-o@all"},
		requires: []capability.ID{capability.AdjustCDIDevices, capability.AdjustLinuxSysctl, capability.AdjustEnvRemoval, capability.UpdateUnsolicited}}
	seen := map[string]bool{}
	for _, r := range sarifOf(t, all.document(t)).Results {
		print := r.PartialFingerprints["nriCompat/v1"]
		if seen[print] {
			t.Errorf("%s is not the only one: %s", print, r.Message.Text)
		}
		seen[print] = true
	}
	all.runtimes = []string{"containerd@>=2.0.0 <2.0.10"}
	before := sarifOf(t, all.document(t)).Results
	all.runtimes = []string{"containerd@>=2.0.0 <2.0.12"}
	after := sarifOf(t, all.document(t)).Results
	if len(before) == 0 || before[0].PartialFingerprints["nriCompat/v1"] != after[0].PartialFingerprints["nriCompat/v1"] {
		t.Error("the fingerprint moved with the last release of the run")
	}
}

// TestSARIFIsBounded: more results than GitHub shows are left out, worst kept,
// and the run says so.
func TestSARIFIsBounded(t *testing.T) {
	doc := checkCases[1].document(t)
	one := doc.Results[0]
	for len(doc.Results) < maxResults+10 {
		doc.Results = append(doc.Results, one)
	}
	run := sarifOf(t, doc)
	if len(run.Results) != maxResults || len(run.Invocations[0].Notifications) != 1 || !run.Invocations[0].ExecutionSuccessful {
		t.Errorf("%d results, %+v", len(run.Results), run.Invocations)
	}
}

func TestPlaces(t *testing.T) {
	evidence := func(file string, line int) []capability.Evidence {
		return []capability.Evidence{{Kind: "call", File: file, Line: line}}
	}
	for _, tt := range []struct {
		name   string
		plugin CheckPlugin
		out    Outcome
		want   Place
	}{
		{"source", CheckPlugin{Dir: "plugins/a"}, Outcome{Source: "source", Evidence: evidence("main.go", 9)}, Place{"plugins/a/main.go", 9}},
		{"source here", CheckPlugin{Dir: "."}, Outcome{Source: "source", Evidence: evidence("./main.go", 9)}, Place{"main.go", 9}},
		{"another module", CheckPlugin{Dir: ".", Place: &Place{"go.mod", 5}}, Outcome{Source: "source", Evidence: evidence("github.com/x/y@v1.0.0/a.go", 9)}, Place{"go.mod", 5}},
		{"binary of another machine", CheckPlugin{Ref: "bin/a"}, Outcome{Source: "binary", Evidence: evidence("/home/me/a/main.go", 9)}, Place{"bin/a", 1}},
		{"trimmed binary", CheckPlugin{Ref: "./bin/a", Module: "github.com/x/a"}, Outcome{Source: "binary", Evidence: evidence("github.com/x/a/main.go", 9)}, Place{"bin/a", 1}},
		{"trimmed binary with its source", CheckPlugin{Ref: "bin/a", Module: "github.com/x/a", Dir: "."}, Outcome{Source: "binary", Evidence: evidence("github.com/x/a/main.go", 9)}, Place{"main.go", 9}},
		{"manifest", CheckPlugin{Ref: "bin/a"}, Outcome{Source: "declared", Evidence: []capability.Evidence{{Kind: "manifest", File: "nri.yaml", Line: 3}}}, Place{"nri.yaml", 3}},
		{"go.mod", CheckPlugin{Ref: ".", Place: &Place{"./go.mod", 7}}, Outcome{}, Place{"go.mod", 7}},
		{"image", CheckPlugin{Ref: "image:registry.example/a:v1", Name: "a"}, Outcome{}, Place{"registry.example/a:v1", 1}},
		{"no file at all", CheckPlugin{Name: "requirements"}, Outcome{}, Place{"requirements", 1}},
		{"nothing", CheckPlugin{}, Outcome{}, Place{"plugin", 1}},
		{"backslashes", CheckPlugin{Dir: `a\b`}, Outcome{Source: "source", Evidence: evidence(`c\main.go`, 0)}, Place{"a/b/c/main.go", 1}},
	} {
		if got := tt.plugin.place(tt.out); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestNamesAreUnique: results refer to plugins by name.
func TestNamesAreUnique(t *testing.T) {
	doc := NewCheck(Head{})
	for _, p := range []CheckPlugin{{Name: "a", Ref: "x/a"}, {Name: "a", Ref: "y/a"}, {Name: "a", Ref: "y/a"}, {Name: "a"}} {
		doc.Add(p, nil, inference.Advice{}, nil)
	}
	var names []string
	for _, p := range doc.Plugins {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"a", "y/a", "a (2)", "a (3)"}, names); diff != "" {
		t.Error(diff)
	}
}
