package gomod

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pinnedMod = `module example.com/a

go 1.24.0

require (
	k8s.io/kubelet v0.34.1
	k8s.io/kubernetes v1.34.1
)

replace (
	k8s.io/api => k8s.io/api v0.34.1
	k8s.io/kubelet => k8s.io/kubelet v0.34.1
	k8s.io/metrics => ../metrics
)
`

func TestContradictions(t *testing.T) {
	const b = "module example.com/b\n\n"
	for _, test := range []struct {
		name, work string
		others     []string
		want       []string
	}{
		{"nothing", "", nil, nil},
		{"the same", "replace k8s.io/api => k8s.io/api v0.34.1", []string{b + "replace k8s.io/api => k8s.io/api v0.34.1"}, nil},
		{"another version", "replace k8s.io/api => k8s.io/api v0.33.0", nil, []string{"go.work:3 replace k8s.io/api v0.33.0 for v0.34.1"}},
		{"another module", "replace k8s.io/api => example.com/api v1.0.0", nil, []string{"go.work:3 replace k8s.io/api example.com/api v1.0.0 for v0.34.1"}},
		{"a directory", "replace k8s.io/kubernetes => ./kubernetes", nil, []string{"go.work:3 replace k8s.io/kubernetes ./kubernetes for v1.34.1"}},
		{"of the version that is required", "replace k8s.io/kubelet v0.34.1 => k8s.io/kubelet v0.33.0", nil, []string{"go.work:3 replace k8s.io/kubelet v0.33.0 for v0.34.1"}},
		{"of the version that Kubernetes requires", "replace k8s.io/api v0.0.0 => k8s.io/api v0.33.0", nil, []string{"go.work:3 replace k8s.io/api v0.33.0 for v0.34.1"}},
		{"of a version that nobody requires", "replace (\n\tk8s.io/kubelet v0.0.0 => k8s.io/kubelet v0.33.0\n\tk8s.io/api v0.30.0 => k8s.io/api v0.33.0\n)", nil, nil},
		{"of the version that another module requires", "replace k8s.io/api v0.35.0 => k8s.io/api v0.33.0", []string{b + "require k8s.io/api v0.35.0"}, []string{"go.work:3 replace k8s.io/api v0.33.0 for v0.34.1"}},
		{"of one that a newer requirement leaves out", "replace k8s.io/kubelet v0.34.1 => ../kubelet", []string{b + "require k8s.io/kubelet v0.35.0"}, nil},
		{"of the version that the staging modules require of each other", "replace k8s.io/api v0.34.1 => ../api", nil, []string{"go.work:3 replace k8s.io/api ../api for v0.34.1"}},
		{"another module replaces the version that it requires", "", []string{b + "require k8s.io/api v0.35.0\n\nreplace k8s.io/api v0.35.0 => ../api"}, []string{"0/go.mod:5 replace k8s.io/api ../api for v0.34.1"}},
		{"what go.mod replaces by a directory", "replace k8s.io/metrics => ../other", nil, nil},
		{"what go.mod does not name", "replace (\n\tk8s.io/kubectl => ../kubectl\n\texample.com/x => ../x\n)", nil, nil},
		{"another module of the workspace", "", []string{b + "replace k8s.io/api => k8s.io/api v0.33.0"}, []string{"0/go.mod:3 replace k8s.io/api v0.33.0 for v0.34.1"}},
		{"several", "replace k8s.io/kubelet => ../kubelet", []string{b, b + "require k8s.io/kubernetes v1.35.0\n\nreplace k8s.io/api => k8s.io/api v0.35.0"},
			[]string{"1/go.mod:3 require k8s.io/kubernetes v1.35.0 for v1.34.1", "1/go.mod:5 replace k8s.io/api v0.35.0 for v0.34.1", "go.work:3 replace k8s.io/kubelet ../kubelet for v0.34.1"}},
		{"an older Kubernetes", "", []string{b + "require k8s.io/kubernetes v1.33.0"}, nil},
		{"go.work goes before the other module", "replace k8s.io/api => k8s.io/api v0.34.1", []string{b + "replace k8s.io/api => k8s.io/api v0.33.0"}, nil},
	} {
		w, err := ParseWork("go.work", []byte("go 1.24.0\n\n"+test.work+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var others []*File
		for i, text := range test.others {
			f, err := Parse(string(rune('0'+i))+"/go.mod", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, f)
		}
		f, err := Parse("go.mod", []byte(pinnedMod))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range w.Contradictions(f, others) {
			got = append(got, c.File+":"+string(rune('0'+c.Line))+" "+c.Directive+" "+c.Module+" "+c.Found+" for "+c.Want)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, d)
		}
	}
}

func TestFindWork(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(filepath.Join(below, "go.work"), 0o755); err != nil { // a directory is no workspace
		t.Fatal(err)
	}
	work := filepath.Join(top, "go.work")
	if err := os.WriteFile(work, []byte("go 1.24.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The go command passes over what it cannot look at.
	unseen := filepath.Join(top, "c")
	if err := errors.Join(os.Mkdir(unseen, 0o755), os.Symlink("go.work", filepath.Join(unseen, "go.work"))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ dir, gowork, want, says string }{
		{unseen, "", work, ""},
		{below, "", work, ""},
		{below, "auto", work, ""},
		{top, "", work, ""},
		{below, "off", "", ""},
		{below, "/elsewhere/go.work", "/elsewhere/go.work", ""},
		{below, "go.work", "", "takes an absolute path"},
	} {
		got, err := FindWork(test.dir, test.gowork)
		if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s, GOWORK=%s: %q, %v", test.dir, test.gowork, got, err)
		}
	}
}

// FuzzWork: no go.work makes it panic, and what contradicts a go.mod names a
// line, and something else than what is wanted.
func FuzzWork(f *testing.F) {
	f.Add([]byte("go 1.24.0\n\nuse ./a\n\nreplace k8s.io/api => k8s.io/api v0.33.0\n"), []byte(pinnedMod))
	f.Add([]byte("use (\n\t./a\n\t../b\n)\nreplace k8s.io/api v0.0.0 => ../api\n"), []byte("module b\nreplace k8s.io/kubelet => ./x\n"))
	f.Add([]byte("replace k8s.io/api =>\n"), []byte("module b\n"))
	f.Fuzz(func(t *testing.T, work, mod []byte) {
		w, err := ParseWork("go.work", work)
		if err != nil {
			return
		}
		w.Uses()
		other, err := Parse("b/go.mod", mod)
		if err != nil {
			return
		}
		pinned, err := Parse("go.mod", []byte(pinnedMod))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*File{pinned, other} {
			for _, c := range w.Contradictions(f, []*File{other}) {
				if c.Line < 1 || c.Want == "" || c.Found == c.Want {
					t.Errorf("%+v", c)
				}
			}
		}
	})
}
