//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// TestPluginsOfContainerd finds two plugins that have connected and one that the
// runtime has started, and reads their executables.
func TestPluginsOfContainerd(t *testing.T) {
	needRoot(t)
	plugin := testruntime.BuildPlugin(t)
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v2.2.9", true),
		testruntime.ContainerdOptions{Installed: map[string]string{"30-installed": plugin}})
	want := []int{
		testruntime.StartPlugin(t, plugin, c.Socket, "10", "one").PID,
		testruntime.StartPlugin(t, plugin, c.Socket, "20", "two").PID,
	}
	slices.Sort(want)

	connected, err := (node.Host{}).ConnectedPlugins(t.Context(), c.Socket)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, p := range connected.Plugins {
		got = append(got, p.PID)
		if p.Exe != plugin || !slices.Contains(p.Args, c.Socket) {
			t.Errorf("connected: %+v", p)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connected (-want +got):\n%s", diff)
	}

	process, err := (node.Host{}).Process(c.PID)
	if err != nil {
		t.Fatal(err)
	}
	config, err := (node.Host{}).ConfigOf(process, node.ConfigOptions{Major: 2})
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := config.Setting("nri.plugin_path")
	conf, _ := config.Setting("nri.plugin_config_path")
	installed, err := (node.Host{}).InstalledPlugins(dir.Value, conf.Value)
	if err != nil {
		t.Fatal(err)
	}
	wantInstalled := []node.InstalledPlugin{{Index: "30", Name: "installed", Path: filepath.Join(c.Plugins, "30-installed")}}
	if diff := cmp.Diff(wantInstalled, installed); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
	c.AwaitLog(t, 1, message(`pre-installed NRI plugin "30-installed" synchronization success`))
}
