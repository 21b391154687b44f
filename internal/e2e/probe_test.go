//go:build e2e

package e2e

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/nri"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// release is a containerd release and what is true of it.
type release struct {
	version string // as its tag
	nri     string // the NRI module it is built with
	bracket nri.Bracket
	names   bool // whether it reports its NRI version
}

// releases are the newest ones of each line when this was written.
func releases() []release {
	timed := nri.Bracket{From: "v0.7.0", Before: "v0.12.0"}
	named := nri.Bracket{From: "v0.12.0"}
	return []release{
		{"v2.4.2", "v0.12.3", named, true},
		{"v2.3.7", "v0.12.0", named, true},
		{"v2.2.9", "v0.11.0", timed, false},
		{"v2.1.9", "v0.8.0", timed, false},
		{"v2.0.14", "v0.8.0", timed, false},
		{"v1.7.35", "v0.8.0", timed, false},
	}
}

// needRoot skips a test where containerd cannot run.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("containerd needs root")
	}
}

func TestProbeContainerd(t *testing.T) {
	needRoot(t)
	plugin := testruntime.BuildPlugin(t)
	for _, r := range releases() {
		t.Run(r.version, func(t *testing.T) {
			c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, r.version, true), testruntime.ContainerdOptions{})
			witness := testruntime.StartPlugin(t, plugin, c.Socket, "10", "witness")
			c.AwaitLog(t, 1, message(`plugin "10-witness" connected and synchronized`))

			id, err := nri.Probe(t.Context(), nri.Options{Socket: c.Socket})
			if err != nil {
				t.Fatal(err)
			}
			identity(t, r, c, id, "containerd", r.version)
			logged(t, c, id)
			binary(t, r, c, id)
			many(t, c)
			late(t, c, plugin)

			// The plugin from before is still there, and was told nothing new.
			if lines := witness.Log(message("closed")); len(lines) != 0 {
				t.Error("the plugin lost its connection")
			}
			if lines := witness.Log(message("synchronized")); len(lines) != 1 {
				t.Errorf("the plugin was synchronized %d times", len(lines))
			}
			connected, err := (node.Host{}).ConnectedPlugins(t.Context(), c.Socket)
			if err != nil || len(connected.Plugins) != 1 || connected.Plugins[0].PID != witness.PID {
				t.Errorf("connected: %+v, %v; want process %d alone", connected, err, witness.PID)
			}
		})
	}
}

// message keeps the lines with a message.
func message(m string) func(testruntime.Line) bool {
	return func(l testruntime.Line) bool { return l.Message == m }
}

// failed keeps the lines with which a runtime closes the case of a probe.
func failed(l testruntime.Line) bool {
	return l.Level == "error" && strings.Contains(l.Message, nri.Farewell)
}

// identity checks what the runtime said of itself.
func identity(t *testing.T, r release, c *testruntime.Containerd, id nri.Identity, name, version string) {
	t.Helper()
	want := nri.Identity{
		Socket: c.Socket, Peer: &nri.Peer{PID: c.PID},
		RuntimeName: name, RuntimeVersion: version,
		RegistrationTimeout: 5 * time.Second, RequestTimeout: 2 * time.Second,
		Bracket: r.bracket, LogLines: id.LogLines,
	}
	if r.names {
		want.NRIVersion = r.nri
	}
	if diff := cmp.Diff(want, id); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

// logged checks that one probe left exactly the announced lines.
func logged(t *testing.T, c *testruntime.Containerd, id nri.Identity) {
	t.Helper()
	c.AwaitLog(t, 1, failed)
	var got []nri.LogLine
	for _, l := range c.Log(func(l testruntime.Line) bool { return strings.Contains(l.Message, "nri-compat") }) {
		if !strings.HasPrefix(l.Message, "connection to plugin ") && !strings.HasPrefix(l.Message, "ttrpc server for plugin ") {
			got = append(got, nri.LogLine{Level: l.Level, Message: l.Message})
		}
	}
	if diff := cmp.Diff(id.LogLines, got); diff != "" {
		t.Errorf("log (-announced +logged):\n%s", diff)
	}
}

// binary checks that the process behind the socket tells the same as the probe,
// and which NRI module it was built with.
func binary(t *testing.T, r release, c *testruntime.Containerd, id nri.Identity) {
	t.Helper()
	p, err := (node.Host{}).Process(id.Peer.PID)
	if err != nil || p.Err != nil {
		t.Fatalf("process: %v, %v", err, p.Err)
	}
	if p.Runtime() != "containerd" || p.Binary.Version() != r.version || p.Binary.NRI.Version != r.nri || p.Binary.Fork {
		t.Errorf("binary: %+v, want %s with NRI %s", *p.Binary, r.version, r.nri)
	}
	config, err := (node.Host{}).ConfigOf(p, node.ConfigOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"nri.enabled": "true", "nri.socket_path": c.Socket, "nri.plugin_path": c.Plugins} {
		if s, _ := config.Setting(name); !s.Set || s.Value != want || s.File != c.Config || s.Line == 0 {
			t.Errorf("%s: %+v, want %s", name, s, want)
		}
	}
}

// many probes 200 times in a row and 20 at once, and checks that the runtime holds
// nothing afterwards that it did not hold before.
func many(t *testing.T, c *testruntime.Containerd) {
	t.Helper()
	testruntime.AwaitListener(t, c.GRPC) // It is up, and starts no more of its own.
	before, goroutines, already := c.Files(t), c.Goroutines(t), len(c.Log(failed))
	for range 200 {
		if _, err := nri.Probe(t.Context(), nri.Options{Socket: c.Socket}); err != nil {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			if _, err := nri.Probe(t.Context(), nri.Options{Socket: c.Socket}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	c.AwaitLog(t, already+220, failed)
	c.AwaitFiles(t, before)
	c.AwaitGoroutines(t, goroutines+2) // Two that come and go by themselves.
	if lines := c.Log(func(l testruntime.Line) bool {
		return strings.HasPrefix(l.Message, `plugin "99-nri-compat-probe" connected`) ||
			strings.HasPrefix(l.Message, "synchronizing plugin 99-nri-compat-probe")
	}); len(lines) != 0 {
		t.Errorf("a probe became a plugin: %q", lines[0].Message)
	}
}

// late checks that a plugin that connects while probes run is not held up by them
// for more than 100 ms. A busy machine can hold up any one plugin, so several
// connect, and the fastest counts: what a probe does to a plugin it does to all.
func late(t *testing.T, c *testruntime.Containerd, plugin string) {
	t.Helper()
	const bound = 100 * time.Millisecond
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := nri.Probe(t.Context(), nri.Options{Socket: c.Socket}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	seen := len(c.Log(failed))
	c.AwaitLog(t, seen+5, failed)
	fastest := time.Hour
	for i := range 5 {
		index := strconv.Itoa(20 + i)
		p := testruntime.StartPlugin(t, plugin, c.Socket, index, "late")
		start := p.Log(message("connecting"))[0].Time
		end := p.Log(message("synchronized"))[0].Time
		fastest = min(fastest, end.Sub(start))
		p.Stop()
		c.AwaitLog(t, 1, message(`connection to plugin "`+index+`-late" closed`))
	}
	close(stop)
	running.Wait()
	t.Logf("a plugin that connects during probes is synchronized after %v", fastest)
	if fastest > bound {
		t.Errorf("plugins that connect during probes wait at least %v, more than %v", fastest, bound)
	}
}

// TestProbeUnstamped probes builds that do not know their version.
func TestProbeUnstamped(t *testing.T) {
	needRoot(t)
	for _, r := range releases() {
		if r.version != "v2.4.2" && r.version != "v1.7.35" {
			continue // One of each major version is enough.
		}
		t.Run(r.version, func(t *testing.T) {
			c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, r.version, false), testruntime.ContainerdOptions{})
			id, err := nri.Probe(t.Context(), nri.Options{Socket: c.Socket})
			if err != nil {
				t.Fatal(err)
			}
			identity(t, r, c, id, "containerd", strings.TrimPrefix(r.version, "v")+"+unknown")
			binary(t, r, c, id)
		})
	}
}

// TestProbeOtherSockets probes the sockets of a containerd that do not speak NRI.
func TestProbeOtherSockets(t *testing.T) {
	needRoot(t)
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v2.4.2", true), testruntime.ContainerdOptions{})
	for _, socket := range []string{c.GRPC, c.TTRPC} {
		testruntime.AwaitListener(t, socket)
		_, err := nri.Probe(t.Context(), nri.Options{Socket: socket})
		var e *nri.Error
		if !errors.As(err, &e) || e.Peer == nil || e.Peer.PID != c.PID {
			t.Fatalf("%s: %v", socket, err)
		}
		if e.Reason != nri.NotNRI && e.Reason != nri.Closed && e.Reason != nri.NoAnswer {
			t.Errorf("%s: %s: %v", socket, e.Reason, err)
		}
		t.Logf("%s: %v", e.Reason, err)
	}
}

// TestWithoutNRI looks at a containerd whose NRI is off.
func TestWithoutNRI(t *testing.T) {
	needRoot(t)
	c := testruntime.StartContainerd(t, testruntime.BuildContainerd(t, "v2.2.9", true), testruntime.ContainerdOptions{WithoutNRI: true})
	var e *nri.Error
	if _, err := nri.Probe(t.Context(), nri.Options{Socket: c.Socket}); !errors.As(err, &e) || e.Reason != nri.NoSocket {
		t.Errorf("probe: %v", err)
	}
	found, err := (node.Host{}).FindRuntimes()
	if err != nil {
		t.Logf("incomplete: %v", err)
	}
	for _, p := range found {
		if p.PID != c.PID {
			continue
		}
		config, err := (node.Host{}).ConfigOf(p, node.ConfigOptions{Major: 2})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := config.Setting("nri.enabled")
		want := node.Setting{Name: "nri.enabled", Set: true, Value: "false", Inverted: true,
			Key: `[plugins."io.containerd.nri.v1.nri"] disable`, File: c.Config, Line: s.Line}
		if diff := cmp.Diff(want, s); diff != "" || s.Line == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if p.Binary == nil || p.Binary.Version() != "v2.2.9" {
			t.Errorf("binary: %+v, %v", p.Binary, p.Err)
		}
		return
	}
	t.Errorf("process %d not found among %+v", c.PID, found)
}
