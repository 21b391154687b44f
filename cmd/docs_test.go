package cmd

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var update = flag.Bool("update", false, "rewrite man pages, command pages and completions")

// TestGeneratedDocs: man pages, pages of the commands and completions are those
// of the commands as they are. Making them here keeps their weight out of the
// program.
func TestGeneratedDocs(t *testing.T) {
	newCommands := func() *cobra.Command {
		root := newRoot(newApp(nil, strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}))
		root.DisableAutoGenTag = true
		root.InitDefaultCompletionCmd()
		return root
	}
	made := t.TempDir()
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // a page does not age by being made
	for _, dir := range []string{"man", "cli", "completion"} {
		if err := os.MkdirAll(filepath.Join(made, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := doc.GenManTreeFromOpts(newCommands(), doc.GenManTreeOptions{
		Path: filepath.Join(made, "man"), CommandSeparator: "_",
		Header: &doc.GenManHeader{Section: "1", Source: "nri-compat", Manual: "nri-compat", Date: &day},
	}); err != nil {
		t.Fatal(err)
	}
	if err := doc.GenMarkdownTree(newCommands(), filepath.Join(made, "cli")); err != nil {
		t.Fatal(err)
	}
	for name, generate := range map[string]func(*cobra.Command, string) error{
		"nri-compat.bash": func(c *cobra.Command, f string) error { return c.GenBashCompletionFileV2(f, true) },
		"_nri-compat":     func(c *cobra.Command, f string) error { return c.GenZshCompletionFile(f) },
		"nri-compat.fish": func(c *cobra.Command, f string) error { return c.GenFishCompletionFile(f, true) },
		"nri-compat.ps1":  func(c *cobra.Command, f string) error { return c.GenPowerShellCompletionFileWithDesc(f) },
	} {
		if err := generate(newCommands(), filepath.Join(made, "completion", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"man", "cli", "completion"} {
		sameDir(t, filepath.Join(made, dir), filepath.Join("..", "docs", dir))
	}
}

// sameDir compares the files of two directories.
func sameDir(t *testing.T, made, kept string) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(kept); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(kept, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]bool{}
	for _, dir := range []string{made, kept} {
		names, err := fs.Glob(os.DirFS(dir), "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			files[name] = true
		}
	}
	if len(files) == 0 {
		t.Errorf("%s is empty", kept)
	}
	for name := range files {
		want, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			t.Errorf("%s is there for a command that is not: make docs removes it", filepath.Join(kept, name))
			continue
		}
		have, err := os.ReadFile(filepath.Join(kept, name))
		if err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not up to date: make docs rewrites it (%v)", filepath.Join(kept, name), err)
		}
	}
}

// TestCalledThroughKubectl: the usage lines and examples of all commands show
// the name under which the program was called.
func TestCalledThroughKubectl(t *testing.T) {
	for arg0, want := range map[string]string{
		"/usr/local/bin/kubectl-nri_compat": "kubectl nri-compat", `C:\krew\kubectl-nri_compat.exe`: "kubectl nri-compat",
		"nri-compat": "nri-compat", "./bin/nri-compat": "nri-compat", "": "nri-compat", "kubectl-nri_compat.sh": "nri-compat",
	} {
		if got := programName(arg0); got != want {
			t.Errorf("%q is called %q", arg0, got)
		}
	}
	for _, args := range [][]string{{"--help"}, {"check", "--help"}, {"table", "verify", "--help"}} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), append([]string{"kubectl-nri_compat"}, args...), nil, strings.NewReader(""), &out, &errs)
		if code != 0 || !strings.Contains(out.String(), "kubectl nri-compat") {
			t.Errorf("%v: status %d\n%s%s", args, code, out.String(), errs.String())
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "  nri-compat ") || strings.HasPrefix(line, "  sudo nri-compat ") {
				t.Errorf("%v: %s", args, line)
			}
		}
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"kubectl-nri_compat", "check", "--what"}, nil, strings.NewReader(""), &out, &errs); code != exitUsage ||
		!strings.Contains(errs.String(), "Run 'kubectl nri-compat check --help' for usage.") {
		t.Errorf("status %d: %s", code, errs.String())
	}
}
