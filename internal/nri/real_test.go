package nri_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nri-compat/nri-compat/internal/nri"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// The brackets that the wire of a release shows.
var (
	early = nri.Bracket{Before: "v0.7.0"}
	timed = nri.Bracket{From: "v0.7.0", Before: "v0.12.0"}
	named = nri.Bracket{From: "v0.12.0"}
)

// TestProbeRealRuntimes probes the runtime half of real NRI releases that call
// themselves what containerd and CRI-O releases with that NRI call themselves.
func TestProbeRealRuntimes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds eight releases of NRI")
	}
	tests := []struct {
		nri     string
		bracket nri.Bracket
		// identities are names and versions to report.
		identities [][2]string
	}{
		{"v0.2.0", early, [][2]string{{"cri-o", "1.26.1"}, {"containerd", "v1.7.0-beta.1"}}},
		{"v0.3.0", early, [][2]string{{"cri-o", "1.27.0"}, {"containerd", "1.7.6"}}},
		{"v0.6.1", early, [][2]string{{"cri-o", "1.31.13"}, {"containerd", "v1.7.25"}, {"containerd.io", "1.7.24"}}},
		{"v0.8.0", timed, [][2]string{{"v2", "v2.0.2"}, {"containerd", "1.7.27-0ubuntu1"}, {"containerd", "v2.1.9"}}},
		{"v0.10.0", timed, [][2]string{{"cri-o", "1.34.11"}, {"containerd", "v2.2.0-k3s1"}}},
		{"v0.11.0", timed, [][2]string{{"cri-o", "1.35.6"}, {"containerd", "v2.2.1"}}},
		{"v0.12.0", named, [][2]string{{"containerd", "v2.3.7"}, {"cri-o", "1.37.0"}}},
		{"v0.12.5", named, [][2]string{{"containerd", "v2.4.2"}, {"containerd", "2.4.2+unknown"}}},
	}
	plugin := testruntime.BuildPlugin(t)
	for _, test := range tests {
		binary := testruntime.BuildAdaptation(t, test.nri)
		for _, identity := range test.identities {
			t.Run(test.nri+"/"+identity[0]+"@"+identity[1], func(t *testing.T) {
				runtime := testruntime.StartAdaptation(t, binary, identity[0], identity[1])
				want := nri.Identity{
					Socket:         runtime.Socket,
					Peer:           &nri.Peer{PID: runtime.PID},
					RuntimeName:    identity[0],
					RuntimeVersion: identity[1],
					Bracket:        test.bracket,
				}
				if test.bracket != early {
					want.RegistrationTimeout, want.RequestTimeout = 5*time.Second, 2*time.Second
				}
				if test.bracket == named {
					want.NRIVersion = test.nri
				}
				probeReal(t, runtime, plugin, want)
			})
		}
	}
}

// ours keeps the lines of a runtime's log that are about a probe.
func ours(l testruntime.Line) bool {
	return strings.Contains(l.Message, "nri-compat")
}

// probeReal probes one runtime and looks at what the probe did to it.
func probeReal(t *testing.T, runtime *testruntime.Adaptation, plugin string, want nri.Identity) {
	witness := testruntime.StartPlugin(t, plugin, runtime.Socket, "10", "witness")
	runtime.AwaitLog(t, 1, func(l testruntime.Line) bool {
		return strings.HasPrefix(l.Message, `plugin "10-witness" connected`)
	})
	before := runtime.Do(t, "stats")

	id, err := nri.Probe(t.Context(), nri.Options{Socket: runtime.Socket})
	if err != nil {
		t.Fatal(err)
	}
	want.LogLines = id.LogLines
	want.Peer.UID, want.Peer.GID = id.Peer.UID, id.Peer.GID
	if diff := cmp.Diff(want, id); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}

	// The log has the announced lines, and nothing else but the note that the
	// connection was closed, which comes at any time or not at all.
	isError := func(l testruntime.Line) bool { return ours(l) && l.Level == "error" }
	runtime.AwaitLog(t, 1, isError)
	var logged []nri.LogLine
	for _, l := range runtime.Log(ours) {
		if !strings.HasPrefix(l.Message, "connection to plugin ") && !strings.HasPrefix(l.Message, "ttrpc server for plugin ") {
			logged = append(logged, nri.LogLine{Level: l.Level, Message: l.Message})
		}
	}
	if diff := cmp.Diff(id.LogLines, logged); diff != "" {
		t.Errorf("log (-announced +logged):\n%s", diff)
	}

	for range 50 {
		if _, err := nri.Probe(t.Context(), nri.Options{Socket: runtime.Socket}); err != nil {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			if _, err := nri.Probe(t.Context(), nri.Options{Socket: runtime.Socket}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	runtime.AwaitLog(t, 71, isError)

	// The plugin that was there before still is, alone, and does its work.
	created := runtime.Do(t, "create probed")
	if diff := cmp.Diff(map[string]string{"test.nri-compat.dev/seen": "probed"}, created.Annotations); diff != "" {
		t.Errorf("adjustment by the plugin (-want +got):\n%s", diff)
	}
	witness.AwaitLog(t, 1, func(l testruntime.Line) bool { return l.Message == "created probed" })
	runtime.AwaitFiles(t, before.Files)
	if after := runtime.Do(t, "stats"); after.Plugins != before.Plugins || before.Plugins != 1 {
		t.Errorf("%d plugins before, %d after", before.Plugins, after.Plugins)
	}
}
