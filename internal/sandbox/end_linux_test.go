package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestForksAreEnded: what a program leaves running is named and ended, and
// nothing else is named, also where /proc shows the machine: because the program
// unmounts it, as it is where none can be mounted.
func TestForksAreEnded(t *testing.T) {
	mark := fmt.Sprintf("86%d", os.Getpid())
	for _, then := range []string{"true", "umount -l /proc"} {
		got, last := inside(t, Spec{}, order{}, fmt.Sprintf(`
			setsid sleep %[1]s & setsid sleep %[1]s &
			until [ "$(cat /proc/[0-9]*/comm | grep -c sleep)" = 2 ]; do :; done
			%[2]s`, mark, then))
		if last.Exit != "exit status 0" || !slices.Equal(last.Alive, []string{"sleep", "sleep"}) {
			t.Errorf("%s: %+v\n%s", then, last, got)
		}
		if pids := running(t, mark); len(pids) > 0 {
			t.Errorf("%s: still running: %v", then, pids)
		}
	}
}

// TestProcess: what the status file of a process says, whatever its name is.
func TestProcess(t *testing.T) {
	for _, test := range []struct {
		status string
		name   string
		inner  int
		zombie bool
	}{
		{"Name:\tsleep\nState:\tS (sleeping)\nPid:\t812\nNSpid:\t812\t7\n", "sleep", 7, false},
		{"Name:\tState: Z) x\\n\nState:\tR (running)\nNSpid:\t5\n", "State: Z) x\\n", 5, false},
		{"Name:\tsh\nState:\tZ (zombie)\nNSpid:\t5\n", "sh", 5, true},
		{"Name", "", 0, false},
		{"", "", 0, false},
	} {
		if name, inner, zombie := process(test.status); name != test.name || inner != test.inner || zombie != test.zombie {
			t.Errorf("%q: %q %d %v", test.status, name, inner, zombie)
		}
	}
}

// TestStubborn: a program that does not end on SIGTERM is ended all the same,
// with one that does it is said so.
func TestStubborn(t *testing.T) {
	mark := fmt.Sprintf("87%d", os.Getpid())
	_, last := inside(t, Spec{}, order{Signal: true}, "trap '' TERM; kill -USR1 1; sleep "+mark)
	if !last.Stubborn || last.Exit != "" {
		t.Errorf("%+v", last)
	}
	if pids := running(t, mark); len(pids) > 0 {
		t.Errorf("still running: %v", pids)
	}
	if _, last := inside(t, Spec{}, order{Signal: true}, "kill -USR1 1; exec sleep "+mark); last.Stubborn || last.Exit != "" {
		t.Errorf("%+v", last)
	}
}

// running lists the processes with a word in their command line.
func running(t *testing.T, word string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), word) && !strings.Contains(f, "/self/") {
			out = append(out, f)
		}
	}
	return out
}

// TestEndsWithTheOuterProcess: when the context ends, so does everything.
func TestEndsWithTheOuterProcess(t *testing.T) {
	needsNamespaces(t)
	mark := fmt.Sprintf("88%d", os.Getpid())
	ctx, cancel := context.WithCancel(t.Context())
	spec := Spec{Command: []string{"/bin/sleep", mark}, Env: os.Environ(), Dir: "/"}
	box, err := Start(ctx, []string{"stage"}, spec, order{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var s said
	if err := box.Next(&s); err != nil || !s.Ready {
		t.Fatal(err, s)
	}
	if len(running(t, mark)) != 1 {
		t.Error("it does not run")
	}
	cancel()
	for err == nil {
		err = box.Next(&s)
	}
	if err := box.Wait(); err != nil {
		t.Error(err)
	}
	if pids := running(t, mark); len(pids) > 0 {
		t.Errorf("still running: %v", pids)
	}
}

// TestEndsWithAKilledOuterProcess: it does not take the help of the stage, which
// a program can stop.
func TestEndsWithAKilledOuterProcess(t *testing.T) {
	needsNamespaces(t)
	mark := fmt.Sprintf("85%d", os.Getpid())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{"outer", mark}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for len(running(t, mark)) < 2 && ctx.Err() == nil { // the outer process and the program
		runtime.Gosched() // the kernel shows a command line a moment after it is executed
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	for len(running(t, mark)) > 0 {
		if ctx.Err() != nil {
			t.Fatal("still running")
		}
		runtime.Gosched() // the kernel needs a moment to end a namespace
	}
}

// TestNobodyListens: a stage that says more than anybody reads does not keep its
// sandbox alive.
func TestNobodyListens(t *testing.T) {
	needsNamespaces(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	spec := Spec{Command: []string{"/bin/sleep", "1000"}, Env: os.Environ(), Dir: "/"}
	box, err := Start(ctx, []string{"stage"}, spec, order{Talks: true}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var s said
	if err := box.Next(&s); err != nil || !s.Ready {
		t.Fatal(err, s)
	}
	if err := box.Wait(); err != nil || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
}
