package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nodeWith makes a node with files.
func nodeWith(tb testing.TB, files map[string]string) Host {
	tb.Helper()
	root := tb.TempDir()
	for name, content := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return Host{Root: root}
}

// set gives the settings that are set, as NAME=VALUE at FILE:LINE.
func set(c Config) []string {
	var lines []string
	for _, s := range c.Settings {
		if s.Set {
			line := s.Name + "=" + s.Value + " by " + s.Key
			if s.File != "" {
				line += " at " + s.File + ":" + strconv.Itoa(s.Line)
			}
			if s.Ambiguous != "" {
				line += " but " + s.Ambiguous
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestContainerdConfig(t *testing.T) {
	const main = "/etc/containerd/config.toml"
	tests := map[string]struct {
		files map[string]string
		major int
		set   []string
		notes []string // a part of each note
	}{
		"version 2": {
			files: map[string]string{main: `version = 2

[plugins."io.containerd.nri.v1.nri"]
  disable = true
  disable_connections = false
  socket_path = "/run/nri.sock"
  plugin_registration_timeout = "10s"
[plugins."io.containerd.nri.v1.nri".default_validator]
  enable = true
  required_plugins = ["a", "b"]

[plugins."io.containerd.grpc.v1.cri"]
  enable_cdi = true
  cdi_spec_dirs = ["/etc/cdi"]
`},
			set: []string{
				`nri.enabled=false by [plugins."io.containerd.nri.v1.nri"] disable at ` + main + `:4`,
				`nri.external_connections=true by [plugins."io.containerd.nri.v1.nri"] disable_connections at ` + main + `:5`,
				`nri.socket_path=/run/nri.sock by [plugins."io.containerd.nri.v1.nri"] socket_path at ` + main + `:6`,
				`nri.registration_timeout=10s by [plugins."io.containerd.nri.v1.nri"] plugin_registration_timeout at ` + main + `:7`,
				`nri.default_validator.enable=true by [plugins."io.containerd.nri.v1.nri".default_validator] enable at ` + main + `:9`,
				`nri.default_validator.required_plugins=a,b by [plugins."io.containerd.nri.v1.nri".default_validator] required_plugins at ` + main + `:10`,
				`cri.enable_cdi=true by [plugins."io.containerd.grpc.v1.cri"] enable_cdi at ` + main + `:13`,
				`cri.cdi_spec_dirs=/etc/cdi by [plugins."io.containerd.grpc.v1.cri"] cdi_spec_dirs at ` + main + `:14`,
			},
		},
		"version 3 with dotted and inline keys": {
			files: map[string]string{main: `version = 3
[plugins]
"io.containerd.cri.v1.runtime".enable_cdi = false
'io.containerd.nri.v1.nri' = { disable = false }
`},
			set: []string{
				`nri.enabled=true by [plugins."io.containerd.nri.v1.nri"] disable at ` + main + `:4`,
				`cri.enable_cdi=false by [plugins."io.containerd.cri.v1.runtime"] enable_cdi at ` + main + `:3`,
			},
		},
		"version 3 in the table of version 2": {
			files: map[string]string{main: "version = 3\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = true\n"},
			notes: []string{`[plugins."io.containerd.grpc.v1.cri"] enable_cdi has no effect: with configuration version 3, containerd 2.x reads it from [plugins."io.containerd.cri.v1.runtime"]`},
		},
		"version 2 in the table of version 3, containerd 1": {
			major: 1,
			files: map[string]string{main: "version = 2\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = true\n"},
			notes: []string{`enable_cdi has no effect: with configuration version 2, containerd 1.x reads it from [plugins."io.containerd.grpc.v1.cri"]`},
		},
		"no version, short names, containerd 1": {
			major: 1,
			files: map[string]string{main: "[plugins.nri]\ndisable = false\n[plugins.cri]\nenable_cdi = true\n[plugins.tasks-service]\nblockio_config_file = \"/b\"\n"},
			set: []string{
				"nri.enabled=true by [plugins.nri] disable at " + main + ":2",
				"cri.enable_cdi=true by [plugins.cri] enable_cdi at " + main + ":4",
				"blockio_config_file=/b by [plugins.tasks-service] blockio_config_file at " + main + ":6",
			},
		},
		"no version, full names, containerd 1": {
			major: 1,
			files: map[string]string{main: "[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\n"},
			notes: []string{`[plugins."io.containerd.nri.v1.nri"] disable has no effect: with configuration version 1, containerd 1.x reads it from [plugins.nri]`},
		},
		"no version, full names, some containerd": {
			files: map[string]string{main: "[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\n"},
			set: []string{`nri.enabled=true by [plugins."io.containerd.nri.v1.nri"] disable at ` + main +
				`:2 but containerd 1.x reads nothing, containerd 2.x reads "true"`},
			notes: []string{"containerd 1.x reads it from [plugins.nri]"},
		},
		"no version, short names, containerd 2": {
			major: 2,
			files: map[string]string{main: "[plugins.nri]\ndisable = true\n[plugins.cri]\nenable_cdi = true\n"},
			set:   []string{"cri.enable_cdi=true by [plugins.cri] enable_cdi at " + main + ":4"},
			notes: []string{`[plugins.nri] disable has no effect`},
		},
		"Docker's package": {
			files: map[string]string{main: "disabled_plugins = [\"cri\"]\n"},
			set:   []string{"nri.enabled=false by disabled_plugins at " + main + ":1"},
		},
		"NRI disabled as a plugin": {
			files: map[string]string{main: "version = 2\ndisabled_plugins = [\"io.containerd.nri.v1.nri\"]\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\n"},
			set:   []string{"nri.enabled=false by disabled_plugins at " + main + ":2"},
		},
		"imports merge by key in containerd 2": {
			major: 2,
			files: map[string]string{
				main:                            "version = 2\nimports = [\"conf.d/*.toml\"]\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = true\nsocket_path = \"/s\"\n",
				"/etc/containerd/conf.d/a.toml": "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = true\n",
				"/etc/containerd/conf.d/b.toml": "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\n",
				"/etc/containerd/conf.d/c.conf": "not read",
			},
			set: []string{
				`nri.enabled=true by [plugins."io.containerd.nri.v1.nri"] disable at /etc/containerd/conf.d/b.toml:3`,
				`nri.socket_path=/s by [plugins."io.containerd.nri.v1.nri"] socket_path at ` + main + `:5`,
			},
		},
		"imports replace tables in containerd 1": {
			major: 1,
			files: map[string]string{
				main:      "version = 2\nimports = [\"/x.toml\"]\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\nsocket_path = \"/s\"\n",
				"/x.toml": "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\nplugin_path = \"/p\"\n",
			},
			set: []string{`nri.plugin_path=/p by [plugins."io.containerd.nri.v1.nri"] plugin_path at /x.toml:3`},
		},
		"imports in some containerd": {
			files: map[string]string{
				main:      "version = 2\nimports = [\"/x.toml\"]\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\n",
				"/x.toml": "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\nplugin_path = \"/p\"\n",
			},
			set: []string{
				`nri.enabled=true by [plugins."io.containerd.nri.v1.nri"] disable at ` + main + `:4 but containerd 1.x reads nothing, containerd 2.x reads "true"`,
				`nri.plugin_path=/p by [plugins."io.containerd.nri.v1.nri"] plugin_path at /x.toml:3`,
			},
		},
		"imports in a circle": {
			files: map[string]string{
				main:      "version = 3\nimports = [\"/x.toml\", \"config.toml\"]\n",
				"/x.toml": "version = 3\nimports = [\"/etc/containerd/../containerd/config.toml\"]\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = true\n",
			},
			set: []string{`nri.enabled=false by [plugins."io.containerd.nri.v1.nri"] disable at /x.toml:4`},
		},
		"mixed versions": {
			major: 2,
			files: map[string]string{
				main:      "version = 3\nimports = [\"/x.toml\"]\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = true\n",
				"/x.toml": "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = false\n",
			},
			set: []string{`cri.enable_cdi=false by [plugins."io.containerd.grpc.v1.cri"] enable_cdi at /x.toml:3 but the files have different configuration versions, which containerd 2.0 to 2.2 join in another way than later releases`},
		},
		"empty": {files: map[string]string{main: ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := nodeWith(t, test.files).readContainerd(main, test.major)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.set, set(c)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if len(c.Notes) != len(test.notes) {
				t.Fatalf("notes: %q", c.Notes)
			}
			for i, n := range test.notes {
				if !strings.Contains(c.Notes[i], n) {
					t.Errorf("note is %q, want a part %q", c.Notes[i], n)
				}
			}
		})
	}
}

// TestUnsetKeys proves that the key to write has the form of the file's version.
func TestUnsetKeys(t *testing.T) {
	tests := map[string]map[string]string{
		"version = 2": {
			"nri.enabled":    `[plugins."io.containerd.nri.v1.nri"] disable`,
			"cri.enable_cdi": `[plugins."io.containerd.grpc.v1.cri"] enable_cdi`,
		},
		"version = 3": {
			"nri.enabled":    `[plugins."io.containerd.nri.v1.nri"] disable`,
			"cri.enable_cdi": `[plugins."io.containerd.cri.v1.runtime"] enable_cdi`,
		},
	}
	for content, keys := range tests {
		c, err := nodeWith(t, map[string]string{"/c.toml": content}).readContainerd("/c.toml", 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range keys {
			if s, ok := c.Setting(name); !ok || s.Set || s.Key != want || s.File != "/c.toml" {
				t.Errorf("%s: %+v, want key %s", content, s, want)
			}
		}
	}
}

func TestCRIOConfig(t *testing.T) {
	h := nodeWith(t, map[string]string{
		"/etc/crio/crio.conf":                "[crio.nri]\nenable_nri = true\nnri_listen = \"/a\"\n",
		"/etc/crio/crio.conf.d/10-crio.conf": "[crio.runtime]\ncdi_spec_dirs = [\"/etc/cdi\", \"/run/cdi\"]\n",
		"/etc/crio/crio.conf.d/20-off":       "[crio.nri]\nenable_nri = false\nnri_disable_connections = true\n",
		"/etc/crio/crio.conf.d/15-on.conf":   "[crio.nri]\nenable_nri = true\nnri_plugin_request_timeout = \"3s\"\n[crio.nri.default_validator]\nnri_validator_reject_oci_hook_adjustment = true\n",
		"/etc/crio/crio.conf.d/sub/x.conf":   "[crio.nri]\nnri_plugin_dir = \"/p\"\n",
	})
	c, err := h.readCRIO(crioFile, crioDropIns, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := crioDropIns + "/"
	want := []string{
		"nri.enabled=false by [crio.nri] enable_nri at " + d + "20-off:2",
		"nri.external_connections=false by [crio.nri] nri_disable_connections at " + d + "20-off:3",
		"nri.socket_path=/a by [crio.nri] nri_listen at /etc/crio/crio.conf:3",
		"nri.plugin_path=/p by [crio.nri] nri_plugin_dir at " + d + "sub/x.conf:2",
		"nri.request_timeout=3s by [crio.nri] nri_plugin_request_timeout at " + d + "15-on.conf:3",
		"nri.default_validator.reject_oci_hook_adjustment=true by [crio.nri.default_validator] nri_validator_reject_oci_hook_adjustment at " + d + "15-on.conf:5",
		"cri.cdi_spec_dirs=/etc/cdi,/run/cdi by [crio.runtime] cdi_spec_dirs at " + d + "10-crio.conf:2",
	}
	if diff := cmp.Diff(want, set(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantFiles := []string{crioFile, d + "10-crio.conf", d + "15-on.conf", d + "20-off", d + "sub/x.conf"}
	if diff := cmp.Diff(wantFiles, c.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	// Flags override all files.
	c, err = h.readCRIO(crioFile, crioDropIns, []string{"/usr/bin/crio", "--enable-nri", "--nri-listen=/b", "-nri-disable-connections=false"})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range []string{"nri.enabled=true by --enable-nri", "nri.external_connections=true by --nri-disable-connections", "nri.socket_path=/b by --nri-listen"} {
		if got := set(c)[i]; got != w {
			t.Errorf("with flags: %s, want %s", got, w)
		}
	}
	if _, err := h.readCRIO(crioFile, "", []string{"crio", "--enable-nri=maybe"}); err == nil {
		t.Error("flag that is no boolean: no error")
	}

	none, err := nodeWith(t, nil).readCRIO(crioFile, crioDropIns, nil)
	if err != nil || none.Missing != crioFile || len(set(none)) != 0 || len(none.Files) != 0 {
		t.Errorf("no files: %+v, %v", none, err)
	}
}

func TestAdvice(t *testing.T) {
	h := nodeWith(t, map[string]string{
		"/off.toml":  "version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = true\n",
		"/none.toml": "version = 3\n",
		"/list.toml": "disabled_plugins = [\"cri\"]\n",
	})
	for _, test := range []struct{ file, name, value, want string }{
		{"/off.toml", "nri.enabled", "true", `set disable = false in [plugins."io.containerd.nri.v1.nri"] of /off.toml`},
		{"/off.toml", "nri.enabled", "false", `set disable = true in [plugins."io.containerd.nri.v1.nri"] of /off.toml`},
		{"/off.toml", "nri.socket_path", "/s", `set socket_path = "/s" in [plugins."io.containerd.nri.v1.nri"] of /off.toml`},
		{"/none.toml", "cri.enable_cdi", "true", `set enable_cdi = true in [plugins."io.containerd.cri.v1.runtime"] of /none.toml`},
		{"/list.toml", "nri.enabled", "true", "remove the CRI plugin and the NRI plugin from disabled_plugins in /list.toml"},
	} {
		c, err := h.readContainerd(test.file, 2)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := c.Setting(test.name)
		if got := s.Advice(test.value); got != test.want {
			t.Errorf("%s: %s, want %s", test.file, got, test.want)
		}
	}
	c, err := h.readCRIO("/none.conf", "", []string{"crio", "--enable-nri=false"})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := c.Setting("nri.enabled")
	if got := s.Advice("true"); got != "start the runtime with --enable-nri=true" {
		t.Errorf("by a flag: %s", got)
	}
	s, _ = c.Setting("nri.external_connections")
	if got := s.Advice("true"); got != "set nri_disable_connections = false in [crio.nri] of /none.conf" {
		t.Errorf("CRI-O: %s", got)
	}
}
