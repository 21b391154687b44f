package node

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDevicePluginsOf(t *testing.T) {
	root, err := os.MkdirTemp("", "kub")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	k := Kubelet{host: Host{Root: root}}
	if got, gaps, err := (Host{}).DevicePluginsOf(t.Context(), k); got != nil || gaps != nil || err != nil {
		t.Errorf("no directory: %v, %v, %v", got, gaps, err)
	}
	dir := k.Path(DevicePlugins)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, _, err := (Host{}).DevicePluginsOf(t.Context(), k); got != nil || err != nil {
		t.Errorf("nobody there: %v, %v", got, err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	// The kubelet's own socket, one that was left behind, and a file are no plugins.
	for name, keep := range map[string]bool{"kubelet.sock": true, "left.sock": false} {
		l, err := net.Listen("unix", at(name))
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(keep)
		if !keep {
			l.Close()
			continue
		}
		t.Cleanup(func() { l.Close() })
	}
	if err := os.WriteFile(at("kubelet_internal_checkpoint"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	startPlugin(t, "NRI_COMPAT_TEST_LISTEN="+filepath.Join(root, "elsewhere.sock"), 0)
	want := map[int][]string{
		startPlugin(t, "NRI_COMPAT_TEST_LISTEN="+at("b.sock")+","+at("a.sock"), 0): {DevicePlugins + "/a.sock", DevicePlugins + "/b.sock"},
	}
	if os.Getuid() == 0 {
		// In a pod with a network of its own.
		want[startPlugin(t, "NRI_COMPAT_TEST_LISTEN="+at("c.sock"), syscall.CLONE_NEWNET)] = []string{DevicePlugins + "/c.sock"}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	found, gaps, err := Host{}.DevicePluginsOf(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int][]string{}
	var order []int
	for _, p := range found {
		got[p.PID], order = p.Sockets, append(order, p.PID)
		if p.Exe != self || !strings.HasSuffix(p.Binary, "/exe") {
			t.Errorf("%+v", p)
		}
	}
	if d := cmp.Diff(want, got); d != "" || !slices.IsSorted(order) {
		t.Errorf("%v, gaps %v\n%s", order, gaps, d)
	}
}
