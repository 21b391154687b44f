package gomod

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// release is a small Kubernetes: it requires two of its three staging modules.
func release(t testing.TB) Release {
	t.Helper()
	r, err := ParseRelease("1.34.1", []byte(`module k8s.io/kubernetes

go 1.24.0

godebug default=go1.24

require (
	k8s.io/api v0.0.0
	k8s.io/klog/v2 v2.130.1
	k8s.io/kubelet v0.0.0
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/kubelet => ./staging/src/k8s.io/kubelet
	k8s.io/sample-controller => ./staging/src/k8s.io/sample-controller
)
`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRelease(t *testing.T) {
	want := Release{
		Version: "v1.34.1", Go: "1.24.0",
		Staging:  []string{"k8s.io/api", "k8s.io/kubelet", "k8s.io/sample-controller"},
		Required: []string{"k8s.io/api", "k8s.io/kubelet"},
	}
	if d := cmp.Diff(want, release(t)); d != "" {
		t.Error(d)
	}
	if _, err := ParseRelease("1.34.1", []byte("module k8s.io/kubernetes\n")); err == nil || !strings.Contains(err.Error(), "names no staging modules") {
		t.Errorf("a go.mod without staging modules: %v", err)
	}
}

func TestParseVersion(t *testing.T) {
	for _, test := range []struct{ in, want, says string }{
		{"1.34.1", "v1.34.1", ""},
		{"v1.17.0", "v1.17.0", ""},
		{"1.38.0-beta.0", "v1.38.0-beta.0", ""},
		{"1.34", "", "MAJOR.MINOR.PATCH"},
		{"v1", "", "MAJOR.MINOR.PATCH"},
		{"", "", "MAJOR.MINOR.PATCH"},
		{"latest", "", "MAJOR.MINOR.PATCH"},
		{"1.34.1+k3s1", "", "MAJOR.MINOR.PATCH"},
		{"0.34.1", "", "write 1.34.1"},
		{"2.0.0", "", "only releases 1.x"},
		{"1.16.15", "", "before 1.17.0"},
	} {
		got, err := ParseVersion(test.in)
		if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("ParseVersion(%q) = %q, %v", test.in, got, err)
		}
	}
}

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("go.mod", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPin(t *testing.T) {
	for _, test := range []struct {
		name, before, after string
		foreign             []string
	}{
		{"nothing there yet", `module m

go 1.24
`, `module m

go 1.24

require k8s.io/kubernetes v1.34.1

replace (
	k8s.io/api => k8s.io/api v0.34.1
	k8s.io/kubelet => k8s.io/kubelet v0.34.1
)
`, nil},
		{"comments, order and other directives stay", `// about the module
module m

go 1.24

// libraries
require (
	k8s.io/kubernetes v1.33.0 // the kubelet
	example.com/zebra v1.0.0
	k8s.io/kubelet v0.33.2 // indirect
	k8s.io/klog/v2 v2.130.1
)

exclude example.com/zebra v1.1.0

// pins
replace (
	k8s.io/kubelet => k8s.io/kubelet v0.33.0 // old
	// a fork
	example.com/zebra => ../zebra
)
`, `// about the module
module m

go 1.24

// libraries
require (
	k8s.io/kubernetes v1.34.1 // the kubelet
	example.com/zebra v1.0.0
	k8s.io/kubelet v0.34.1 // indirect
	k8s.io/klog/v2 v2.130.1
)

exclude example.com/zebra v1.1.0

// pins
replace (
	k8s.io/kubelet => k8s.io/kubelet v0.34.1 // old
	// a fork
	example.com/zebra => ../zebra
	k8s.io/api => k8s.io/api v0.34.1
)
`, nil},
		{"what is not needed goes, single lines and versions too", `module m

require k8s.io/kubernetes v1.34.1

replace k8s.io/legacy-cloud-providers => k8s.io/legacy-cloud-providers v0.30.0

replace k8s.io/sample-controller => k8s.io/sample-controller v0.34.1

replace k8s.io/api v0.0.0 => k8s.io/api v0.34.1

replace k8s.io/kubelet => k8s.io/kubelet v0.34.1

replace k8s.io/klog/v2 => k8s.io/klog/v2 v2.100.1
`, `module m

require k8s.io/kubernetes v1.34.1

replace k8s.io/api => k8s.io/api v0.34.1

replace k8s.io/kubelet => k8s.io/kubelet v0.34.1

replace k8s.io/klog/v2 => k8s.io/klog/v2 v2.100.1
`, nil},
		{"a fork of a staging module stays", `module m

require (
	k8s.io/api v0.30.0
	k8s.io/kubernetes v1.34.1
)

replace k8s.io/api => example.com/api v0.30.1

replace k8s.io/kubelet => ../kubelet
`, `module m

require (
	k8s.io/api v0.30.0
	k8s.io/kubernetes v1.34.1
)

replace k8s.io/api => example.com/api v0.30.1

replace k8s.io/kubelet => ../kubelet
`, []string{"k8s.io/api", "k8s.io/kubelet"}},
		{"what go mod tidy writes is no drift", `module m

require k8s.io/kubernetes v1.34.1

require k8s.io/kubelet v0.0.0 // indirect

replace (
	k8s.io/api => k8s.io/api v0.34.1
	k8s.io/kubelet => k8s.io/kubelet v0.34.1
)
`, `module m

require k8s.io/kubernetes v1.34.1

require k8s.io/kubelet v0.0.0 // indirect

replace (
	k8s.io/api => k8s.io/api v0.34.1
	k8s.io/kubelet => k8s.io/kubelet v0.34.1
)
`, nil},
		{"a pin of Kubernetes itself", `module m

require k8s.io/kubernetes v1.20.0

replace k8s.io/kubernetes => k8s.io/kubernetes v1.21.0
`, `module m

require k8s.io/kubernetes v1.34.1

replace k8s.io/kubernetes => k8s.io/kubernetes v1.34.1

replace (
	k8s.io/api => k8s.io/api v0.34.1
	k8s.io/kubelet => k8s.io/kubelet v0.34.1
)
`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := parse(t, test.before)
			p, err := f.Pin(release(t))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.after, string(p.Data)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(test.foreign, p.Foreign); d != "" {
				t.Error(d)
			}
			if changed := test.before != test.after; changed != (len(p.Changes) > 0) || changed != (len(f.Diff(p)) > 0) {
				t.Errorf("changes %v", p.Changes)
			}
		})
	}
}

func TestPinRefusesAFork(t *testing.T) {
	f := parse(t, "module m\n\nreplace k8s.io/kubernetes => example.com/kubernetes v1.0.0\n")
	if _, err := f.Pin(release(t)); err == nil || !strings.Contains(err.Error(), "replaced by something else") {
		t.Errorf("a fork of Kubernetes: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"modul m\n", "module m\nrequire (\n", "module m\nrequire k8s.io/api banana\n", "go 1.21\n", ""} {
		if _, err := Parse("dir/go.mod", []byte(text)); err == nil || !strings.Contains(err.Error(), "dir/go.mod") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func TestDisagreements(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		changes          []Change
	}{
		{"agree", "module m\nrequire k8s.io/api v0.34.1\nrequire k8s.io/kubelet v0.34.1\n", "", nil},
		{"other modules do not count", "module m\nrequire k8s.io/api v0.34.1\nrequire k8s.io/klog/v2 v2.1.0\nrequire k8s.io/utils v0.0.0-20250604170112-4c0f3b243397\n", "", nil},
		{"the newest counts", "module m\nrequire k8s.io/api v0.34.1\nrequire k8s.io/kubelet v0.34.10\n", "",
			[]Change{{"require", "k8s.io/api", "v0.34.1", "v0.34.10"}}},
		{"require and replace differ", "module m\nrequire k8s.io/kubelet v0.34.0\nreplace k8s.io/kubelet => k8s.io/kubelet v0.36.0\n", "",
			[]Change{{"require", "k8s.io/kubelet", "v0.34.0", "v0.36.0"}}},
		{"v0.0.0 behind a pin", "module m\nrequire k8s.io/kubelet v0.0.0\nreplace k8s.io/kubelet => k8s.io/kubelet v0.36.0\n", "", nil},
		{"v0.0.0 without a pin", "module m\nrequire k8s.io/kubelet v0.0.0\nrequire k8s.io/api v0.36.0\n", "",
			[]Change{{"require", "k8s.io/kubelet", "v0.0.0", "v0.36.0"}}},
		{"a version of Kubernetes itself", "module m\nrequire k8s.io/kubelet v1.27.0\nreplace k8s.io/kubelet => k8s.io/kubelet v0.27.0\n", "v0.27.0",
			[]Change{{"require", "k8s.io/kubelet", "v1.27.0", "v0.27.0"}}},
		{"forks do not count", "module m\nrequire k8s.io/api v0.34.1\nrequire k8s.io/kubelet v0.1.0\nreplace k8s.io/kubelet => ../kubelet\n", "", nil},
	} {
		if d := cmp.Diff(test.changes, parse(t, test.text).Disagreements(test.want)); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
	}
}

func TestDropUndoesPin(t *testing.T) {
	before := "module m\n\nrequire k8s.io/kubernetes v1.34.1\n\nreplace example.com/zebra => ../zebra // stays\n"
	p, err := parse(t, before).Pin(release(t))
	if err != nil {
		t.Fatal(err)
	}
	back, err := parse(t, string(p.Data)).Drop()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("module m\n\nrequire k8s.io/kubernetes v1.34.1\n\nreplace example.com/zebra => ../zebra // stays\n", string(back.Data)); d != "" {
		t.Error(d)
	}
}

// FuzzPin: whatever the file, the result is a go.mod that needs no second
// change, lines of other modules are still there, and dropping leaves no pin.
func FuzzPin(f *testing.F) {
	f.Add("module m\n\ngo 1.24\n")
	f.Add("module m\nrequire (\n\tk8s.io/kubernetes v1.30.0 // x\n\tk8s.io/api v0.0.0\n)\nreplace k8s.io/api v0.0.0 => k8s.io/api v0.30.0\nreplace k8s.io/api v0.1.0 => k8s.io/api v0.31.0\n")
	f.Add("module m\nreplace (\n)\nreplace k8s.io/kubelet => ../k\nexclude k8s.io/api v0.1.0\n")
	f.Add("module m\n// c\nreplace example.com/x => ./x // d\nreplace k8s.io/sample-controller => k8s.io/sample-controller v0.1.0\n")
	r := release(f)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("go.mod", []byte(text))
		if err != nil {
			return
		}
		p, err := file.Pin(r)
		if err != nil {
			return
		}
		pinned, err := Parse("go.mod", p.Data)
		if err != nil {
			t.Fatalf("the result is no go.mod: %v\n%s", err, p.Data)
		}
		again, err := pinned.Pin(r)
		if err != nil || len(again.Changes) > 0 {
			t.Fatalf("pinned twice: %v, %v\n%s", again.Changes, err, p.Data)
		}
		for _, req := range file.mod().Require {
			if !strings.HasPrefix(req.Mod.Path, "k8s.io/") && !pinned.Requires(req.Mod.Path) {
				t.Fatalf("%s is lost", req.Mod.Path)
			}
		}
		for _, rep := range file.mod().Replace {
			if !strings.HasPrefix(rep.Old.Path, "k8s.io/") && replacement(pinned.mod(), rep.Old.Path) != replacement(file.mod(), rep.Old.Path) {
				t.Fatalf("the replace directive of %s changed", rep.Old.Path)
			}
		}
		dropped, err := pinned.Drop()
		if err != nil {
			t.Fatal(err)
		}
		free, err := Parse("go.mod", dropped.Data)
		if err != nil || len(free.Pins()) > 0 {
			t.Fatalf("after dropping: %v, %v", err, free.Pins())
		}
	})
}
