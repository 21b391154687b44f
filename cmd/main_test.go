package cmd

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// TestInterrupted: a signal ends whatever is being done with status 130, also
// where the error itself was about one plugin of several.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	for _, line := range []string{"inspect ../testdata/plugins/ulimits", "check ../testdata/plugins/ulimits --runtime containerd@2.1.3", "probe"} {
		if code := Main(ctx, append([]string{"nri-compat"}, strings.Fields(line)...), nil, strings.NewReader(""), &out, &errs); code != exitInterrupted {
			t.Errorf("%s: exit status %d", line, code)
		}
	}
}

// TestUsageErrorsNameTheCommand: the line that says where to read on names the
// command that was asked for.
func TestUsageErrorsNameTheCommand(t *testing.T) {
	for line, want := range map[string]string{
		"check --nope":                  "Run 'nri-compat check --help' for usage.",
		"table verify a b":              "Run 'nri-compat table verify --help' for usage.",
		"nope":                          "Run 'nri-compat --help' for usage.",
		"infer":                         "Run 'nri-compat infer --help' for usage.",
		"matrix --by week":              "Run 'nri-compat matrix --help' for usage.",
		"diff containerd@1.7.0 nowhere": "Run 'nri-compat diff --help' for usage.",
	} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), append([]string{"nri-compat"}, strings.Fields(line)...), nil, strings.NewReader(""), &out, &errs)
		if lines := strings.Split(strings.TrimSpace(errs.String()), "\n"); code != exitUsage || len(lines) != 2 || lines[1] != want || out.Len() > 0 {
			t.Errorf("%s: exit status %d\n%s%s", line, code, out.String(), errs.String())
		}
	}
}

// TestGate: what decides the exit status, in every order.
func TestGate(t *testing.T) {
	for _, test := range []struct {
		fail     failOn
		verdicts string // c, i, u for compatible, incompatible, inconclusive; b for a bug
		want     int
	}{
		{failOnUnknown, "", 0}, {failOnUnknown, "c", 0}, {failOnUnknown, "ci", 3}, {failOnUnknown, "iu", 3},
		{failOnUnknown, "ui", 3}, {failOnUnknown, "uc", 4}, {failOnUnknown, "cb", 0},
		{failOnMissing, "u", 0}, {failOnMissing, "ui", 3}, {failOnNever, "ui", 0},
		{failOnKnownBug, "cb", 3}, {failOnKnownBug, "c", 0}, {failOnKnownBug, "u", 4}, {failOnKnownBug, "ub", 3},
	} {
		g := newGate(test.fail)
		for i, v := range test.verdicts {
			bug := strings.HasPrefix(test.verdicts[i+1:], "b")
			switch v {
			case 'c':
				g.add(capability.Compatible, bug)
			case 'i':
				g.add(capability.Incompatible, bug)
			case 'u':
				g.add(capability.Inconclusive, bug)
			}
		}
		if got := status(g.err(), true); got != test.want {
			t.Errorf("--fail-on %s, %q: %d, want %d", test.fail, test.verdicts, got, test.want)
		}
	}
}

// TestTimeoutIsNamed: work that takes too long ends with the flag to change.
func TestTimeoutIsNamed(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main(t.Context(), []string{"nri-compat", "inspect", "../testdata/plugins/ulimits", "--timeout", "1ns"}, nil, strings.NewReader(""), &out, &errs)
	if code != exitError || !strings.Contains(errs.String(), "gave up after 1ns (--timeout)") {
		t.Errorf("exit status %d: %s", code, errs.String())
	}
}
