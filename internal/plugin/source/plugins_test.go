package source

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

const pluginsDir = "../../../testdata/plugins"

// TestPlugins: every test plugin must be read exactly as its expectation says.
// Those whose names start with "src-" are for this reader only.
func TestPlugins(t *testing.T) {
	for _, test := range append(shared(t), []struct {
		dir, expect string
		o           Options
	}{
		{"src-uses", "expect-source.txt", Options{}},
		{"src-raw", "expect-source.txt", Options{}},
		{"src-old", "expect-source.txt", Options{}},
		{"src-own-copy", "expect-source.txt", Options{}},
		{"src-tags", "expect-source.txt", Options{}},
		{"src-tags", "expect-source-cdi.txt", Options{Tags: []string{"cdi"}}},
		{"src-two-mains", "expect-source-one.txt", Options{Pattern: "./cmd/one"}},
		{"src-two-mains", "expect-source-two.txt", Options{Pattern: "./cmd/two"}},
	}...) {
		t.Run(test.dir+"/"+test.expect, func(t *testing.T) {
			got, err := Inspect(t.Context(), filepath.Join(pluginsDir, test.dir), test.o)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 {
				t.Fatalf("%d plugins", len(got))
			}
			compare(t, filepath.Join(pluginsDir, test.dir, test.expect), got[0])
		})
	}
}

// shared returns the plugins that other readers are tested with too.
func shared(t *testing.T) (tests []struct {
	dir, expect string
	o           Options
}) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pluginsDir, "*", "expect.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		tests = append(tests, struct {
			dir, expect string
			o           Options
		}{filepath.Base(filepath.Dir(f)), "expect.txt", Options{}})
	}
	return tests
}

// compare reads an expectation, in the form that testdata/plugins/README.md
// describes, and compares.
func compare(t *testing.T, file string, p found.Plugin) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if reader, rest, ok := strings.Cut(line, ": "); ok && slices.Contains([]string{"binary", "source", "observed"}, reader) {
			if reader != "source" {
				continue
			}
			line = rest
		}
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if group, name, ok := strings.Cut(rest, " "); ok && (word == "one" || word == "some") {
			word, rest = word+" "+group, name
		}
		want[word] = append(want[word], rest)
	}
	got := map[string][]string{}
	functions := map[string]bool{}
	for _, r := range p.Requirements {
		word := "need"
		switch {
		case r.Source == capability.Declared:
			word = "declared"
		case r.OneOf != "":
			word = "one " + r.OneOf
			if r.Level == capability.Wants {
				word = "some " + r.OneOf
			}
		case r.Level == capability.Wants:
			word = "want"
		case r.Unproven:
			word = "unproven"
		}
		got[word] = append(got[word], r.Capability.String())
		if len(r.Evidence) == 0 {
			t.Errorf("%s has no evidence", r.Capability)
		}
		for _, e := range r.Evidence {
			functions[e.Function] = true
			if e.Kind == "" || e.Symbol == "" || e.Function == "" || e.File == "" || e.Line == 0 || filepath.IsAbs(e.File) {
				t.Errorf("%s: evidence %+v", r.Capability, e)
			}
		}
	}
	for word := range maps.Keys(union(got, want)) {
		if slices.Contains([]string{"warning", "opaque", "gap", "from", "protocol"}, word) {
			continue
		}
		for _, name := range want[word] {
			if !slices.Contains(got[word], name) {
				t.Errorf("not found: %s %s", word, name)
			}
		}
		for _, name := range got[word] {
			if !slices.Contains(want[word], name) {
				t.Errorf("found without being there: %s %s", word, name)
			}
		}
	}
	for _, f := range want["from"] {
		if !functions[f] {
			t.Errorf("no evidence names %s", f)
		}
	}
	compareTexts(t, "warning", p.Warnings, want["warning"])
	compareTexts(t, "opaque", p.Opaque, want["opaque"])
	compareTexts(t, "gap", p.Gaps, want["gap"])
}

func union(a, b map[string][]string) map[string][]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// compareTexts wants each text to have a line, and each line to have a text.
func compareTexts(t *testing.T, what string, got, want []string) {
	t.Helper()
	fits := func(g, w string) bool { return strings.Contains(g, w) }
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return fits(g, w) }) {
			t.Errorf("no %s contains %q: %q", what, w, got)
		}
	}
	for _, g := range got {
		if !slices.ContainsFunc(want, func(w string) bool { return fits(g, w) }) {
			t.Errorf("unexpected %s: %s", what, g)
		}
	}
}
