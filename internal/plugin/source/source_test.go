package source

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

func TestRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	untidy := module(t, "src-tags", nil)
	os.Remove(filepath.Join(untidy, "go.sum"))
	for _, test := range []struct {
		name, dir string
		o         Options
		want      string
	}{
		{"no such directory", filepath.Join(t.TempDir(), "none"), Options{}, "no such file or directory"},
		{"a file", file, Options{}, "not a directory"},
		{"no go.mod", t.TempDir(), Options{}, "no go.mod here or above"},
		{"no NRI", plugin("src-none"), Options{}, `no main package in "./..." uses NRI`},
		{"no main with NRI", plugin("src-two-mains"), Options{Pattern: "./cmd/none"}, `no main package in "./cmd/none" uses NRI`},
		{"no main at all", plugin("src-two-mains"), Options{Pattern: "./shared"}, `no main package in "./shared" uses NRI`},
		{"no such package", plugin("src-two-mains"), Options{Pattern: "./cmd/three"}, "go list: "},
		{"no packages", plugin("src-two-mains"), Options{Pattern: "./nothing/..."}, "go list: pattern ./nothing/...: "},
		{"does not compile", plugin("src-broken"), Options{}, "does not compile: main.go:14:13: pod.NoSuchMethod undefined"},
		{"syntax error", module(t, "src-tags", map[string]string{"main.go": "package main\nfunc {"}), Options{}, "main.go:2:6: "},
		{"broken go.mod", module(t, "src-tags", map[string]string{"go.mod": "module x\nrequire ("}), Options{}, "go.mod:"},
		{"no go.sum", untidy, Options{}, "missing go.sum entry"},
		{"vendor directory of something else", module(t, "src-tags", map[string]string{"vendor/modules.txt": "# x\n"}), Options{}, "inconsistent vendoring"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := snapshot(t, test.dir)
			got, err := Inspect(t.Context(), test.dir, test.o)
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if !strings.HasPrefix(err.Error(), test.dir+": ") || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant %s", err, test.want)
			}
			if d := cmp.Diff(before, snapshot(t, test.dir)); d != "" {
				t.Errorf("the directory changed\n%s", d)
			}
		})
	}
}

func TestRefusesWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Inspect(t.Context(), plugin("src-tags"), Options{})
	if err == nil || !strings.Contains(err.Error(), "the go command is needed") {
		t.Error(err)
	}
}

func TestFollowsTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Inspect(ctx, plugin("src-tags"), Options{Progress: func(string) { cancel() }})
	if err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Error(err)
	}
}

func TestSeveralMains(t *testing.T) {
	var stages int
	got, err := Inspect(t.Context(), plugin("src-two-mains"), Options{Progress: func(string) { stages++ }})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" || stages == 0 {
		t.Fatalf("%d stages, %+v", stages, got)
	}
	compare(t, filepath.Join(plugin("src-two-mains"), "expect-source-one.txt"), got[0])
	compare(t, filepath.Join(plugin("src-two-mains"), "expect-source-two.txt"), got[1])
}

func TestIdentity(t *testing.T) {
	for dir, want := range map[string]found.Plugin{
		"src-replaced": {
			Name:     "src-replaced",
			Identity: found.Identity{Module: "example.com/src-replaced/v2", Version: "(devel)", Package: "example.com/src-replaced/v2"},
			NRI:      found.NRI{Module: "github.com/containerd/nri", Version: "v0.6.1", Replaces: "github.com/containerd/nri v0.8.0", Package: apiPackage},
		},
		"src-tags": {
			Name:     "src-tags",
			Identity: found.Identity{Module: "example.com/src-tags", Version: "(devel)", Package: "example.com/src-tags"},
			NRI:      found.NRI{Module: "github.com/containerd/nri", Version: "v0.8.0", Package: apiPackage},
		},
		"src-own-copy": {
			Name:     "src-own-copy",
			Identity: found.Identity{Module: "example.com/src-own-copy", Version: "(devel)", Package: "example.com/src-own-copy"},
			NRI:      found.NRI{Module: "example.com/src-own-copy", Package: "example.com/src-own-copy/nriapi"},
		},
	} {
		got, err := Inspect(t.Context(), plugin(dir), Options{})
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v", dir, got, err)
			continue
		}
		p := got[0]
		if !strings.HasPrefix(p.Identity.Go, "go1.") || p.Identity.OS != "linux" || p.Identity.Arch == "" || p.Reader != "source" || p.Ref != plugin(dir) {
			t.Errorf("%s: %+v", dir, p)
		}
		p.Identity.Go, p.Identity.OS, p.Identity.Arch = "", "", ""
		if d := cmp.Diff(want, found.Plugin{Name: p.Name, Identity: p.Identity, NRI: p.NRI}); d != "" {
			t.Errorf("%s (-want +got)\n%s", dir, d)
		}
	}
}

// TestVendorAndWorkspace: a module with a vendor directory is read from there,
// without network and module cache, whatever the user's flags say; a workspace
// around it does not matter, and nothing is written.
func TestVendorAndWorkspace(t *testing.T) {
	dir := module(t, "src-own-copy", nil)
	lib := filepath.Join(filepath.Dir(dir), "lib")
	write(t, filepath.Join(lib, "go.mod"), "module example.com/lib\n\ngo 1.24\n")
	for _, pkg := range []string{"nriapi", "nristub"} {
		if err := os.Rename(filepath.Join(dir, pkg), filepath.Join(lib, pkg)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(dir, "main.go"), filepath.Join(lib, "nristub", "stub.go")} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, strings.ReplaceAll(string(data), "example.com/src-own-copy/", "example.com/lib/"))
	}
	write(t, filepath.Join(dir, "go.mod"),
		"module example.com/src-own-copy\n\ngo 1.24\n\nrequire example.com/lib v0.1.0\n\nreplace example.com/lib => ../lib\n")
	run(t, dir, "go", "mod", "vendor")
	if err := os.RemoveAll(lib); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(dir), "go.work"), "go 1.24\n\nuse ./elsewhere\n")
	before := snapshot(t, dir)
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod")
	got, err := Inspect(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, filepath.Join(dir, "expect-source.txt"), got[0])
	if n := got[0].NRI; n.Module != "../lib" || n.Replaces != "example.com/lib v0.1.0" {
		t.Errorf("NRI %+v", n)
	}
	if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
		t.Errorf("the directory changed\n%s", d)
	}
}

// TestTheSameTwice: the answer does not depend on the order of maps.
func TestTheSameTwice(t *testing.T) {
	first, err := Inspect(t.Context(), plugin("src-uses"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := Inspect(t.Context(), plugin("src-uses"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first, again); d != "" {
			t.Errorf("(-first +again)\n%s", d)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	for b.Loop() {
		if _, err := Inspect(b.Context(), plugin("src-uses"), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func plugin(name string) string { return filepath.Join(pluginsDir, name) }

// module copies a test plugin, with some files changed.
func module(t *testing.T, name string, changed map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(plugin(name))); err != nil {
		t.Fatal(err)
	}
	for file, text := range changed {
		write(t, filepath.Join(dir, file), text)
	}
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// snapshot is the content of a directory, to see that nothing was written.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			files[path] = fmt.Sprintf("%x %v", sha256.Sum256(data), err)
		}
		return nil
	})
	return files
}
