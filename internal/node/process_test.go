package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeProcess adds a process to a proc file system.
func fakeProcess(t *testing.T, h Host, pid int, exe string, args ...string) {
	t.Helper()
	dir := filepath.Join(h.Proc, strconv.Itoa(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if exe != "" {
		if err := os.Symlink(exe, filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
	cmdline := ""
	if len(args) > 0 {
		cmdline = strings.Join(args, "\x00") + "\x00"
	}
	if err := os.WriteFile(filepath.Join(dir, "cmdline"), []byte(cmdline), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFindRuntimes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := Host{Proc: t.TempDir()}
	fakeProcess(t, h, 2, "") // a thread of the kernel
	fakeProcess(t, h, 30, self, "/usr/bin/containerd", "--config", "/x.toml")
	fakeProcess(t, h, 4, "/var/lib/rancher/k3s/data/abc/bin/k3s", "containerd", "-c", "/k3s.toml")
	fakeProcess(t, h, 5, "/usr/bin/containerd (deleted)", "/usr/bin/containerd")
	fakeProcess(t, h, 6, "/usr/bin/containerd-shim-runc-v2", "/usr/bin/containerd-shim-runc-v2", "-address", "/run/containerd")
	fakeProcess(t, h, 7, "/usr/bin/vi", "vi", "containerd")
	fakeProcess(t, h, 8, "/usr/bin/crio", "/usr/bin/crio", "-d", "/etc/x")
	if err := os.WriteFile(filepath.Join(h.Proc, "uptime"), nil, 0o644); err != nil {
		t.Fatal(err)
	}

	found, err := h.FindRuntimes()
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		PID     int
		Exe     string
		Deleted bool
		Runtime string
	}
	var got []row
	for _, p := range found {
		got = append(got, row{p.PID, p.Exe, p.Deleted, p.Runtime()})
		if p.Binary != nil || p.Err == nil {
			t.Errorf("process %d: binary %+v, error %v", p.PID, p.Binary, p.Err)
		}
	}
	want := []row{
		{4, "/var/lib/rancher/k3s/data/abc/bin/k3s", false, "containerd"},
		{5, "/usr/bin/containerd", true, "containerd"},
		{8, "/usr/bin/crio", false, "cri-o"},
		{30, self, false, "containerd"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := (Host{Proc: t.TempDir()}).FindRuntimes(); err == nil {
		t.Error("a directory that is no proc file system: no error")
	}
	if _, err := h.Process(99); err == nil {
		t.Error("a process that is not there: no error")
	}
}

func TestConfigOf(t *testing.T) {
	h := nodeWith(t, map[string]string{
		"/k3s.toml":              "version = 2\n",
		"/srv/rel.toml":          "version = 3\n",
		"/etc/crio/crio.conf":    "[crio]\n",
		"/drop/a.conf":           "[crio.nri]\nenable_nri = false\n",
		"/etc/containerd/x.toml": "",
		"/var/lib/rancher/k3s/agent/etc/containerd/config.toml": "version = 2\n",
	})
	h.Proc = t.TempDir()
	fakeProcess(t, h, 9, "/x")
	if err := os.Symlink("/srv", filepath.Join(h.Proc, "9", "cwd")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		process Process
		files   []string
		missing string
		note    string
	}{
		"flag":             {Process{Args: []string{"containerd", "-c", "/k3s.toml"}}, []string{"/k3s.toml"}, "", ""},
		"flag with equals": {Process{Args: []string{"containerd", "--config=/k3s.toml"}}, []string{"/k3s.toml"}, "", ""},
		"relative":         {Process{PID: 9, Args: []string{"containerd", "--config", "rel.toml"}}, []string{"/srv/rel.toml"}, "", ""},
		"default":          {Process{Args: []string{"containerd"}}, nil, "/etc/containerd/config.toml", ""},
		"generated": {Process{Args: []string{"containerd", "-c", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"}},
			[]string{"/var/lib/rancher/k3s/agent/etc/containerd/config.toml"}, "", "is generated: change /var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl"},
		"CRI-O": {Process{Args: []string{"crio", "--config-dir", "/drop"}}, []string{"/etc/crio/crio.conf", "/drop/a.conf"}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := h.ConfigOf(test.process, ConfigOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if cmp.Diff(test.files, c.Files) != "" || c.Missing != test.missing || len(c.Settings) == 0 {
				t.Errorf("%+v", c)
			}
			if (test.note == "") != (len(c.Notes) == 0) || test.note != "" && !strings.Contains(c.Notes[0], test.note) {
				t.Errorf("notes %q, want %q", c.Notes, test.note)
			}
		})
	}
	configs, err := h.FindConfigs()
	if err != nil || len(configs) != 2 || configs[0].Runtime != "containerd" || configs[1].Runtime != "cri-o" {
		t.Errorf("found %+v, %v", configs, err)
	}
}

func TestInstalledPlugins(t *testing.T) {
	h := nodeWith(t, map[string]string{
		"/opt/nri/plugins/10-one":     "",
		"/opt/nri/plugins/20-two":     "",
		"/opt/nri/plugins/30-three":   "",
		"/opt/nri/plugins/plugin":     "",
		"/opt/nri/plugins/README":     "",
		"/opt/nri/plugins/40-dir/x":   "",
		"/etc/nri/conf.d/10-one.conf": "",
		"/etc/nri/conf.d/one.conf":    "",
		"/etc/nri/conf.d/two.conf":    "",
	})
	for _, name := range []string{"10-one", "20-two", "plugin"} {
		if err := os.Chmod(h.path("/opt/nri/plugins/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := h.InstalledPlugins("/opt/nri/plugins", "/etc/nri/conf.d")
	if err != nil {
		t.Fatal(err)
	}
	const dir = "/opt/nri/plugins/"
	want := []InstalledPlugin{
		{Index: "10", Name: "one", Path: dir + "10-one", Config: "/etc/nri/conf.d/10-one.conf"},
		{Index: "20", Name: "two", Path: dir + "20-two", Config: "/etc/nri/conf.d/two.conf"},
		{Index: "30", Name: "three", Path: dir + "30-three", Problem: "not executable: the runtime passes it over"},
		{Path: dir + "README", Problem: "not executable: the runtime passes it over"},
		{Path: dir + "plugin", Problem: "the name is not of the form NN-name, so the runtime does not start NRI"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := h.InstalledPlugins("/none", ""); err != nil || got != nil {
		t.Errorf("no directory: %v, %v", got, err)
	}
	if _, err := h.InstalledPlugins(dir+"10-one", ""); err == nil {
		t.Error("a file: no error")
	}
}

func TestGeneratedBy(t *testing.T) {
	for file, want := range map[string]string{
		"/etc/containerd/config.toml":                            "",
		"/etc/crio/crio.conf":                                    "",
		"/var/lib/rancher/rke2/agent/etc/containerd/config.toml": "config.toml.tmpl",
		"/etc/k0s/containerd.toml":                               "/etc/k0s/containerd.d",
		"/run/k0s/containerd-cri.toml":                           "/etc/k0s/containerd.d",
		"/var/snap/microk8s/current/args/containerd.toml":        "containerd-template.toml",
		"/var/run/docker/containerd/containerd.toml":             "dockerd",
	} {
		if got := generatedBy(file); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want a part %q", file, got, want)
		}
	}
}
