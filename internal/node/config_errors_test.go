package node

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
)

func TestConfigErrors(t *testing.T) {
	big := "version = 2\n#" + strings.Repeat("x", maxConfigFile)
	tests := map[string]struct {
		content string
		text    string
	}{
		"syntax":            {"version = 2\n[plugins\n", "/c.toml:2:"},
		"twice":             {"version = 2\nversion = 3\n", "/c.toml"},
		"text as version":   {"version = \"2\"\n", `/c.toml:1: version is "2", must be a small number`},
		"negative version":  {"version = -1\n", "version is -1"},
		"text as switch":    {"version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = \"yes\"\n", `/c.toml:3: disable is "yes", must be true or false`},
		"number as path":    {"version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\nsocket_path = 1\n", "must be a string"},
		"bad duration":      {"version = 2\n[plugins.\"io.containerd.nri.v1.nri\"]\nplugin_request_timeout = \"soon\"\n", `must be a duration such as "5s"`},
		"bad list":          {"version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\ncdi_spec_dirs = [1]\n", "must be a list of strings"},
		"text as imports":   {"imports = \"/x\"\n", "imports is \"/x\", must be a list of strings"},
		"import is missing": {"imports = [\"/none.toml\"]\n", "imported file /none.toml does not exist"},
		"bad pattern":       {"imports = [\"/[*.toml\"]\n", "imports"},
		"too long":          {big, "too long: at most 1048576 bytes"},
		"not UTF-8":         {"version = 2\nroot = \"\xff\"\n", "/c.toml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := nodeWith(t, map[string]string{"/c.toml": test.content}).readContainerd("/c.toml", 0)
			if err == nil || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want one line with %q", err, test.text)
			}
		})
	}
	if _, err := nodeWith(t, nil).readContainerd("/c.toml", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := nodeWith(t, map[string]string{"/c.toml/x": ""}).readContainerd("/c.toml", 0); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
}

func TestReadConfig(t *testing.T) {
	h := nodeWith(t, map[string]string{
		"/containerd": "version = 2\n",
		"/crio":       "[crio.nri]\nenable_nri = false\n",
		"/neither":    "# nothing\n",
	})
	for _, test := range []struct{ file, hint, runtime, text string }{
		{"/containerd", "", "containerd", ""},
		{"/crio", "", "cri-o", ""},
		{"/neither", "cri-o", "cri-o", ""},
		{"/neither", "containerd", "containerd", ""},
		{"/neither", "", "", "has no key that tells whether"},
		{"/none", "", "", "no such file"},
		{"/none", "cri-o", "", "file does not exist"},
		{"/none", "containerd", "", "no such file"},
		{"/crio", "docker", "", `runtime "docker"`},
	} {
		c, err := ReadConfig(h.path(test.file), ConfigOptions{Runtime: test.hint})
		if c.Runtime != test.runtime || (err == nil) != (test.text == "") || err != nil && !strings.Contains(err.Error(), test.text) && runtime.GOOS != "windows" {
			t.Errorf("%s as %q: runtime %q, %v", test.file, test.hint, c.Runtime, err)
		}
	}
}

// TestHugeConfigs proves that files that are made to be expensive are not. Each
// was quadratic in its size, or worse, in some reader of TOML.
func TestHugeConfigs(t *testing.T) {
	const n = maxConfigFile - 100
	for name, content := range map[string]string{
		"arrays in arrays":    "a = " + strings.Repeat("[", n),
		"tables in tables":    "a = " + strings.Repeat("{a=", n/3),
		"a long dotted key":   "a" + strings.Repeat(".a", n/2) + "=1",
		"a long table name":   "[a" + strings.Repeat(".a", n/2) + "]\nb = 1",
		"many tables":         strings.Repeat("[[a]]\n", n/6),
		"many lines":          strings.Repeat("\n", n) + "version = 2",
		"many disabled":       "disabled_plugins = [" + strings.Repeat("'',", n/3) + "]",
		"a long error":        "version = " + strings.Repeat("x", n),
		"a long wrong string": "version = '" + strings.Repeat("x", n) + "'",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := nodeWith(t, map[string]string{"/c.toml": content}).readContainerd("/c.toml", 0)
			if err != nil && (len(err.Error()) > 500 || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error of %d bytes: %.200q", len(err.Error()), err)
			}
		})
	}
}
