package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/nri-compat/nri-compat"

// rule says which imports a package may have. Dependencies of this module
// point one way only; what is heavy or touches the outside stays in one place.
type rule struct {
	of    string   // import path below the module; "/..." for everything below it
	never []string // import paths, "/..." likewise
	why   string
}

var rules = []rule{
	{"capability", []string{module + "/..."}, "capability is the base of everything"},
	{"capability", []string{"os", "net", "net/..."}, "capability does no I/O"},
	{"inference", []string{module + "/cmd/...", module + "/internal/...", "os", "net", "net/..."}, "inference does no I/O and knows no command"},
	{"inference/gen/kubelet", []string{module + "/inference/gen/collect", module + "/inference/gen/rows", module + "/internal/...", module + "/cmd"}, "a release is read without knowing where it comes from and what the table says"},
	{"cmd", []string{module + "/inference/gen/...", module + "/capability/gen"}, "what writes the table is no part of the program"},
	{"internal/report", []string{module + "/cmd/...", module + "/internal/plugin/...", module + "/internal/nri/...", module + "/internal/kubelet/...", module + "/internal/node/...", module + "/internal/pluginlog", module + "/internal/standin", module + "/internal/sandbox", module + "/internal/cluster/..."}, "reports render what they are given"},
	{"internal/plugin/...", []string{module + "/inference", module + "/internal/report", module + "/internal/nri", module + "/internal/kubelet", module + "/internal/node", module + "/cmd"}, "a plugin is read without knowing runtimes"},
	{"internal/config", []string{module + "/cmd", module + "/internal/report", module + "/internal/plugin/...", module + "/internal/nri", module + "/internal/kubelet", module + "/internal/node"}, "a configuration is read without knowing what is done with it"},
	{"internal/nri", []string{module + "/inference", module + "/internal/report", module + "/internal/plugin/...", module + "/internal/kubelet", module + "/internal/node", module + "/cmd"}, "the wire knows no table"},
	{"internal/kubelet", []string{module + "/inference", module + "/capability", module + "/internal/...", module + "/cmd"}, "the wire knows no table"},
	{"internal/gomod", []string{module + "/inference", module + "/capability", module + "/internal/...", module + "/cmd"}, "go.mod files are edited without knowing plugins or runtimes"},
	{"internal/pluginlog", []string{module + "/inference", module + "/internal/...", module + "/cmd", "os", "net", "net/..."}, "a log is read without I/O and without knowing plugins or runtimes"},
	{"internal/standin", []string{module + "/inference", module + "/internal/...", module + "/cmd"}, "a stand-in does what it is told, whatever release that is"},
	{"internal/sandbox", []string{module + "/capability", module + "/inference", module + "/internal/...", module + "/cmd"}, "a program is run without knowing what it is"},
	{"internal/node", []string{module + "/inference", module + "/internal/report", module + "/internal/plugin/...", module + "/internal/kubelet", module + "/cmd"}, "the node is read without knowing runtimes"},
}

// owners are the packages that alone may import something directly.
var owners = []struct {
	what  string
	owner []string
}{
	{"github.com/spf13/cobra", []string{"cmd"}},
	{"github.com/spf13/pflag", []string{"cmd"}},
	{"github.com/olekukonko/tablewriter", []string{"internal/report"}},
	{"html/template", []string{"internal/report"}},
	{"github.com/containerd/ttrpc", []string{"internal/nri"}},
	{"github.com/containerd/nri/...", []string{"internal/nri"}},
	{"k8s.io/kubelet/...", []string{"internal/kubelet", "internal/standin"}},
	{"google.golang.org/grpc/...", []string{"internal/nri", "internal/kubelet", "internal/standin"}},
	{"golang.org/x/tools/...", []string{"internal/plugin/..."}},
	{"golang.org/x/arch/...", []string{"internal/plugin/..."}},
	{"github.com/google/go-containerregistry/...", []string{"internal/plugin/..."}},
	{"k8s.io/client-go/...", []string{"internal/cluster"}},
}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func TestImportRules(t *testing.T) {
	packages := listPackages(t)
	for _, r := range rules {
		for path := range packages {
			if !matches(module+"/"+r.of, path) {
				continue
			}
			for _, chain := range reach(packages, path, r.never) {
				t.Errorf("%s: %s", r.why, strings.Join(chain, " → "))
			}
		}
	}
	for _, o := range owners {
		for path, p := range packages {
			if !strings.HasPrefix(path, module) {
				continue
			}
			allowed := slices.ContainsFunc(o.owner, func(owner string) bool { return matches(module+"/"+owner, path) })
			for _, imported := range p.Imports {
				if matches(o.what, imported) && !allowed {
					t.Errorf("only %v may import %s: %s does", o.owner, o.what, path)
				}
			}
		}
	}
}

// TestCapabilityIsStandardLibraryOnly: the vocabulary can be imported by
// anybody at no cost.
func TestCapabilityIsStandardLibraryOnly(t *testing.T) {
	packages := listPackages(t)
	for _, imported := range packages[module+"/capability"].Imports {
		if !packages[imported].Standard {
			t.Errorf("capability imports %s", imported)
		}
	}
}

// TestProcessStaysInCmd: only the command line ends the process or uses its
// streams and arguments.
func TestProcessStaysInCmd(t *testing.T) {
	out, err := exec.Command("git", "grep", "-nE", `os\.(Exit|Stdout|Stderr|Stdin|Args)\b`, "--", "*.go", ":!*_test.go", ":!testdata", ":!*/testdata/*").Output()
	var none *exec.ExitError
	if err != nil && !errors.As(err, &none) {
		t.Skipf("git grep: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "main.go:") && !strings.HasPrefix(line, "cmd/") && !strings.Contains(line, "/gen/") && !strings.Contains(line, "\t//") {
			t.Error(strings.TrimSpace(line))
		}
	}
}

func listPackages(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	packages := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// reach returns the import chains from a package to what it must never reach.
// It follows packages of this module only: what a library imports in turn is
// the library's business.
func reach(packages map[string]listed, from string, never []string) [][]string {
	var found [][]string
	seen := map[string]bool{}
	var walk func(chain []string)
	walk = func(chain []string) {
		path := chain[len(chain)-1]
		if seen[path] {
			return
		}
		seen[path] = true
		for _, imported := range packages[path].Imports {
			next := append(slices.Clone(chain), imported)
			own := len(chain) == 1 || strings.HasPrefix(path, module)
			if own && imported != from && slices.ContainsFunc(never, func(n string) bool { return matches(n, imported) }) {
				found = append(found, next)
				continue
			}
			if strings.HasPrefix(imported, module) {
				walk(next)
			}
		}
	}
	walk([]string{from})
	return found
}

// matches tells whether path is what the pattern names.
func matches(pattern, path string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return pattern == path
}
