package kubelet

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
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
