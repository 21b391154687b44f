//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// onNode runs a command on a node of its own: with processes and a
// /var/lib/kubelet of its own, and a real kubelet there if it has arguments.
// before is a script that runs before the command.
func onNode(t *testing.T, kubelet []string, before string, command ...string) (code int, stdout, stderr string) {
	t.Helper()
	needRoot(t)
	const script = `set -e
mount -t tmpfs none /var/lib
mkdir -p /var/lib/kubelet
n=$1; shift
if [ "$n" -gt 0 ]; then
	mkfifo /var/lib/ready
	kubelet=
	while [ "$n" -gt 0 ]; do kubelet="$kubelet $1"; shift; n=$((n - 1)); done
	sleep 1000 | $kubelet >/var/lib/ready 2>/dev/null &
	read -r line </var/lib/ready
fi
eval "$1"; shift
exec "$@"
`
	args := []string{"--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "sh", strconv.Itoa(len(kubelet))}
	args = append(append(append(args, kubelet...), before), command...)
	cmd := exec.CommandContext(t.Context(), "unshare", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// kubeletOf is the part of probe's document that is about the kubelet.
type kubeletOf struct {
	NRI     string
	Kubelet *struct {
		Runtime struct {
			Name, To, Match string
			Contradictions  []string
		}
		Claims       []struct{ Version, Origin string }
		Process      struct{ Exe string }
		PodResources *struct{ Socket, Get, GetAllocatableResources string }
		Registration *struct{ Versions []string }
		Problems     []string
	}
	Plugins []struct {
		How, Name string
		PID       int
	}
}

func probeNode(t *testing.T, wantCode int, kubelet []string, before string, args ...string) kubeletOf {
	t.Helper()
	code, stdout, stderr := onNode(t, kubelet, before, append([]string{buildCommand(t), "probe", "-o", "json"}, args...)...)
	if code != wantCode {
		t.Fatalf("exit status %d, want %d\n%s", code, wantCode, stderr)
	}
	var p kubeletOf
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return p
}

// TestProbeKubelet: a node with a kubelet and without a container runtime.
func TestProbeKubelet(t *testing.T) {
	binary := testruntime.BuildKubelet(t, "v1.34.1")
	p := probeNode(t, 4, []string{binary}, "", "--kubelet-register-probe")
	k := p.Kubelet
	if k == nil || p.NRI != "unknown" {
		t.Fatalf("%+v", p)
	}
	if k.Runtime.Name != "kubelet" || k.Runtime.To != "1.34.1" || k.Runtime.Match != "exact" || len(k.Runtime.Contradictions)+len(k.Problems) != 0 {
		t.Errorf("%+v", k)
	}
	if len(k.Claims) != 2 || k.Claims[0].Version != "v1.34.1" || k.Claims[0].Origin != "the kubelet" || k.Claims[1].Version != "v1.34.1" || k.Process.Exe != binary {
		t.Errorf("%+v", k)
	}
	if r := k.PodResources; r == nil || r.Socket != "/var/lib/kubelet/pod-resources/kubelet.sock" || r.Get != "on" || r.GetAllocatableResources != "on" {
		t.Errorf("pod resources: %+v", r)
	}
	if r := k.Registration; r == nil || !slices.Equal(r.Versions, []string{"v1beta1"}) {
		t.Errorf("registration: %+v", r)
	}
	// Without being asked nobody registers; a node without a kubelet says nothing of one.
	if p := probeNode(t, 4, []string{binary}, ""); p.Kubelet.Registration != nil {
		t.Errorf("%+v", p.Kubelet.Registration)
	}
	// A kubelet that does not take registrations is an error if that was asked for.
	code, stdout, stderr := onNode(t, []string{binary, "--device-plugins=/var/lib/elsewhere"}, "", buildCommand(t), "probe", "--kubelet-register-probe")
	if code != 1 || !strings.Contains(stdout, "kubelet 1.34.1") || !strings.Contains(stderr, "/var/lib/kubelet/device-plugins/kubelet.sock: registration: ") {
		t.Errorf("no registration: exit status %d\n%s%s", code, stdout, stderr)
	}
	// Somebody without rights is told so, once.
	code, stdout, stderr = onNode(t, []string{binary}, "", "setpriv", "--reuid=65534", "--clear-groups", buildCommand(t), "probe")
	if code != 4 || strings.Count(stdout, "unknown: ") != 1 || !strings.Contains(stdout, "unknown: the kubelet cannot be looked at: process ") || !strings.Contains(stdout, "run as root") {
		t.Errorf("as nobody: exit status %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = onNode(t, nil, "", buildCommand(t), "probe")
	if code != 1 || stdout != "" || strings.Contains(stderr, "kubelet") {
		t.Errorf("no kubelet: exit status %d\n%s%s", code, stdout, stderr)
	}
}

// TestKubeletWithoutItsExecutable: where only the socket of a kubelet is to be
// seen, as in a container, it tells what it can.
func TestKubeletWithoutItsExecutable(t *testing.T) {
	binary := testruntime.BuildKubelet(t, "v1.34.1")
	k := testruntime.StartKubelet(t, binary)
	p := probeNode(t, 4, nil, "mount --bind "+k.RootDir+" /var/lib/kubelet")
	if p.Kubelet == nil || p.Kubelet.Runtime.Match != "unknown" || p.Kubelet.PodResources.Get != "on" {
		t.Errorf("%+v", p.Kubelet)
	}
	code, stdout, _ := onNode(t, nil, "mount --bind "+k.RootDir+" /var/lib/kubelet", buildCommand(t), "check", "--requires", "PODRES_GET", "--runtime", "node")
	if code != 4 || !strings.Contains(stdout, "it is 1.27 or newer") || !strings.Contains(stdout, `--runtime "kubelet@v1.34.1"`) {
		t.Errorf("exit status %d\n%s", code, stdout)
	}
}

// TestRequireOfKubelet: what the kubelet decides about needs no container runtime.
func TestRequireOfKubelet(t *testing.T) {
	binary, bin := testruntime.BuildKubelet(t, "v1.34.1"), buildCommand(t)
	off := []string{binary, "--feature-gates=KubeletPodResourcesGet=false"}
	for _, test := range []struct {
		name    string
		kubelet []string
		args    []string
		code    int
		says    string
	}{
		{"it has it", []string{binary}, []string{"probe", "--require", "DEVICE_CDI_DEVICES", "-q"}, 0, ""},
		{"a gate is off", off, []string{"probe", "--require", "PODRES_GET"}, 3, "PODRES_GET needs featureGates.KubeletPodResourcesGet=true, which is false"},
		{"it does not decide", []string{binary}, []string{"probe", "--require", "ADJUST_MOUNTS", "-q"}, 4, ""},
		{"check", []string{binary}, []string{"check", "--requires", "DEVICE_CDI_DEVICES", "--runtime", "node"}, 0, "compatible: requirements with kubelet 1.34.1"},
		{"check of a gate", off, []string{"check", "--requires", "PODRES_GET", "--runtime", "node"}, 3, "KubeletPodResourcesGet=true"},
		{"what somebody says counts", off, []string{"check", "--requires", "PODRES_GET", "--runtime", "node", "--assume", "featureGates.KubeletPodResourcesGet=true"}, 0, "compatible"},
		{"check of both", []string{binary}, []string{"check", "--requires", "DEVICE_CDI_DEVICES", "--runtime", "node", "--runtime", "containerd@2.1.3", "--together"}, 0, "kubelet 1.34.1 and containerd 2.1.3"},
		{"no kubelet", nil, []string{"check", "--requires", "DEVICE_CDI_DEVICES", "--runtime", "node"}, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := onNode(t, test.kubelet, "", append([]string{bin}, test.args...)...)
			if code != test.code || !strings.Contains(stdout, test.says) {
				t.Errorf("exit status %d, want %d with %q\n%s%s", code, test.code, test.says, stdout, stderr)
			}
			if test.kubelet != nil && test.args[0] == "check" && !strings.Contains(stderr, "warning: the kubelet of this node alone") {
				t.Errorf("no warning: %s", stderr)
			}
		})
	}
}

// TestContradictionOfKubelet: what a file says and the kubelet does not do is
// shown.
func TestContradictionOfKubelet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubelet.yaml")
	text := "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfeatureGates: {KubeletPodResourcesGet: true}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	kubelet := []string{testruntime.BuildKubelet(t, "v1.34.1"), "--feature-gates=KubeletPodResourcesGet=false"}
	p := probeNode(t, 4, kubelet, "", "--runtime-config", file)
	want := []string{"featureGates.KubeletPodResourcesGet is true (" + file + "), but the kubelet answers as if it were false"}
	if !slices.Equal(p.Kubelet.Runtime.Contradictions, want) {
		t.Errorf("%q", p.Kubelet.Runtime.Contradictions)
	}
}

// TestBothRuntimesOfTheNode: a container runtime and a kubelet answer each for
// its own part, and together for what needs both.
func TestBothRuntimesOfTheNode(t *testing.T) {
	needRoot(t)
	bin := buildCommand(t)
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v1.7.35", true), testruntime.ContainerdOptions{})
	kubelet := []string{testruntime.BuildKubelet(t, "v1.34.1")}
	node := func(args ...string) (int, string, string) {
		return onNode(t, kubelet, "", append([]string{bin, "check", "--socket", c.Socket, "--runtime", "node", "--runtime-config", c.Config}, args...)...)
	}
	code, stdout, stderr := node("--requires", "DEVICE_CDI_DEVICES")
	if code != 0 || !strings.Contains(stdout, "kubelet 1.34.1") || strings.Contains(stdout, "containerd 1.7.35") {
		t.Errorf("of the kubelet: exit status %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = node("--requires", "ADJUST_MOUNTS")
	if code != 0 || !strings.Contains(stdout, "containerd 1.7.35") || strings.Contains(stdout, "kubelet 1.34.1") {
		t.Errorf("of containerd: exit status %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = node("--requires", "DEVICE_CDI_DEVICES", "--together")
	if code != 3 || !strings.Contains(stdout, "DEVICE_CDI_DEVICES needs cri.enable_cdi=true") {
		t.Errorf("together: exit status %d\n%s%s", code, stdout, stderr)
	}
}

// TestDevicePluginsOfTheNode: check without arguments finds a real device plugin
// by its socket, reads its executable and checks it against the kubelet.
func TestDevicePluginsOfTheNode(t *testing.T) {
	bin, dir := buildCommand(t), t.TempDir()
	plugin := filepath.Join(dir, "kubelet-plain")
	build := exec.Command("go", "build", "-o", plugin, ".")
	build.Dir, build.Env = "../../testdata/plugins/kubelet-plain", append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kubelet := []string{testruntime.BuildKubelet(t, "v1.34.1")}
	// The plugin is there once its socket is.
	const start = " >/dev/null 2>&1 & until ls /var/lib/kubelet/device-plugins | grep -qv '^kubelet'; do :; done"
	p := probeNode(t, 4, kubelet, plugin+start, "--plugins")
	if len(p.Plugins) != 1 || p.Plugins[0].How != "listening" || p.Plugins[0].Name != "kubelet-plain" || p.Plugins[0].PID == 0 {
		t.Errorf("%+v", p.Plugins)
	}
	code, stdout, stderr := onNode(t, kubelet, plugin+start, bin, "check", "-o", "json")
	var doc struct {
		Plugins []struct{ Name, Ref string }
		Results []struct {
			Plugin  string
			Runtime struct{ Name, To string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("exit status %d: %v\n%s", code, err, stderr)
	}
	if len(doc.Plugins) != 1 || len(doc.Results) != 1 || !strings.Contains(doc.Plugins[0].Ref, plugin) ||
		doc.Results[0].Runtime.Name != "kubelet" || doc.Results[0].Runtime.To != "1.34.1" {
		t.Errorf("exit status %d: %+v\n%s", code, doc, stderr)
	}
}
