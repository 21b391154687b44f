package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nri-compat/nri-compat/inference"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

const plugin = "package main\n\nimport \"github.com/containerd/nri/pkg/stub\"\n\nvar _ stub.Stub\n"

func TestFindSources(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod": "module example.com/x\n", "main.go": plugin, "cmd/b/main.go": plugin, "cmd/b/more.go": plugin,
		"cmd/lib/lib.go":     strings.Replace(plugin, "package main", "package lib", 1),
		"cmd/c/main.go":      "package main\n",
		"cmd/d/main_test.go": plugin, "vendor/v/main.go": plugin, "testdata/t/main.go": plugin, ".hidden/main.go": plugin,
		"cmd/broken/main.go": "package main\nimport (", "bin/no": "no program",
	})
	got, err := Find(dir)
	if diff := cmp.Diff([]string{".", "./cmd/b"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestFindNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.go": plugin, "bin/script": "#!/bin/sh\n", "bin/empty": ""})
	if got, err := Find(dir); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Find(filepath.Join(dir, "nowhere")); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestWriteReads: what is written can be read, whatever the files are called,
// and so can what its comments propose.
func TestWriteReads(t *testing.T) {
	plugins := []string{".", "./cmd/a b", `./x"y`, "./- z", "./#c", "image:x@sha256:00"}
	var b strings.Builder
	if err := Write(&b, plugins, []string{"containerd@>=1.7", "cri-o@all"}); err != nil {
		t.Fatal(err)
	}
	f := read(t, b.String())
	if diff := cmp.Diff(plugins, Values(f.Plugins)); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Write(&b, nil, []string{"containerd@all"}); err != nil {
		t.Fatal(err)
	}
	if f := read(t, b.String()); len(f.Plugins) != 0 {
		t.Error(f.Plugins)
	}
	open := strings.NewReplacer("# assume", "assume", "#   cri", "  cri", "# failOn", "failOn", "# waivers", "waivers", "#   - p", "  - p", "#     ", "    ").Replace(b.String())
	f = read(t, open)
	if len(f.Waivers) != 1 || len(f.Assume) != 1 || f.FailOn.Value != "unknown" {
		t.Errorf("%+v", f)
	}
	if err := f.Check(inference.Builtin(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Error(err)
	}
}
