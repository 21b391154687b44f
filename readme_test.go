package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsWhatHappens runs the commands of the README's console blocks
// and compares what they print.
func TestReadmeShowsWhatHappens(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	got := regexp.MustCompile("(?s)```console\n.*?```").ReplaceAllStringFunc(string(text), func(block string) string {
		n++
		var out strings.Builder
		out.WriteString("```console\n")
		for line := range strings.Lines(block) {
			command, ok := strings.CutPrefix(line, "$ nri-compat ")
			if !ok {
				continue
			}
			_, stdout, stderr := run(splitWords(command), nil)
			out.WriteString(line + stdout + stderr)
		}
		out.WriteString("```")
		return out.String()
	})
	if n == 0 {
		t.Error("the README shows no command")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(text) {
		t.Error("the README does not show what its commands print: run this test with -update")
	}
}

// splitWords splits a command line at blanks outside of single quotes.
func splitWords(line string) []string {
	var words []string
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// TestReadmeKnowsEveryCommand: every command is in the README, and the README
// names no other.
func TestReadmeKnowsEveryCommand(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, help, _ := run([]string{"--help"}, nil)
	commands := regexp.MustCompile(`(?m)^  ([a-z]+) {2,}[A-Z]`).FindAllStringSubmatch(help, -1)
	if len(commands) < 8 {
		t.Fatalf("the help lists %d commands", len(commands))
	}
	known := map[string]bool{}
	for _, c := range commands {
		known[c[1]] = true
		if c[1] != "help" && c[1] != "completion" && c[1] != "version" && !strings.Contains(string(text), "`"+c[1]) {
			t.Errorf("the README does not name the command %s", c[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)").FindAllStringSubmatch(string(text), -1) {
		if !known[m[1]] {
			t.Errorf("the README names %s, which is no command", m[1])
		}
	}
	for _, status := range []string{"| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 4 |", "| 130 |"} {
		if !strings.Contains(string(text), status) {
			t.Errorf("the README does not explain exit status %s", status)
		}
	}
}
