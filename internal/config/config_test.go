package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

const whole = `plugins: [./bin/a, "image:registry.example/b:v1"]
runtimes:
  - "containerd@>=1.7"
assume:
  cri.enable_cdi: true
  blockio_config_file: /etc/blockio.yaml
failOn: missing
waivers:
  - plugin: a*
    capability: adjust-linux-sysctl
    runtimes: containerd@<2.3
    reason: falls back to a hook
    until: 2027-03-31
  - capability: ADJUST_MOUNTS
    reason: never used
`

func read(t testing.TB, text string) *File {
	t.Helper()
	f, err := Read(strings.NewReader(text), ".nri-compat.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRead(t *testing.T) {
	want := &File{
		Name:     ".nri-compat.yaml",
		Plugins:  []Text{{"./bin/a", 1}, {"image:registry.example/b:v1", 1}},
		Runtimes: []Text{{"containerd@>=1.7", 3}},
		Assume:   []Text{{"cri.enable_cdi=true", 5}, {"blockio_config_file=/etc/blockio.yaml", 6}},
		FailOn:   Text{"missing", 7},
		Waivers: []Waiver{
			{
				Plugin: "a*", Capability: capability.AdjustLinuxSysctl, Runtimes: []Text{{"containerd@<2.3", 11}},
				Reason: "falls back to a hook", Until: time.Date(2027, 3, 31, 0, 0, 0, 0, time.UTC), Line: 9,
			},
			{Capability: capability.AdjustMounts, Reason: "never used", Line: 14},
		},
	}
	if diff := cmp.Diff(want, read(t, whole)); diff != "" {
		t.Error(diff)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":              {"", "c.yaml: it is empty"},
		"a comment only":       {"# hello\n", "c.yaml: it is empty"},
		"no mapping":           {"- a\n", "c.yaml:1: a mapping with the keys assume, failOn, plugins, runtimes, waivers"},
		"unknown key":          {"plugins: [a]\nruntime: x\n", `c.yaml:2: unknown key "runtime": use assume, failOn`},
		"key twice":            {"failOn: missing\nfailOn: never\n", `c.yaml:2: key "failOn" stands here a second time`},
		"no text":              {"plugins: [a, [b]]\n", "c.yaml:1: an entry of plugins must be a text"},
		"null":                 {"runtimes:\n", "c.yaml:1: an entry of runtimes must be a text"},
		"empty text":           {"runtimes: ['']\n", "c.yaml:1: an entry of runtimes must be a text"},
		"a mapping for a list": {"plugins: {a: b}\n", "c.yaml:1: plugins must be a list of texts"},
		"failOn":               {"failOn: always\n", `c.yaml:1: invalid failOn "always": use one of unknown, missing`},
		"assume":               {"assume: [a=b]\n", "c.yaml:1: assume must be a mapping"},
		"setting twice":        {"assume:\n  a: 1\n  a: 2\n", `c.yaml:3: setting "a" stands here a second time`},
		"waivers":              {"waivers: {}\n", "c.yaml:1: waivers must be a list"},
		"waiver key":           {"waivers:\n  - capability: ADJUST_MOUNTS\n    because: x\n", `c.yaml:3: unknown key "because"`},
		"capability":           {"waivers:\n  - capability: ADJUST_MOUNT\n    reason: x\n", `c.yaml:2: `},
		"no capability":        {"waivers:\n  - reason: x\n", "c.yaml:2: a waiver must name a capability"},
		"no reason":            {"waivers:\n  - capability: ADJUST_MOUNTS\n", "c.yaml:2: a waiver must have a reason"},
		"day":                  {"waivers:\n  - capability: ADJUST_MOUNTS\n    reason: x\n    until: 31.3.2027\n", `c.yaml:4: invalid until "31.3.2027": write a day as YYYY-MM-DD`},
		"anchor":               {"plugins: &a [x]\nruntimes: *a\n", "c.yaml:1: anchors and aliases"},
		"second document":      {"plugins: [x]\n---\nplugins: [y]\n", "c.yaml:2: a second YAML document"},
		"tab":                  {"plugins:\n\t- a\n", "c.yaml:2: found character that cannot start any token"},
		"binary":               {"\x00\x01", "c.yaml"},
		"too big":              {strings.Repeat("#", MaxSize+1), "c.yaml: larger than 256 KiB"},
		"deep":                 {strings.Repeat("[", 20000), "c.yaml"},
	} {
		_, err := Read(strings.NewReader(tt.text), "c.yaml")
		var at *Error
		if err == nil || !errors.As(err, &at) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

func TestCheckOfWaivers(t *testing.T) {
	table := inference.Builtin()
	f := read(t, whole)
	last := time.Date(2027, 3, 31, 23, 59, 0, 0, time.FixedZone("", 3600))
	if err := f.Check(table, last); err != nil {
		t.Error(err)
	}
	if err := f.Check(table, last.Add(time.Minute)); err == nil || !strings.HasPrefix(err.Error(), ".nri-compat.yaml:9: the waiver of ADJUST_LINUX_SYSCTL expired on 2027-03-31 (falls back to a hook)") {
		t.Error(err)
	}
	f.Waivers[0].Runtimes[0].Value = "contanerd@1.7"
	if err := f.Check(table, last); err == nil || !strings.HasPrefix(err.Error(), ".nri-compat.yaml:11: ") {
		t.Error(err)
	}
	f.Waivers[0].Runtimes, f.Waivers[0].Plugin = nil, "[a"
	if err := f.Check(table, last); err == nil || !strings.Contains(err.Error(), `:9: invalid plugin "[a"`) {
		t.Error(err)
	}
}

func TestWaiverNames(t *testing.T) {
	for _, tt := range []struct {
		pattern, name, ref string
		want               bool
	}{
		{"", "x", "y", true}, {"x", "x", "bin/y", true}, {"bin/y", "x", "bin/y", true}, {"bin/*", "x", "bin/y", true},
		{"x*", "xyz", "", true}, {"y", "x", "bin/y", false}, {"X", "x", "", false}, {"", "", "", true}, {"*", "", "", false},
		{"[weird", "[weird", "", true},
	} {
		if got := (Waiver{Plugin: tt.pattern}).Names(tt.name, tt.ref); got != tt.want {
			t.Errorf("%q names %q, %q: %v", tt.pattern, tt.name, tt.ref, got)
		}
	}
}

func TestWaiverCovers(t *testing.T) {
	table := inference.Builtin()
	for _, tt := range []struct {
		runtimes []string
		runtime  string
		want     bool
	}{
		{nil, "containerd@2.0.0", true},
		{[]string{"containerd@<2.3"}, "containerd@2.2.99-k3s1", true},
		{[]string{"containerd@<2.3"}, "cri-o@1.30.0", false},
		{[]string{"cri-o@all", "containerd@2.1.x"}, "containerd@2.1.3", true},
	} {
		r, err := inference.ParseRuntime(tt.runtime)
		if err != nil {
			t.Fatal(err)
		}
		w := Waiver{}
		for _, expr := range tt.runtimes {
			w.Runtimes = append(w.Runtimes, Text{Value: expr})
		}
		if got := w.Covers(table, r); got != tt.want {
			t.Errorf("%v covers %s: %v", tt.runtimes, r, got)
		}
	}
}

// FuzzRead: what can be read names only known capabilities, has a reason for
// every waiver, and every error names the file.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add("plugins: a\n")
	f.Add("waivers: [{capability: ADJUST_MOUNTS, reason: x, until: 2027-01-01}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Read(strings.NewReader(text), "c.yaml")
		if err != nil {
			var at *Error
			if file != nil || !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "c.yaml:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, %v", file, err)
			}
			return
		}
		for _, w := range file.Waivers {
			if !w.Capability.Known() || w.Reason == "" || w.Line == 0 {
				t.Fatalf("%+v", w)
			}
		}
		for _, list := range [][]Text{file.Plugins, file.Runtimes, file.Assume} {
			for _, v := range list {
				if strings.TrimSpace(v.Value) == "" || v.Line == 0 {
					t.Fatalf("%+v", v)
				}
			}
		}
	})
}
