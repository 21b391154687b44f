package gitrepo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com",
		"GIT_AUTHOR_DATE=2027-01-02T23:30:00 -0800", "GIT_COMMITTER_DATE=2027-01-02T23:30:00 -0800")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func sample(t *testing.T, format string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main", "--object-format="+format)
	os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755)
	os.WriteFile(filepath.Join(dir, "a", "b", "c.go"), []byte("package c\n"), 0o644)
	os.Symlink("a", filepath.Join(dir, "link"))
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
	git(t, dir, "tag", "light")
	git(t, dir, "tag", "-a", "-m", "x", "v1.0.0")
	git(t, dir, "tag", "blob", "HEAD:a/b/c.go")
	return dir
}

// TestReading: both kinds of repository, bare or not, and both hash functions.
func TestReading(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := sample(t, format)
		bare := t.TempDir()
		git(t, dir, "clone", "-q", "--bare", "--no-local", dir, bare)
		for _, dir := range []string{dir, dir + "/.git", bare} {
			r, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			refs, err := r.Refs("main", "none")
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, ref := range refs {
				names = append(names, ref.Name+" "+ref.Date)
			}
			// The tag of a blob has no date; that of a tag is where it was made.
			if got := strings.Join(names, ", "); !strings.Contains(got, "v1.0.0 2027-01-02") || !strings.Contains(got, "main 2027-01-02") || strings.Contains(got, "blob") {
				t.Errorf("%s: refs %s", dir, got)
			}
			root, err := r.Root("v1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			entries, err := r.Tree(root)
			if err != nil || len(entries) != 1 || entries[0].Name != "a" || !entries[0].Dir {
				t.Errorf("%s: root %+v, %v", dir, entries, err)
			}
			below, _ := r.Tree(entries[0].Hash)
			file, _ := r.Tree(below[0].Hash)
			data, err := r.Blob(file[0].Hash)
			if string(data) != "package c\n" || err != nil {
				t.Errorf("%s: %q, %v", dir, data, err)
			}
			if _, err := r.Blob(root); err == nil || !strings.Contains(err.Error(), "is a tree, not a file") {
				t.Errorf("a tree as a file: %v", err)
			}
			if _, err := r.Tree(file[0].Hash); err == nil || !strings.Contains(err.Error(), "is a blob, not a directory") {
				t.Errorf("a file as a tree: %v", err)
			}
			for _, missing := range []string{"refs/tags/v9.9.9", "blob", strings.Repeat("0", len(root))} {
				if _, err := r.Root(missing); err == nil {
					t.Errorf("%s has a root", missing)
				}
			}
			if _, err := r.Blob(strings.Repeat("0", len(root))); !errors.Is(err, ErrMissing) {
				t.Errorf("an object that is not there: %v", err)
			}
			if _, err := r.Blob("a b"); err == nil || !strings.Contains(err.Error(), `invalid object name "a b"`) {
				t.Errorf("a name with a space: %v", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDirectoryWithinAWorkTree is no repository by itself.
func TestDirectoryWithinAWorkTree(t *testing.T) {
	dir := sample(t, "sha1")
	if _, err := Open(t.Context(), dir+"/a"); err == nil || !strings.Contains(err.Error(), "not a git directory") {
		t.Errorf("%v", err)
	}
}

// FuzzParseTree: what is read of a tree object, written again, is the part of
// it that is not left out.
func FuzzParseTree(f *testing.F) {
	hash := bytes.Repeat([]byte{0xab}, 20)
	f.Add(append([]byte("100644 a.go\x00"), hash...))
	f.Add(append(append([]byte("40000 dir\x00"), hash...), append([]byte("120000 link\x00"), hash...)...))
	f.Add([]byte("100644 a\x00short"))
	f.Add([]byte("100644"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data, 20)
		if err != nil {
			return
		}
		rest := data
		for _, e := range entries {
			raw, err := hex.DecodeString(e.Hash)
			if err != nil || len(raw) != 20 {
				t.Fatalf("hash %q", e.Hash)
			}
			want := fmt.Appendf(nil, "%s\x00%s", e.Name, raw)
			i := bytes.Index(rest, want)
			if i < 0 {
				t.Fatalf("entry %+v is not in the object", e)
			}
			rest = rest[i+len(want):]
		}
	})
}
