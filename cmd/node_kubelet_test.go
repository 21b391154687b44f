package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/node"
)

// TestInTime: what does not end with its context is not waited for.
func TestInTime(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	hangs := make(chan struct{})
	defer close(hangs)
	if inTime(ended, time.Nanosecond, func() { <-hangs }) {
		t.Error("what hangs has returned")
	}
	if !inTime(t.Context(), time.Nanosecond, func() {}) || !inTime(ended, time.Minute, func() { <-ended.Done() }) {
		t.Error("what returns was given up")
	}
}

// TestLookKubelet: what is found out about a kubelet that is not there to be
// asked: one inside another program, one whose files cannot be read.
func TestLookKubelet(t *testing.T) {
	const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	for _, test := range []struct {
		name     string
		exe      string
		args     []string
		files    map[string]string
		version  string
		status   string // of DEVICE_CDI_DEVICES
		problems []string
		why      string
	}{
		{"inside k3s", "/var/lib/rancher/k3s/data/abc/bin/k3s", []string{"k3s", "server"}, nil, "", "unknown",
			[]string{"what k3s tells the kubelet inside it is not read"}, `the version of the kubelet inside k3s is not known: name it, as in --runtime "kubelet@v1.34.1"`},
		{"inside microk8s", "/snap/microk8s/7229/kubelite", []string{"/snap/microk8s/7229/kubelite"}, nil, "", "unknown",
			[]string{"what microk8s tells"}, "the version of the kubelet inside microk8s is not known"},
		{"no file behind it, a path that tells", "/var/lib/minikube/binaries/v1.28.3/kubelet", []string{"kubelet", "--config=/c.yaml"},
			map[string]string{"/c.yaml": head + "featureGates: {DevicePluginCDIDevices: true}\n"}, "1.28.3", "ok", []string{"version of the kubelet: "}, "like every patch release"},
		{"all alpha gates", "/opt/kubernetes/1.28.3/kubelet", []string{"kubelet", "--feature-gates=AllAlpha=true"}, nil, "1.28.3", "unknown",
			[]string{"version of the kubelet: ", "feature gate AllAlpha is true"}, "like every patch release"},
		{"a file that is not there", "/opt/kubernetes/v1.28.3/kubelet", []string{"kubelet", "--config=/none.yaml"}, nil, "1.28.3", "unknown",
			[]string{"version of the kubelet: ", "the kubelet's configuration: open /"}, "like every patch release"},
		{"nothing tells", "/usr/bin/kubelet", []string{"kubelet"}, nil, "", "unknown", []string{"version of the kubelet: "}, "the version of the kubelet is not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			proc, root := t.TempDir(), t.TempDir()
			dir := filepath.Join(proc, "7")
			for file, text := range test.files {
				if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range []error{
				os.Mkdir(dir, 0o755),
				os.Symlink(filepath.Join(root, "gone", test.exe), filepath.Join(dir, "exe")),
				os.Symlink(root, filepath.Join(dir, "root")),
				os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.Join(test.args, "\x00")+"\x00"), 0o644),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			n := &nodeFacts{host: node.Host{Proc: proc}}
			n.kubelet = n.lookKubelet(t.Context(), inference.Builtin(), nodeOptions{}, nil)
			if n.kubelet == nil {
				t.Fatal("no kubelet")
			}
			s := n.kubelet.support
			version := ""
			if !s.Runtime.Version.IsZero() {
				version = s.Runtime.Version.String()
			}
			if version != test.version || !strings.Contains(s.Why, test.why) {
				t.Errorf("%q, %q", version, s.Why)
			}
			if got := n.Answer(capability.DeviceCDIDevices).Status().String(); got != test.status {
				t.Errorf("DEVICE_CDI_DEVICES is %s, want %s", got, test.status)
			}
			problems := n.kubelet.document().Problems
			if len(problems) != len(test.problems) {
				t.Errorf("problems %q", problems)
			}
			for i, p := range test.problems {
				if i < len(problems) && !strings.Contains(problems[i], p) {
					t.Errorf("problem %q, want %q", problems[i], p)
				}
			}
		})
	}
	n := &nodeFacts{host: node.Host{Proc: t.TempDir()}}
	if err := os.Mkdir(filepath.Join(n.host.Proc, "1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if n.kubelet = n.lookKubelet(t.Context(), inference.Builtin(), nodeOptions{}, nil); n.kubelet != nil {
		t.Errorf("a node without one: %+v", n.kubelet)
	}
	if a := n.Answer(capability.DeviceCDIDevices); a.State != capability.Unknown || !strings.Contains(a.Note, "none was found") {
		t.Errorf("%+v", a)
	}
}
