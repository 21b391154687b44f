package binary

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

const pluginsDir = "../../../testdata/plugins"

// variant is one way to build a plugin.
type variant struct {
	name  string
	arch  string
	flags []string
	slow  bool // left out with -short
}

func variants() []variant {
	return []variant{
		{name: "plain", arch: "amd64"},
		{name: "stripped", arch: "amd64", flags: []string{"-ldflags=-s -w"}},
		{name: "pie", arch: "amd64", flags: []string{"-ldflags=-s -w", "-trimpath", "-buildmode=pie"}, slow: true},
		{name: "arm64", arch: "arm64", slow: true},
		{name: "arm64-stripped", arch: "arm64", flags: []string{"-ldflags=-s -w"}, slow: true},
		{name: "no-inlining", arch: "amd64", flags: []string{"-gcflags=all=-l"}, slow: true},
	}
}

// builds holds the executables of this run of the tests, so that each is built
// once.
type builds struct {
	dir  string
	mu   sync.Mutex
	done map[string]func() (string, error)
}

var built = &builds{done: map[string]func() (string, error){}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "nri-plugins-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// build builds a test plugin and returns the path of the executable.
func build(t testing.TB, plugin string, v variant) string {
	t.Helper()
	built.mu.Lock()
	key := plugin + "." + v.name
	once, ok := built.done[key]
	if !ok {
		once = sync.OnceValues(func() (string, error) { return goBuild(plugin, v, filepath.Join(built.dir, key)) })
		built.done[key] = once
	}
	built.mu.Unlock()
	path, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func goBuild(plugin string, v variant, out string) (string, error) {
	args := append([]string{"build", "-o", out}, v.flags...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = filepath.Join(pluginsDir, plugin)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+v.arch, "GOWORK=off", "GOFLAGS=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s as %s: %w\n%s", plugin, v.name, err, msg)
	}
	return out, nil
}

func inspectFile(t testing.TB, path string) (found.Plugin, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return Inspect(context.Background(), f, st.Size(), path)
}

// expectation is the contents of an expect.txt; testdata/plugins/README.md says
// what it looks like.
type expectation struct {
	caps                         []string // "NAME", "NAME wanted", "NAME unproven"
	warnings, opaque, gaps, from []string
	protocol                     string
}

func readExpectation(t *testing.T, plugin string) expectation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(pluginsDir, plugin, "expect.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var e expectation
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if reader, rest, ok := strings.Cut(line, ": "); ok && (reader == "binary" || reader == "source") {
			if reader != "binary" {
				continue
			}
			line = rest
		}
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "need":
			e.caps = append(e.caps, rest)
		case "want":
			e.caps = append(e.caps, rest+" wanted")
		case "unproven":
			e.caps = append(e.caps, rest+" unproven")
		case "warning":
			e.warnings = append(e.warnings, rest)
		case "opaque":
			e.opaque = append(e.opaque, rest)
		case "gap":
			e.gaps = append(e.gaps, rest)
		case "from":
			e.from = append(e.from, rest)
		case "protocol":
			e.protocol = rest
		default:
			t.Fatalf("%s/expect.txt: %q is no line that README.md knows", plugin, line)
		}
	}
	return e
}

func (e expectation) compare(t *testing.T, p found.Plugin) {
	t.Helper()
	var got []string
	functions := map[string]bool{}
	for _, r := range p.Requirements {
		s := r.Capability.String()
		if r.Level == capability.Wants {
			s += " wanted"
		} else if r.Unproven {
			s += " unproven"
		}
		got = append(got, s)
		if len(r.Evidence) == 0 {
			t.Errorf("%s has no evidence", s)
		}
		for _, ev := range r.Evidence {
			functions[ev.Function] = true
			// An empty method that is inlined into its wrapper leaves no line.
			placed := ev.File != "" && ev.Line > 0 || ev.Kind == "handler" || ev.Detail != ""
			if ev.Kind == "" || ev.Symbol == "" || ev.Function == "" || !placed {
				t.Errorf("%s: incomplete evidence %+v", s, ev)
			}
		}
	}
	for _, s := range missing(sorted(e.caps), sorted(got)) {
		t.Errorf("not found: %s", s)
	}
	for _, s := range missing(sorted(got), sorted(e.caps)) {
		t.Errorf("found without being there: %s %+v", s, evidenceOf(p, s))
	}
	if protocol := p.NRI.ProtocolFrom + " " + p.NRI.ProtocolTo; protocol != e.protocol || p.NRI.Contradiction != "" {
		t.Errorf("protocol %q, want %q; contradiction %q", protocol, e.protocol, p.NRI.Contradiction)
	}
	for _, f := range e.from {
		if !functions[f] {
			t.Errorf("no evidence names %s", f)
		}
	}
	compareTexts(t, "warning", p.Warnings, e.warnings)
	compareTexts(t, "opaque", p.Opaque, e.opaque)
	compareTexts(t, "gap", p.Gaps, e.gaps)
}

// compareTexts wants each text to have a line, and each line to have a text.
func compareTexts(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("no %s contains %q: %q", what, w, got)
		}
	}
	for _, g := range got {
		if !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(g, w) }) {
			t.Errorf("unexpected %s: %s", what, g)
		}
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func evidenceOf(p found.Plugin, name string) []capability.Evidence {
	name, _, _ = strings.Cut(name, " ")
	for _, r := range p.Requirements {
		if r.Capability.String() == name {
			return r.Evidence
		}
	}
	return nil
}

func pluginNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pluginsDir, "*", "expect.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no plugins under %s: %v", pluginsDir, err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

// Every test plugin, built in every way, must be read exactly as its
// expectation says.
func TestPlugins(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			if v.slow && testing.Short() {
				t.Skip("builds the standard library for another target")
			}
			for _, name := range pluginNames(t) {
				t.Run(name, func(t *testing.T) {
					p, err := inspectFile(t, build(t, name, v))
					if err != nil {
						t.Fatal(err)
					}
					readExpectation(t, name).compare(t, p)
					checkIdentity(t, p, name, v)
				})
			}
		})
	}
}

func checkIdentity(t *testing.T, p found.Plugin, name string, v variant) {
	t.Helper()
	id := p.Identity
	stripped := slices.Contains(v.flags, "-ldflags=-s -w")
	pie := slices.Contains(v.flags, "-buildmode=pie")
	if id.Module != "example.com/"+name || id.OS != "linux" || id.Arch != v.arch || id.Stripped != stripped || id.PIE != pie || id.CGO {
		t.Errorf("identity %+v", id)
	}
	mod, err := os.ReadFile(filepath.Join(pluginsDir, name, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if p.NRI.Module != nriModule || !bytes.Contains(mod, []byte(nriModule+" "+p.NRI.Version)) {
		t.Errorf("NRI module %s %s", p.NRI.Module, p.NRI.Version)
	}
}

// The answer does not depend on chance: maps are walked in any order inside.
func TestDeterminism(t *testing.T) {
	path := build(t, "resources", variants()[1])
	first := ""
	for range 10 {
		p, err := inspectFile(t, path)
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%+v", p)
		if first == "" {
			first = s
		}
		if s != first {
			t.Fatalf("\n%s\n%s", first, s)
		}
	}
}
