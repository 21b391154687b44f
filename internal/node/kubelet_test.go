package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindKubelets(t *testing.T) {
	type row struct {
		PID            int
		Inside, InPath string
	}
	for _, test := range []struct {
		name string
		tree func(h Host)
		want []row
	}{
		{"by its executable and by its name", func(h Host) {
			fakeProcess(t, h, 2, "")
			fakeProcess(t, h, 30, "/usr/bin/kubelet", "/usr/bin/kubelet", "--config=/x")
			fakeProcess(t, h, 4, "/usr/bin/kubelet-1.34", "kubelet")
			fakeProcess(t, h, 5, "/usr/bin/kubelet (deleted)", "/usr/bin/kubelet")
			fakeProcess(t, h, 6, "/usr/bin/vi", "vi", "kubelet")
			fakeProcess(t, h, 7, "/usr/bin/kubectl", "kubectl", "get", "kubelet")
			fakeProcess(t, h, 8, "/usr/bin/kubelet", "kubelet", "--version")
		}, []row{{4, "", ""}, {5, "", ""}, {30, "", ""}}},
		{"root's before those of ordinary users", func(h Host) {
			fakeProcess(t, h, 2, "/home/u/kubelet", "kubelet")
			fakeStatus(t, h, 2, "Name:\tkubelet\nUid:\t0\t1000\t0\t0\n")
			fakeProcess(t, h, 3, "/usr/bin/kubelet", "kubelet")
			fakeStatus(t, h, 3, "Name:\tkubelet\nUid:\t0\t0\t0\t0\nGid:\t0\t7\t0\t0\n")
			fakeProcess(t, h, 4, "/usr/bin/kubelet", "kubelet")
		}, []row{{3, "", ""}, {4, "", ""}, {2, "", ""}}},
		{"a user's program does not hide the k3s of root", func(h Host) {
			fakeProcess(t, h, 2, "/home/u/kubelet", "kubelet")
			fakeStatus(t, h, 2, "Uid:\t1000\t1000\t1000\t1000\n")
			fakeProcess(t, h, 4, "/usr/local/bin/k3s", "k3s", "server")
		}, []row{{4, "k3s", ""}, {2, "", ""}}},
		{"a user's program comes after a kubelet in a container", func(h Host) {
			fakeProcess(t, h, 2, "/home/u/kubelet", "kubelet")
			fakeStatus(t, h, 2, "Uid:\t1000\t1000\t1000\t1000\n")
			link(t, "/", filepath.Join(h.Proc, "2", "root"))
			fakeProcess(t, h, 4, "/usr/bin/kubelet", "kubelet")
			link(t, t.TempDir(), filepath.Join(h.Proc, "4", "root"))
			fakeProcess(t, h, 5, "/home/u/kubelet", "kubelet")
			fakeStatus(t, h, 5, "Uid:\t1000\t1000\t1000\t1000\n")
			link(t, t.TempDir(), filepath.Join(h.Proc, "5", "root"))
		}, []row{{4, "", ""}, {2, "", ""}, {5, "", ""}}},
		{"k3s", func(h Host) {
			fakeProcess(t, h, 4, "/var/lib/rancher/k3s/data/abc/bin/k3s", "/usr/local/bin/k3s", "server")
			fakeProcess(t, h, 5, "/var/lib/rancher/k3s/data/abc/bin/k3s", "containerd", "-c", "/k3s.toml")
			fakeProcess(t, h, 6, "/usr/local/bin/k3s", "k3s", "kubectl", "get", "pods")
		}, []row{{4, "k3s", ""}}},
		{"k3s without an agent", func(h Host) {
			fakeProcess(t, h, 4, "/usr/local/bin/k3s", "k3s", "server", "--disable-agent")
		}, nil},
		{"k0s has a process of its own for it", func(h Host) {
			fakeProcess(t, h, 4, "/usr/local/bin/k0s", "/usr/local/bin/k0s", "worker", "--token-file=x")
			fakeProcess(t, h, 5, "/var/lib/k0s/bin/kubelet", "/var/lib/k0s/bin/kubelet", "--root-dir=/var/lib/k0s/kubelet")
		}, []row{{5, "", ""}}},
		{"which is not there yet", func(h Host) {
			fakeProcess(t, h, 4, "/usr/local/bin/k0s", "k0s", "controller", "--single")
		}, []row{{4, "k0s", ""}}},
		{"a controller has none", func(h Host) { fakeProcess(t, h, 4, "/usr/local/bin/k0s", "k0s", "controller") }, nil},
		{"RKE2 and its kubelet", func(h Host) {
			fakeProcess(t, h, 4, "/usr/local/bin/rke2", "/usr/local/bin/rke2", "server")
			fakeProcess(t, h, 5, "/var/lib/rancher/rke2/data/v1.31.4-rke2r1-5f3cc71a2b33/bin/kubelet", "kubelet", "--config-dir=/x")
		}, []row{{5, "", "v1.31.4-rke2r1-5f3cc71a2b33"}}},
		{"microk8s", func(h Host) {
			fakeProcess(t, h, 4, "/snap/microk8s/7229/kubelite", "/snap/microk8s/7229/kubelite", "--kubelet-args-file=/x")
		}, []row{{4, "microk8s", ""}}},
		{"hyperkube", func(h Host) {
			fakeProcess(t, h, 4, "/hyperkube", "/hyperkube", "kubelet", "--config=/x")
			fakeProcess(t, h, 5, "/hyperkube", "/hyperkube", "kube-proxy")
		}, []row{{4, "hyperkube", ""}}},
		{"minikube", func(h Host) {
			fakeProcess(t, h, 4, "/var/lib/minikube/binaries/v1.34.0/kubelet", "/var/lib/minikube/binaries/v1.34.0/kubelet")
		}, []row{{4, "", "v1.34.0"}}},
		{"the one of this node before those in containers", func(h Host) {
			fakeProcess(t, h, 4, "/usr/bin/kubelet", "kubelet")
			fakeProcess(t, h, 5, "/usr/bin/kubelet", "kubelet")
			link(t, t.TempDir(), filepath.Join(h.Proc, "4", "root"))
			link(t, "/", filepath.Join(h.Proc, "5", "root"))
		}, []row{{5, "", ""}, {4, "", ""}}},
		{"the k3s of this node before a kubelet in a container", func(h Host) {
			fakeProcess(t, h, 4, "/usr/bin/kubelet", "kubelet")
			fakeProcess(t, h, 5, "/usr/local/bin/k3s", "k3s", "server")
			link(t, t.TempDir(), filepath.Join(h.Proc, "4", "root"))
			link(t, "/", filepath.Join(h.Proc, "5", "root"))
		}, []row{{5, "k3s", ""}, {4, "", ""}}},
		{"the kubelet of this node before a k3s in a container", func(h Host) {
			fakeProcess(t, h, 4, "/usr/local/bin/k3s", "k3s", "server")
			fakeProcess(t, h, 5, "/usr/bin/kubelet", "kubelet")
			link(t, t.TempDir(), filepath.Join(h.Proc, "4", "root"))
			link(t, "/", filepath.Join(h.Proc, "5", "root"))
		}, []row{{5, "", ""}, {4, "k3s", ""}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := Host{Proc: t.TempDir()}
			fakeProcess(t, h, 1, "/sbin/init", "/sbin/init")
			test.tree(h)
			found, err := h.FindKubelets()
			if err != nil {
				t.Fatal(err)
			}
			var got []row
			for _, k := range found {
				got = append(got, row{k.PID, k.Inside, k.InPath})
				if k.File != filepath.Join(h.Proc, fmt.Sprint(k.PID), "exe") || k.Built != "" {
					t.Errorf("%+v", k)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := (Host{Proc: t.TempDir()}).FindKubelets(); err == nil {
		t.Error("a directory that is no proc file system: no error")
	}
}

func link(t *testing.T, target, file string) {
	t.Helper()
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
}

// TestKubeletBuild: the build information tells where a version was linked into
// a build, or the module has one.
func TestKubeletBuild(t *testing.T) {
	for _, test := range []struct{ ldflags, mod, want string }{
		{"", "", ""},
		{"-X k8s.io/component-base/version.gitVersion=v1.30.4-eks-1", "", "v1.30.4-eks-1"},
		{"-s -X 'k8s.io/kubernetes/vendor/k8s.io/component-base/version.gitVersion=v1.18.2'", "", "v1.18.2"},
		{"-X k8s.io/component-base/version.gitCommit=v1.2.3", "", ""},
		{"-X k8s.io/component-base/version.gitVersion=unknown", "", ""},
		{"", "v1.34.1-k3s1", "v1.34.1-k3s1"},
		{"", "v0.0.0-20250101000000-0123456789ab", ""},
		{"-X k8s.io/component-base/version.gitVersion=v1.34.1+k3s1", "v1.34.1-k3s1", "v1.34.1+k3s1"},
	} {
		dir := t.TempDir()
		files := map[string]string{
			"main.go": "package main\n\nfunc main() {}\n",
			"go.mod":  "module example.com/kubelet\n\ngo 1.24\n",
		}
		if test.mod != "" {
			files["main.go"] = "package main\n\nimport _ \"k8s.io/kubernetes\"\n\nfunc main() {}\n"
			files["go.mod"] += "require k8s.io/kubernetes v1.34.1\nreplace k8s.io/kubernetes => example.com/k3s/kubernetes " + test.mod + "\n"
			files["vendor/modules.txt"] = "# k8s.io/kubernetes v1.34.1 => example.com/k3s/kubernetes " + test.mod + "\n## explicit\nk8s.io/kubernetes\n# k8s.io/kubernetes => example.com/k3s/kubernetes " + test.mod + "\n"
			files["vendor/k8s.io/kubernetes/k.go"] = "package kubernetes\n"
		}
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("go", "build", "-o", "kubelet", "-ldflags", test.ldflags, ".")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
		if test.mod != "" {
			cmd.Env = append(cmd.Env, "GOFLAGS=-mod=vendor -buildvcs=false")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%+v: %v\n%s", test, err, out)
		}
		if got := kubeletBuild(filepath.Join(dir, "kubelet")); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
	if got := kubeletBuild("/none"); got != "" {
		t.Errorf("nothing: %q", got)
	}
}

func TestKubeletConfig(t *testing.T) {
	root := nodeWith(t, map[string]string{
		"/kubelet.yaml": kubeletHead + "featureGates: {A: true, B: true, C: true}\ntopologyManagerPolicy: restricted\n",
		"/plain.yaml":   kubeletHead,
		"/all.yaml":     kubeletHead + "featureGates: {AllAlpha: true, A: false}\n",
		"/broken.yaml":  "kind: Pod\n",
		// In order; below a directory too; only *.conf counts.
		"/drop/10-a.conf":        kubeletHead + "featureGates: {B: false, D: true}\n",
		"/drop/20-dir/x.conf":    kubeletHead + "topologyManagerPolicy: best-effort\n",
		"/drop/30-c.conf.bak":    "nothing",
		"/drop/40-d.conf":        kubeletHead + "featureGates: {D: false}\n",
		"/take-back/a.conf":      kubeletHead + "featureGates: null\ntopologyManagerPolicy: null\n",
		"/relative/kubelet.yaml": kubeletHead + "featureGates: {R: true}\n",
		"/broken/a.conf":         "kind: Pod\n",
	})
	for i := range maxDropInEntries {
		if err := os.MkdirAll(root.path(fmt.Sprintf("/huge/%d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A link as it is in a container: it leads to the same place there only.
	link(t, "/kubelet.yaml", filepath.Join(root.Root, "link.yaml"))
	h := Host{Proc: t.TempDir()}
	for i, test := range []struct {
		name  string
		args  []string
		want  map[string]string // those that are set, with where from
		files string
		gates string // GatesUnknown
		says  string
	}{
		{"no file", nil, map[string]string{}, "", "", ""},
		{"a file", []string{"--config=/kubelet.yaml"}, map[string]string{
			"featureGates.A": "true /kubelet.yaml", "featureGates.B": "true /kubelet.yaml", "featureGates.C": "true /kubelet.yaml",
			"topologyManagerPolicy": "restricted /kubelet.yaml"}, "/kubelet.yaml", "", ""},
		{"through a link", []string{"--config", "/link.yaml", "--v=2"}, map[string]string{
			"featureGates.A": "true /link.yaml", "featureGates.B": "true /link.yaml", "featureGates.C": "true /link.yaml",
			"topologyManagerPolicy": "restricted /link.yaml"}, "/link.yaml", "", ""},
		{"relative", []string{"--config", "kubelet.yaml"}, map[string]string{"featureGates.R": "true /relative/kubelet.yaml"}, "/relative/kubelet.yaml", "", ""},
		{"drop-ins and flags", []string{"--config=/kubelet.yaml", "--config-dir=/drop", "--feature-gates=C=false,E=true", "--feature_gates", " E=0 , F=1"}, map[string]string{
			"featureGates.A": "true /kubelet.yaml", "featureGates.B": "false /drop/10-a.conf", "featureGates.C": "false --feature-gates",
			"featureGates.D": "false /drop/40-d.conf", "featureGates.E": "false --feature-gates", "featureGates.F": "true --feature-gates",
			"topologyManagerPolicy": "best-effort /drop/20-dir/x.conf"}, "/kubelet.yaml /drop/10-a.conf /drop/20-dir/x.conf /drop/40-d.conf", "", ""},
		{"a drop-in takes back", []string{"--config=/kubelet.yaml", "--config-dir=/take-back"}, map[string]string{}, "/kubelet.yaml /take-back/a.conf", "", ""},
		{"a flag beats the file", []string{"--config=/kubelet.yaml", "--topology-manager-policy=none", "--feature-gates=A=false"}, map[string]string{
			"featureGates.A": "false --feature-gates", "featureGates.B": "true /kubelet.yaml", "featureGates.C": "true /kubelet.yaml",
			"topologyManagerPolicy": "none --topology-manager-policy"}, "/kubelet.yaml", "", ""},
		{"all alpha gates", []string{"--config=/all.yaml"}, map[string]string{"featureGates.A": "false /all.yaml"}, "/all.yaml",
			"feature gate AllAlpha is true (/all.yaml): which other gates that changes is not known, except where they are named", ""},
		{"all beta gates off", []string{"--feature-gates=AllBeta=false"}, map[string]string{}, "",
			"feature gate AllBeta is false (--feature-gates): which other gates that changes is not known, except where they are named", ""},
		{"as it is anyway", []string{"--feature-gates=AllAlpha=false"}, map[string]string{}, "", "", ""},
		{"no gate", []string{"--feature-gates=A"}, nil, "", "", `--feature-gates has "A": want GATE=true or GATE=false`},
		{"no policy", []string{"--topology-manager-policy=some"}, nil, "", "", `--topology-manager-policy is "some": want none`},
		{"no such file", []string{"--config=/none"}, nil, "", "", "no such file"},
		{"no such directory", []string{"--config-dir=/none"}, nil, "", "", "no such file"},
		{"another kind", []string{"--config=/broken.yaml"}, nil, "", "", "/broken.yaml: it is a \"Pod\""},
		{"a directory of something else", []string{"--config-dir=/huge"}, nil, "", "", "it is no directory of drop-ins"},
		{"a drop-in of another kind", []string{"--config-dir=/broken"}, nil, "", "", "/broken/a.conf: it is a \"Pod\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			pid := 10 + i
			fakeProcess(t, h, pid, "/usr/bin/kubelet", append([]string{"kubelet"}, test.args...)...)
			link(t, root.Root, filepath.Join(h.Proc, fmt.Sprint(pid), "root"))
			link(t, "/relative", filepath.Join(h.Proc, fmt.Sprint(pid), "cwd"))
			found, err := h.FindKubelets()
			if err != nil {
				t.Fatal(err)
			}
			c, err := found[i].KubeletConfig()
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %v, want one line with %q", err, test.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range c.Settings {
				if s.Set {
					where := s.File
					if where == "" {
						where = s.Key
					}
					got[s.Name] = s.Value + " " + where
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			if strings.Join(c.Files, " ") != test.files || c.GatesUnknown != test.gates || c.Runtime != "kubelet" {
				t.Errorf("%+v", c)
			}
		})
	}
	inside := Kubelet{Process: Process{Args: []string{"k3s", "server"}}, Inside: "k3s"}
	if _, err := inside.KubeletConfig(); err == nil || !strings.Contains(err.Error(), "what k3s tells the kubelet inside it is not read") {
		t.Errorf("inside k3s: %v", err)
	}
}

func TestKubeletPlaces(t *testing.T) {
	for _, test := range []struct {
		args   []string
		inside string
		want   string
	}{
		{[]string{"kubelet"}, "", "/var/lib/kubelet/pod-resources/kubelet.sock"},
		{[]string{"kubelet", "--root-dir=/var/lib/k0s/kubelet"}, "", "/var/lib/k0s/kubelet/pod-resources/kubelet.sock"},
		{[]string{"kubelet", "--root_dir", "/x"}, "", "/x/pod-resources/kubelet.sock"},
		{[]string{"k3s", "server", "--root-dir=/x"}, "k3s", "/var/lib/kubelet/pod-resources/kubelet.sock"},
	} {
		k := Kubelet{Process: Process{Args: test.args}, Inside: test.inside}
		if got := k.PodResources(); got != test.want {
			t.Errorf("%v: %s", test.args, got)
		}
	}
	k := Kubelet{host: Host{Root: "/proc/7/root"}}
	if got := k.Path("/var/lib/kubelet"); got != "/proc/7/root/var/lib/kubelet" {
		t.Error(got)
	}
}

// FuzzKubeletFlags: whatever the arguments, what is read is a switch or a policy.
func FuzzKubeletFlags(f *testing.F) {
	f.Add("--feature-gates=A=true,B=false\x00--feature_gates\x00C=1")
	f.Add("--topology-manager-policy\x00none\x00--feature-gates\x00,,=true")
	f.Fuzz(func(t *testing.T, cmdline string) {
		var k kubeletSettings
		if err := k.flags(normalized(strings.Split(cmdline, "\x00"))); err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("error %q", err)
			}
			return
		}
		for _, s := range k.config().Settings {
			gate := strings.HasPrefix(s.Name, "featureGates.") && (s.Value == "true" || s.Value == "false") && s.Set
			if !gate && s.Name != "topologyManagerPolicy" || s.Set == (s.Value == "") {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// fakeStatus gives a process a status.
func fakeStatus(t *testing.T, h Host, pid int, text string) {
	t.Helper()
	if err := os.WriteFile(h.proc(pid, "status"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
