package source

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
)

// files are a package of which only a part is built for Linux.
var files = map[string]string{
	"p/a.go":         "package p\n\ntype T struct{ F int }\n\nfunc (t *T) Get() int { return t.F }\n",
	"p/a_test.go":    "package p\n\nfunc broken(\n",
	"p/b_linux.go":   "package p\n\nimport \"example.com/other\"\n\nvar V = other.New(T{F: 1})\n",
	"p/b_windows.go": "package p\n\nfunc broken(\n",
	"p/c.go":         "//go:build ignore\n\npackage main\n",
	"p/x.pb.go":      "package p\n\nfunc broken(\n",
	"q/broken.go":    "package q\n\nfunc broken(\n",
}

// trees returns the same files from a directory, a git repository and a module
// as it is fetched.
func trees(t *testing.T) map[string]*Tree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	for name, text := range files {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	onDisk, err := Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "x"}, {"tag", "v1"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, err := gitrepo.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	inGit, err := Git(repo, "refs/tags/v1")
	if err != nil {
		t.Fatal(err)
	}
	inZip, err := Zip(zipOf(t, "example.com/m@v1.0.0/", files))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Tree{"disk": onDisk, "git": inGit, "zip": inZip}
}

// TestTrees: a release is the same wherever it lies.
func TestTrees(t *testing.T) {
	keys := map[string]string{}
	for name, tree := range trees(t) {
		data, err := tree.Read("p/a.go")
		if string(data) != files["p/a.go"] || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		sub, err := tree.Sub("p")
		if err != nil || sub.Path("a.go") != "p/a.go" {
			t.Errorf("%s: %v, %v", name, sub, err)
		}
		for _, missing := range []string{"r", "p/none.go", "p/a.go/x"} {
			if _, err := tree.Read(missing); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: %v", name, missing, err)
			}
		}
		if _, err := tree.Sub("p/a.go"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a file as a directory: %v", name, err)
		}
		if dir, err := tree.FirstDir("none", "q", "p"); dir != "q" || err != nil {
			t.Errorf("%s: first directory %q, %v", name, dir, err)
		}
		if keys[name], err = (Selection{Dir: "p"}).Key(tree); err != nil {
			t.Error(err)
		}
	}
	if keys["disk"] != keys["git"] || keys["zip"] != keys["git"] || !strings.Contains(keys["git"], "p/a.go ") {
		t.Errorf("keys differ:\n%s\n%s", keys["disk"], keys["git"])
	}
}

// TestLoad: what is not built is not read, what is not there is not needed,
// and what cannot be parsed is named.
func TestLoad(t *testing.T) {
	for name, tree := range trees(t) {
		p, err := Load(tree, Selection{Dir: "p", Skip: []string{".pb.go"}}, "example.com/p", nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Files) != 2 || len(p.Unread) != 0 {
			t.Errorf("%s: %d files, unread %v", name, len(p.Files), p.Unread)
		}
		if v := p.Types.Scope().Lookup("V"); v == nil || p.Line(v.Pos()) != "p/b_linux.go:5" {
			t.Errorf("%s: V at %v", name, v)
		}
		broken, err := Load(tree, Selection{Dir: "q"}, "example.com/q", nil)
		if err != nil || !slices.Equal(broken.Unread, []string{"q/broken.go"}) {
			t.Errorf("%s: %v, %v", name, broken, err)
		}
		if _, err := Load(tree, Selection{Dir: "none"}, "x", nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
