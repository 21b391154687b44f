package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
)

// TestCapabilityPage: the list of capabilities is the catalogue as it is.
func TestCapabilityPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Capabilities\n\nWhat an NRI plugin, a device plugin or a DRA driver can depend on, from the\ncatalogue of package `capability`. This page is generated: `make docs`.\n")
	for _, kind := range capability.Kinds() {
		fmt.Fprintf(&b, "\n## %s\n", kind)
		for _, id := range capability.All() {
			if id.Kind() == kind {
				writeCapability(&b, id)
			}
		}
	}
	const path = "docs/capabilities.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != b.String() {
		t.Errorf("%s is not up to date: make docs rewrites it (%v)", path, err)
	}
}

// TestNodeLabels: the labels of a node are listed as they are written.
func TestNodeLabels(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!-- labels -->\n| label | capabilities that are all there |\n|---|---|\n")
	for _, g := range report.NFDGroups() {
		var names []string
		for _, id := range g.Capabilities {
			names = append(names, id.String())
		}
		fmt.Fprintf(&b, "| `nri-compat.dev/%s` | %s |\n", g.Label, strings.Join(names, ", "))
	}
	b.WriteString("<!-- end of labels -->")
	const path = "docs/node.md"
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(have), "<!-- labels -->")
	_, after, ok2 := strings.Cut(rest, "<!-- end of labels -->")
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the labels", path)
	}
	want := before + b.String() + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(have) {
		t.Errorf("%s is not up to date: make docs rewrites it", path)
	}
}

func writeCapability(b *strings.Builder, id capability.ID) {
	e, _ := capability.Lookup(id)
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", id, escape(e.Title))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "- %s: %s\n", name, text)
		}
	}
	line("without it", escape(e.Consequence))
	line("instead", escape(e.Instead))
	if len(e.API) > 0 {
		line("Go API", "`"+strings.Join(e.API, "`, `")+"`")
	}
	if e.Proto != "" {
		line("protocol", "`"+e.Proto+"`")
	}
	line("NRI library", e.Since)
	var first []string
	for _, r := range report.NewExplain(report.Head{}, inference.Builtin(), id).Runtimes {
		if r.Since != "" {
			first = append(first, r.Runtime+" "+r.Since)
		}
	}
	if len(first) == 0 {
		first = []string{"no known release"}
	}
	line("first in", strings.Join(first, ", "))
	line("number", fmt.Sprint(e.Number))
}

func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "<", "&lt;", "[", `\[`, "`", "\\`").Replace(s)
}

// TestDocsLinks: links between the pages lead somewhere, and every page can be
// reached from the README.
func TestDocsLinks(t *testing.T) {
	reached := map[string]bool{}
	var walk func(page string)
	walk = func(page string) {
		if reached[page] {
			return
		}
		reached[page] = true
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			return
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			to := filepath.Join(filepath.Dir(page), m[1])
			if info, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s, which is not there", page, m[1])
			} else if !info.IsDir() && strings.HasSuffix(to, ".md") {
				walk(to)
			}
		}
	}
	walk("README.md")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !reached[page] {
			t.Errorf("no link leads to %s", page)
		}
	}
}

// TestDocsCommandsExist: the commands that the pages show are understood: a flag
// or a command that is not there would be a mistake in what was typed.
func TestDocsCommandsExist(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:\$ )?(?:sudo )?nri-compat ([a-z]+)(.*)$`).FindAllStringSubmatch(string(text), -1) {
			n++
			_, help, stderr := run([]string{m[1], "--help"}, nil)
			if stderr != "" {
				t.Errorf("%s: nri-compat %s: %s", page, m[1], stderr)
			}
			for _, f := range regexp.MustCompile(` (--[a-z][a-z-]*)`).FindAllStringSubmatch(m[2], -1) {
				if !strings.Contains(help, f[1]) && f[1] != "--help" {
					t.Errorf("%s: %s has no flag %s", page, m[1], f[1])
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("%d commands", n)
	}
}
