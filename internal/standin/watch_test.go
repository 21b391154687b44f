package standin

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// TestPluginsDirectory: plugins that put a socket into the plugins directory are
// asked who they are, and told how it ended.
func TestPluginsDirectory(t *testing.T) {
	for _, test := range []struct {
		name               string
		info               *registration.PluginInfo
		needs, broken, gap string
	}{
		{"a device plugin", &registration.PluginInfo{Type: registration.DevicePlugin, Name: "example.com/gpu", SupportedVersions: []string{"v1beta1"}}, "DEVICE_PLUGINWATCHER_REGISTRATION DEVICE_PLUGIN_V1BETA1", "", ""},
		{"a device plugin of another version", &registration.PluginInfo{Type: registration.DevicePlugin, Name: "example.com/gpu", SupportedVersions: []string{"v2"}}, "DEVICE_PLUGINWATCHER_REGISTRATION DEVICE_PLUGIN_V1BETA1", "every kubelet refuses", "was refused"},
		{"a device plugin of the future", newer(&registration.PluginInfo{Type: registration.DevicePlugin, Name: "example.com/gpu", SupportedVersions: []string{"v1beta1"}}), "DEVICE_PLUGINWATCHER_REGISTRATION DEVICE_PLUGIN_V1BETA1", "", "PluginInfo has a field that is newer"},
		{"a DRA driver", &registration.PluginInfo{Type: registration.DRAPlugin, Name: "gpu.example.com", SupportedVersions: []string{"v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth"}}, "(DRA_HEALTH_V1) |DRA_V1 |DRA_V1BETA1", "", ""},
		{"a DRA driver of the future", &registration.PluginInfo{Type: registration.DRAPlugin, Name: "gpu.example.com", SupportedVersions: []string{"v7.DRAPlugin"}}, "", "", "offers \"v7.DRAPlugin\", which is not known"},
		{"a DRA driver of nothing", &registration.PluginInfo{Type: registration.DRAPlugin, Name: "gpu.example.com"}, "", "", "the DRA driver gpu.example.com names no service"},
		{"a DRA driver that does not answer", &registration.PluginInfo{Type: registration.DRAPlugin}, "", "", "the socket gpu.sock in the plugins directory did not answer: no answer within 1s, and no kubelet waits longer"},
		{"a CSI driver", &registration.PluginInfo{Type: registration.CSIPlugin, Name: "csi.example.com"}, "", "", "registers as a \"CSIPlugin\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, o := standIn(t, curious)
			f := good()
			f.info = test.info
			server := f.serve(t, filepath.Join(o.Registry, "gpu.sock"))
			found := see(t, s).Findings()
			server.GracefulStop()
			if got := needs(found); got != test.needs {
				t.Errorf("needs %s, want %s", got, test.needs)
			}
			if got := broken(found); !strings.Contains(got, test.broken) || (got == "") != (test.broken == "") {
				t.Errorf("broken: %s", got)
			}
			if got := strings.Join(found.Needs.Gaps, "; "); !strings.Contains(got, test.gap) || (got == "") != (test.gap == "") {
				t.Errorf("gaps: %s", got)
			}
			if test.info.Name == "" {
				return // nor is it told
			}
			if f.status == nil || f.status.PluginRegistered != (test.broken == "") {
				t.Errorf("told: %+v", f.status)
			}
		})
	}
}

// TestSlowSocket: a socket that has not answered yet is waited for, although
// something else was seen.
func TestSlowSocket(t *testing.T) {
	s, o := standIn(t, curious)
	slow, fast := good(), good()
	slow.info = &registration.PluginInfo{Type: registration.DRAPlugin}
	slow.serve(t, filepath.Join(o.Registry, "slow.sock"))
	fast.serve(t, filepath.Join(o.Dir, fast.endpoint))
	if err := fast.register(t, o.Dir); err != nil {
		t.Fatal(err)
	}
	if seen := see(t, s); len(seen.Registrations) != 1 || len(seen.Drivers) != 1 || seen.Drivers[0].Error == "" {
		t.Errorf("%+v", seen)
	}
}

// TestHiddenSockets: no kubelet looks at them, nor into hidden directories.
func TestHiddenSockets(t *testing.T) {
	s, o := standIn(t, curious)
	if err := os.MkdirAll(filepath.Join(o.Registry, "sub", ".dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".gpu.sock", "sub/.dir/gpu.sock", "sub/gpu.sock"} {
		f := good()
		f.info = &registration.PluginInfo{Type: registration.CSIPlugin, Name: name}
		f.serve(t, filepath.Join(o.Registry, name))
	}
	if seen := see(t, s); len(seen.Drivers) != 1 || seen.Drivers[0].Name != "sub/gpu.sock" {
		t.Errorf("%+v", seen)
	}
}

// TestManySockets: some are asked, and it is said that not all were.
func TestManySockets(t *testing.T) {
	s, o := standIn(t, curious)
	for i := range 3 * maxRegistrations {
		l, err := net.Listen("unix", filepath.Join(o.Registry, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	seen := see(t, s)
	if len(seen.Drivers) != maxRegistrations || seen.Ignored != 1 {
		t.Errorf("%+v", seen)
	}
	if gaps := strings.Join(seen.Findings().Needs.Gaps, "; "); !strings.Contains(gaps, "it registers more often than is looked at") {
		t.Error(gaps)
	}
}

// TestRegistersBySocket: every kubelet calls a plugin that registers by a socket
// before it accepts it, those up to 1.24 too: what it does wrong then works with
// none of them.
func TestRegistersBySocket(t *testing.T) {
	for name, behaviour := range map[string]Behaviour{"curious": curious, "1.24": v124, "1.30": v130} {
		for _, test := range []struct {
			name   string
			change func(*fake)
			broken string
		}{
			{"no GetDevicePluginOptions", func(f *fake) { f.options = nil }, "it does not implement GetDevicePluginOptions, which every kubelet calls"},
			{"it does not serve", func(f *fake) { f.info.Endpoint = "/nowhere/gpu.sock" }, "it does not serve at its socket \"/nowhere/gpu.sock\" when it registers"},
		} {
			t.Run(name+", "+test.name, func(t *testing.T) {
				s, o := standIn(t, behaviour)
				f := good()
				f.info = &registration.PluginInfo{Type: registration.DevicePlugin, Name: "example.com/gpu", SupportedVersions: []string{"v1beta1"}}
				test.change(f)
				f.serve(t, filepath.Join(o.Registry, "gpu.sock"))
				found := see(t, s).Findings()
				if got := needs(found); got != "DEVICE_PLUGINWATCHER_REGISTRATION DEVICE_PLUGIN_V1BETA1" {
					t.Errorf("needs %s", got)
				}
				if len(found.Broken) != 1 || !strings.HasPrefix(found.Broken[0].Text, test.broken) || found.Broken[0].Capability != 0 {
					t.Errorf("%+v", found.Broken)
				}
			})
		}
	}
}
