package node

import (
	"os"
	"testing"
)

// FuzzContainerdConfig proves that a file is either refused, or read into every
// setting, with values of the right form.
func FuzzContainerdConfig(f *testing.F) {
	f.Add([]byte("version = 2\nimports = [\"c.toml\"]\n[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = true\n"), 0)
	f.Add([]byte("version = 3\nplugins.\"io.containerd.cri.v1.runtime\" = {enable_cdi = true, cdi_spec_dirs = [\"a\"]}\n"), 2)
	f.Add([]byte("[plugins.nri]\ndisable = false\n[[plugins.cri]]\n"), 1)
	f.Add([]byte("disabled_plugins = [\"cri\", 1]\nplugins = 3\n"), 0)
	f.Fuzz(func(t *testing.T, b []byte, major int) {
		checkConfig(t, b, len(containerdSpecs()), func(h Host, file string) (Config, error) {
			return h.readContainerd(file, major&3)
		})
	})
}

// FuzzCRIOConfig is FuzzContainerdConfig for CRI-O.
func FuzzCRIOConfig(f *testing.F) {
	f.Add([]byte("[crio.nri]\nenable_nri = true\nnri_plugin_request_timeout = 5\n"))
	f.Add([]byte("crio = {nri = {enable_nri = 1}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkConfig(t, b, len(crioSpecs()), func(h Host, file string) (Config, error) {
			return h.readCRIO(file, "", []string{"crio", string(b)})
		})
	})
}

// checkConfig reads a file and checks what was read.
func checkConfig(t *testing.T, b []byte, settings int, read func(Host, string) (Config, error)) {
	h := Host{Root: t.TempDir()}
	if err := os.WriteFile(h.path("/c.toml"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := read(h, "/c.toml")
	if err != nil {
		if c.Settings != nil && len(c.Settings) != settings {
			t.Errorf("half a configuration with error %v", err)
		}
		return
	}
	if len(c.Settings) != settings {
		t.Fatalf("%d settings, want %d", len(c.Settings), settings)
	}
	for _, s := range c.Settings {
		isSwitch := s.Name == "nri.enabled" || s.Name == "nri.external_connections" || s.Name == "cri.enable_cdi"
		if isSwitch && s.Set && s.Value != "true" && s.Value != "false" {
			t.Errorf("%s is %q", s.Name, s.Value)
		}
		if !s.Set && s.Value != "" || s.Key == "" || s.Line < 0 {
			t.Errorf("%+v", s)
		}
	}
}
