package kubelet

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// FuzzRead: whatever a file has, reading ends, and every verdict says what it
// rests on, or what is in the way.
func FuzzRead(f *testing.F) {
	archive, err := txtar.ParseFile("../testdata/kubelet-1.37.txtar")
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	for i, file := range archive.Files {
		write(f, filepath.Join(dir, file.Name), file.Data)
		f.Add(uint(i), file.Data)
		f.Add(uint(i), slices.Concat(file.Data, file.Data))
		f.Add(uint(i), file.Data[:len(file.Data)/2])
	}
	f.Fuzz(func(t *testing.T, which uint, data []byte) {
		file := archive.Files[which%uint(len(archive.Files))]
		write(t, filepath.Join(dir, file.Name), data)
		defer write(t, filepath.Join(dir, file.Name), file.Data)
		tree, err := source.Dir(filepath.Join(dir, "k8s.io/kubernetes@v1.37.0"))
		if err != nil {
			t.Fatal(err)
		}
		apis, err := source.Dir(filepath.Join(dir, "k8s.io/kubelet@v0.37.0"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := Read(tree, apis, inference.Version{Major: 1, Minor: 37})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range capability.OfFamily(capability.Kubelet) {
			v := report.Verdicts[id]
			switch {
			case v.State == capability.Unknown && v.Why == "", v.State != capability.Unknown && v.In == "":
				t.Errorf("%s: nothing is said of why: %+v", id, v)
			case v.State == capability.Conditional != (v.When != ""):
				t.Errorf("%s: %+v", id, v)
			}
			for _, at := range v.Files {
				if name, _, ok := strings.Cut(at, ".go:"); !ok || name == "" {
					t.Errorf("%s: no place in the source: %q", id, at)
				}
			}
		}
		for name, s := range report.Settings {
			if s.Absent == (s.Value != "" && s.At != "") && s.Why == "" {
				t.Errorf("%s: %+v", name, s)
			}
		}
	})
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNotKubernetes: something else is not read as a kubelet without anything.
func TestNotKubernetes(t *testing.T) {
	tree, err := source.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(tree, nil, inference.Version{Major: 1, Minor: 16}); !errors.Is(err, ErrNotKubernetes) {
		t.Errorf("%v", err)
	}
}

// TestRenamed: when a function or a type of the kubelet gets another name, which
// changes nothing, a verdict stays, or becomes undecided; it is never turned round.
func TestRenamed(t *testing.T) {
	for _, version := range []inference.Version{{Major: 1, Minor: 16}, {Major: 1, Minor: 37}} {
		archive, err := txtar.ParseFile("../testdata/kubelet-" + version.Line() + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := readArchive(t, archive, version, nil)
		undecided := 0
		for _, name := range declared(t, archive) {
			got, renamed := readArchive(t, archive, version, regexp.MustCompile(`\b`+name+`\b`))
			if renamed == 0 {
				t.Errorf("%s: nothing is called so", name)
			}
			for id, v := range got.Verdicts {
				if v.State == capability.Unknown {
					undecided++
				} else if !v.Same(want.Verdicts[id]) {
					t.Errorf("%s: with another name for %s, %s is %s, was %s", version, name, id, v, want.Verdicts[id])
				}
			}
		}
		if undecided == 0 {
			t.Errorf("%s: no rule depends on any name", version)
		}
	}
}

// declared returns the names of the functions and types of the kubelet, without
// those that the API gives.
func declared(t *testing.T, archive *txtar.Archive) []string {
	t.Helper()
	api := []string{"Register", "Get", "GetAllocatableResources"}
	var out []string
	for _, f := range archive.Files {
		if !ofKubelet(f.Name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.TypeSpec:
				name = n.Name.Name
			}
			if name != "" && !slices.Contains(api, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
			return true
		})
	}
	return out
}

// ofKubelet tells whether a file is code of the kubelet, not of an API.
func ofKubelet(name string) bool {
	return strings.HasPrefix(name, "k8s.io/kubernetes@") && !strings.HasSuffix(name, ".pb.go") && !strings.Contains(name, "/pkg/features/")
}

// readArchive reads a reduced kubelet, with another name for what matches.
func readArchive(t *testing.T, archive *txtar.Archive, v inference.Version, name *regexp.Regexp) (report *probe.Report, renamed int) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		data := f.Data
		if name != nil && ofKubelet(f.Name) {
			renamed += len(name.FindAll(data, -1))
			data = name.ReplaceAll(data, []byte("renamed"))
		}
		write(t, filepath.Join(dir, f.Name), data)
	}
	tree, err := source.Dir(filepath.Join(dir, "k8s.io/kubernetes@v"+v.String()))
	if err != nil {
		t.Fatal(err)
	}
	var apis *source.Tree
	if v.Minor >= 17 {
		if apis, err = source.Dir(filepath.Join(dir, "k8s.io/kubelet@v0."+strings.TrimPrefix(v.String(), "1."))); err != nil {
			t.Fatal(err)
		}
	}
	if report, err = Read(tree, apis, v); err != nil {
		t.Fatal(err)
	}
	return report, renamed
}
