package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wordy is an error of this program that knows more than its line.
type wordy struct{ err error }

func (w wordy) Error() string     { return "in one line" }
func (w wordy) Unwrap() error     { return w.err }
func (w wordy) Details() []string { return []string{"first\nin one line\n  second  ", "first"} }

// TestCauses: what is known of real errors beyond their text, and nothing twice.
func TestCauses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	_, missing := os.Open("nothing")
	socket := filepath.Join(dir, "s.sock")
	_, dialed := net.Dial("unix", socket)
	_, asked := http.Get("http://user:secret@127.0.0.1:1/x")
	failed := &exec.ExitError{}
	if _, err := exec.Command("go", "list", "./nothing-there").Output(); !errors.As(err, &failed) {
		t.Fatal(err)
	}
	syntax := json.Unmarshal([]byte(`{"a":]`), &struct{}{})

	for _, c := range []struct {
		name string
		err  error
		want []string // in order, a part of a line each
		more bool     // there may be others
	}{
		{name: "none"},
		{name: "file", err: fmt.Errorf("plugin: %w", missing), want: []string{"system call open of " + filepath.Join(dir, "nothing") + ": error 2, "}},
		{name: "socket", err: dialed, want: []string{"system call connect: error 2, "}},
		{name: "HTTP", err: asked, want: []string{"system call connect: error "}},
		{name: "program", err: fmt.Errorf("go list failed: %w", failed), want: []string{"go: "}, more: true},
		{name: "JSON", err: fmt.Errorf("x: %w", syntax), want: []string{"JSON at byte 6"}},
		{name: "own, and several", err: errors.Join(wordy{missing}, wordy{syntax}), want: []string{"first", "second", "system call open of ", "JSON at byte 6", "invalid character"}},
		{name: "deadline", err: fmt.Errorf("read: %w", context.DeadlineExceeded)},
		{name: "text only", err: errors.New("as it\n  is")},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := ""
			if c.err != nil {
				said = (&app{timeout: 1}).errorText(c.err)
			}
			got := causes(c.err, said)
			if len(got) < len(c.want) || len(got) > len(c.want) && !c.more {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("line %d: %q, want %q", i, got[i], want)
				}
			}
			if strings.Contains(strings.Join(got, "\n"), "secret") {
				t.Errorf("a password: %q", got)
			}
		})
	}
}

// TestCausesAreBounded: a program that prints without end fills no screen.
func TestCausesAreBounded(t *testing.T) {
	var long []error
	for i := range 1000 {
		long = append(long, errors.New(fmt.Sprint(i)+strings.Repeat("x", 10000)))
	}
	got := causes(wordy{errors.Join(long...)}, "")
	if len(got) != maxCauses+1 || got[maxCauses] != "…" {
		t.Errorf("%d lines", len(got))
	}
	for _, line := range got {
		if len([]rune(line)) > maxCauseLine+1 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// TestQuietWithoutVerbose: nothing is logged that was not asked for.
func TestQuietWithoutVerbose(t *testing.T) {
	for _, c := range []struct {
		args        []string
		info, debug bool
	}{
		{nil, false, false}, {[]string{"-v"}, true, false}, {[]string{"-vv"}, true, true}, {[]string{"-v", "-v"}, true, true},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"nri-compat", "check", "--requires", "ADJUST_ENV", "--runtime", "containerd@2.1.0", "-q"}, c.args...)
		if code := Main(t.Context(), args, nil, strings.NewReader(""), &stdout, &stderr); code != 0 || stdout.Len() > 0 {
			t.Fatalf("%v: status %d, %q", c.args, code, stdout.String())
		}
		if got := strings.Contains(stderr.String(), "level=INFO"); got != c.info {
			t.Errorf("%v: %s", c.args, stderr.String())
		}
		if got := strings.Contains(stderr.String(), "level=DEBUG"); got != c.debug {
			t.Errorf("%v: %s", c.args, stderr.String())
		}
	}
}
