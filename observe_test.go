package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// canObserve tells whether plugins can be run here: whether this user may make
// namespaces.
func canObserve() bool {
	args := []string{"--mount", "--pid", "--fork", "true"}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	return exec.Command("unshare", args...).Run() == nil
}

// TestObserved: what each device plugin uses while it runs is what is expected of
// it, stripped or not, and of the run nothing stays behind.
func TestObserved(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs plugins")
	}
	if !canObserve() {
		t.Skip("no namespaces may be made here")
	}
	for _, name := range []string{"kubelet-plain", "kubelet-cdi", "kubelet-cdi-new", "kubelet-early", "kubelet-framework", "kubelet-intel"} {
		for _, ldflags := range []string{"", "-s -w"} {
			t.Run(strings.TrimSpace(name+" "+ldflags), func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join("testdata", "plugins", name)
				program := filepath.Join(t.TempDir(), name)
				build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", ldflags, "-o", program, ".")
				build.Dir = dir
				build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
				if out, err := build.CombinedOutput(); err != nil {
					if name == "kubelet-intel" && testruntime.ModuleRefused(string(out)) {
						t.Skipf("its framework cannot be had here: %s", out)
					}
					t.Fatalf("%v\n%s", err, out)
				}
				code, stdout, stderr := run([]string{"observe", program, "--kubelet", "--timeout", "2m", "-o", "json"}, os.Environ())
				if code != 0 || stderr != "" {
					t.Errorf("exit status %d: %s", code, stderr)
				}
				if err := validateDocument([]byte(stdout)); err != nil {
					t.Error(err)
				}
				var doc report.Observe
				if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range doc.Requirements {
					got = append(got, map[string]string{"requires": "need ", "wants": "want "}[r.Level]+r.ID)
				}
				slices.Sort(got)
				if want := observedNeeds(t, filepath.Join(dir, "expect-kubelet.txt")); !slices.Equal(got, want) {
					t.Errorf("used\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if pids := processesOf(t, program); len(pids) > 0 {
					t.Errorf("still running: %v", pids)
				}
			})
		}
	}
}

// observedNeeds reads which needs are expected of a plugin that runs.
func observedNeeds(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "observed: ")
		if strings.HasPrefix(line, "need ") || strings.HasPrefix(line, "want ") {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// processesOf lists the processes whose executable is a file.
func processesOf(t *testing.T, program string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range links {
		if exe, err := os.Readlink(l); err == nil && strings.HasPrefix(exe, program) {
			out = append(out, l)
		}
	}
	return out
}

// TestObserveLeavesNothing: whatever a plugin does, afterwards the mounts, the
// sockets and the directories of the machine are as before.
func TestObserveLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs plugins")
	}
	if !canObserve() {
		t.Skip("no namespaces may be made here")
	}
	program := filepath.Join(buildPlugins(t, "kubelet-misbehaves"), "kubelet-misbehaves")
	before := machine(t)
	for _, fault := range []string{"daemonizes", "forks", "stubborn", "crashes", "registers-always"} {
		// How each of them ends is shown elsewhere.
		run([]string{"observe", program, "--kubelet", "-q", "--", fault}, os.Environ())
		if pids := processesOf(t, program); len(pids) > 0 {
			t.Errorf("%s: still running: %v", fault, pids)
		}
	}
	if after := machine(t); after != before {
		t.Errorf("the machine is not as it was:\n%s\nbefore:\n%s", after, before)
	}
}

// machine describes what a run of a plugin must not change.
func machine(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	out := string(mounts)
	for _, dir := range []string{"/var/lib/kubelet", "/var/lib/kubelet/device-plugins", "/run/cdi", "/run/nri", "/etc/cdi"} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			t.Fatal(err)
		}
		out += fmt.Sprintf("%s: %v %v\n", dir, err, entries)
	}
	return out
}
