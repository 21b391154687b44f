package gomod

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// proxy returns an environment in which the go command gets modules from files
// only: of Kubernetes there is the release v1.34.1.
func proxy(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, "k8s.io", "kubernetes", "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"v1.34.1.info": `{"Version":"v1.34.1","Time":"2025-09-09T19:37:19Z"}`,
		"v1.34.1.mod":  "module k8s.io/kubernetes\n\ngo 1.24.0\n\nrequire k8s.io/api v0.0.0\n\nreplace k8s.io/api => ./staging/src/k8s.io/api\n",
		"v1.35.0.info": `{"Version":"v1.35.0","Time":"2025-12-09T19:37:19Z"}`,
		"v1.35.0.mod":  "module k8s.io/kubernetes\n\ngo 9.99.0\n\nrequire k8s.io/api v0.0.0\n\nreplace k8s.io/api => ./staging/src/k8s.io/api\n",
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(dir), "GOSUMDB=off", "GONOSUMDB=", "GOMODCACHE="+t.TempDir())
}

func TestReadRelease(t *testing.T) {
	env := proxy(t)
	want := Release{Version: "v1.34.1", Go: "1.24.0", Staging: []string{"k8s.io/api"}, Required: []string{"k8s.io/api"}}
	got, err := ReadRelease(t.Context(), "1.34.1", env)
	if err != nil || cmp.Diff(want, got) != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	// Once read it is in the cache, and no network is needed.
	got, err = ReadRelease(t.Context(), "1.34.1", append(env, "GOPROXY=off"))
	if err != nil || cmp.Diff(want, got) != "" {
		t.Fatalf("from the cache: %+v, %v", got, err)
	}
	// A release that needs a newer Go than there is can be read all the same.
	got, err = ReadRelease(t.Context(), "1.35.0", env)
	if err != nil || got.Go != "9.99.0" {
		t.Fatalf("for a newer Go: %+v, %v", got, err)
	}
}

func TestReadReleaseFails(t *testing.T) {
	env := proxy(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name    string
		ctx     context.Context
		version string
		env     []string
		says    string
	}{
		{"unknown release", t.Context(), "1.99.0", env, "k8s.io/kubernetes v1.99.0: "},
		{"no network, nothing in the cache", t.Context(), "1.34.1", append(slices.Clone(env), "GOPROXY=off"), "GOPROXY=off"},
		{"no release", t.Context(), "banana", env, "invalid Kubernetes release"},
		{"interrupted", canceled, "1.34.1", env, "canceled"},
	} {
		_, err := ReadRelease(test.ctx, test.version, test.env)
		if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := ReadRelease(canceled, "1.34.1", env); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestFindImport(t *testing.T) {
	const uses, does = "package p\n\nimport _ \"k8s.io/kubernetes/pkg/kubelet\"\n", "package p\n\nimport _ \"k8s.io/kubernetes-sigs/x\"\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
		says  string
	}{
		{"nowhere", map[string]string{"p.go": does}, "", ""},
		{"in a package below, for another platform", map[string]string{"p.go": does, "a/b/p_windows.go": uses}, "a/b/p_windows.go:3", ""},
		{"in a test", map[string]string{"p_test.go": uses}, "p_test.go:3", ""},
		{"not of the module", map[string]string{"testdata/p.go": uses, "vendor/p.go": uses, "_x/p.go": uses, ".x/p.go": uses, "sub/go.mod": "module sub\n", "sub/p.go": uses}, "", ""},
		{"no Go code", map[string]string{"p.go": "no code"}, "", "p.go:1"},
	} {
		dir := t.TempDir()
		for name, text := range test.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := FindImport(t.Context(), dir, Kubernetes)
		if rel, _ := filepath.Rel(dir, got); got != "" {
			got = filepath.ToSlash(rel)
		}
		if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// TestPinnedModuleBuilds pins a module that imports the kubelet's device
// manager, and builds it.
func TestPinnedModuleBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a part of Kubernetes, which takes minutes")
	}
	dir := t.TempDir()
	const before = "module example.com/plugin\n\ngo 1.24.0\n"
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("main.go", "package main\n\nimport \"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager\"\n\nvar manager devicemanager.Manager\n\nfunc main() { println(manager == nil) }\n")
	r, err := ReadRelease(t.Context(), "1.34.1", os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	p, err := parse(t, before).Pin(r)
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", string(p.Data))
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", filepath.Join(dir, "plugin"), "."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	tidied, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(t, string(tidied)).Pin(r)
	if err != nil || len(again.Changes) > 0 {
		t.Errorf("after go mod tidy: %v, %v", again.Changes, err)
	}
}
