//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// buildCommand builds nri-compat itself.
func buildCommand(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "nri-compat")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// command runs nri-compat and returns its exit status and output.
func command(t *testing.T, bin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(bin, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// probed is the part of probe's document that these tests look at.
type probed struct {
	NRI     string
	TurnOn  string
	Runtime struct {
		Name, To, Match, NRIOrigin string
		NRI, Contradictions        []string
	}
	Process struct{ Version, NRI string }
	Plugins []struct{ How, Name, Index string }
}

func probe(t *testing.T, bin string, wantCode int, args ...string) probed {
	t.Helper()
	code, stdout, stderr := command(t, bin, append([]string{"probe", "-o", "json"}, args...)...)
	if code != wantCode {
		t.Fatalf("probe %v: exit status %d, want %d\n%s", args, code, wantCode, stderr)
	}
	var p probed
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProbeCommand: the command names release and NRI version of each
// containerd, by the best evidence there is, and no two kinds contradict.
func TestProbeCommand(t *testing.T) {
	needRoot(t)
	bin := buildCommand(t)
	for _, r := range releases() {
		for _, stamped := range []bool{true, false} {
			if !stamped && r.version != "v2.4.2" && r.version != "v1.7.35" {
				continue
			}
			t.Run(r.version+map[bool]string{true: "", false: " unstamped"}[stamped], func(t *testing.T) {
				c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, r.version, stamped), testruntime.ContainerdOptions{})
				p := probe(t, bin, 0, "--socket", c.Socket)
				origin := "binary"
				if r.names {
					origin = "reported"
				}
				if p.NRI != "on" || p.Runtime.Name != "containerd" || "v"+p.Runtime.To != r.version || p.Runtime.Match != "exact" ||
					!slices.Equal(p.Runtime.NRI, []string{r.nri}) || p.Runtime.NRIOrigin != origin || len(p.Runtime.Contradictions) != 0 {
					t.Errorf("%+v", p)
				}
				// Without its executable the table alone knows the same.
				code, stdout, _ := command(t, bin, "infer", "containerd@"+r.version, "-o", "json")
				if code != 0 || !strings.Contains(stdout, `"`+r.nri+`"`) {
					t.Errorf("infer: exit status %d\n%s", code, stdout)
				}
			})
		}
	}
}

// TestCheckNode: check without arguments names every plugin of the node, the
// connected and the installed ones, with a verdict each.
func TestCheckNode(t *testing.T) {
	needRoot(t)
	bin, plugin := buildCommand(t), testruntime.BuildPlugin(t)
	installed := filepath.Join(t.TempDir(), "ulimits")
	build := exec.Command("go", "build", "-o", installed, ".")
	build.Dir = "../../testdata/plugins/ulimits"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v1.7.35", true), testruntime.ContainerdOptions{
		Installed: map[string]string{"30-ulimits": installed},
	})
	testruntime.StartPlugin(t, plugin, c.Socket, "10", "first")
	testruntime.StartPlugin(t, plugin, c.Socket, "20", "second")

	code, stdout, stderr := command(t, bin, "check", "--socket", c.Socket, "-o", "json")
	var doc struct {
		Plugins []struct{ Name, Ref string }
		Results []struct {
			Plugin, Verdict string
			Runtime         struct{ Name, To string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("exit status %d: %v\n%s", code, err, stderr)
	}
	var names []string
	for _, r := range doc.Results {
		names = append(names, r.Plugin)
		if r.Verdict == "" || r.Runtime.Name != "containerd" || r.Runtime.To != "1.7.35" {
			t.Errorf("%+v", r)
		}
	}
	slices.Sort(names)
	// The installed plugin runs too, started by containerd: it is connected.
	if len(names) < 3 || !slices.Contains(names, "30-ulimits") || len(doc.Plugins) != len(names) {
		t.Errorf("plugins %v", names)
	}
	p := probe(t, bin, 0, "--socket", c.Socket, "--plugins")
	connected := 0
	for _, pl := range p.Plugins {
		if pl.How == "connected" {
			connected++
		}
	}
	if connected < 2 || len(p.Plugins) < 3 {
		t.Errorf("probe --plugins: %+v", p.Plugins)
	}
}

// TestNRIOff: a containerd without NRI is named by its executable, with what
// would turn it on.
func TestNRIOff(t *testing.T) {
	needRoot(t)
	bin := buildCommand(t)
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v2.1.9", true), testruntime.ContainerdOptions{WithoutNRI: true})
	p := probe(t, bin, 4, "--socket", c.Socket)
	if p.NRI != "off" || p.Runtime.To != "2.1.9" || !slices.Equal(p.Runtime.NRI, []string{"v0.8.0"}) {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(p.TurnOn, "disable = false") || !strings.Contains(p.TurnOn, c.Config) {
		t.Errorf("turn on: %q", p.TurnOn)
	}
	probe(t, bin, 0, "--socket", c.Socket, "--allow-disabled")
	code, stdout, _ := command(t, bin, "probe", "--socket", c.Socket, "--allow-disabled", "-o", "nfd")
	if code != 0 || !strings.Contains(stdout, "nri-compat.dev/nri.state=off\n") || strings.Contains(stdout, "=true") {
		t.Errorf("nfd: exit status %d\n%s", code, stdout)
	}
	// A plugin cannot work there, and check says why.
	code, stdout, _ = command(t, bin, "check", "--requires", "ADJUST_MOUNTS", "--runtime", "node", "--socket", c.Socket)
	if code != 3 || !strings.Contains(stdout, "there is no NRI socket") {
		t.Errorf("check: exit status %d\n%s", code, stdout)
	}
}

// TestSettingsOfTheNode: what depends on the configuration follows the file the
// runtime really runs with.
func TestSettingsOfTheNode(t *testing.T) {
	needRoot(t)
	bin := buildCommand(t)
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v1.7.35", true), testruntime.ContainerdOptions{
		Extra: "[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = true\n",
	})
	code, stdout, stderr := command(t, bin, "check", "--requires", "ADJUST_CDI_DEVICES", "--runtime", "node", "--socket", c.Socket)
	if code != 0 || !strings.Contains(stdout, "because cri.enable_cdi is true ("+c.Config+":") {
		t.Errorf("exit status %d\n%s%s", code, stdout, stderr)
	}
	code, _, _ = command(t, bin, "check", "--requires", "ADJUST_CDI_DEVICES", "--runtime", "containerd@1.7.35", "-q")
	if code != 3 {
		t.Errorf("by release: exit status %d", code)
	}
	code, _, stderr = command(t, bin, "check", "--requires", "ADJUST_CDI_DEVICES", "--runtime", "containerd@1.7.35", "--runtime-config", c.Config, "-q")
	if code != 0 {
		t.Errorf("with its configuration: exit status %d\n%s", code, stderr)
	}
}

// TestVerifyAgainstRuntimes compares the table with the executables.
func TestVerifyAgainstRuntimes(t *testing.T) {
	bin := buildCommand(t)
	for _, r := range releases() {
		code, stdout, stderr := command(t, bin, "table", "verify", "--against", testruntime.BuildContainerd(t, r.version, true))
		if code != 0 || !strings.Contains(stdout, "with NRI "+r.nri+", as the table says") {
			t.Errorf("%s: exit status %d\n%s%s", r.version, code, stdout, stderr)
		}
	}
	if code, _, stderr := command(t, bin, "table", "verify", "--against", os.Args[0]); code != 1 {
		t.Errorf("a program that is no runtime: exit status %d\n%s", code, stderr)
	}
}
