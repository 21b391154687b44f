package nri

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// usage counts what a probe could leave behind.
type usage struct{ goroutines, files int }

// resources counts the goroutines and open files of this process.
func resources(tb testing.TB) usage {
	tb.Helper()
	u := usage{goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}

// settled waits until no more is in use than before. What a probe has closed
// ends at once, but in goroutines of the library and of the peer.
func settled(tb testing.TB, before usage) {
	tb.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for {
		now := resources(tb)
		if now.goroutines <= before.goroutines && now.files <= before.files {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			stacks := make([]byte, 1<<16)
			stacks = stacks[:runtime.Stack(stacks, true)]
			tb.Fatalf("in use: %+v, before: %+v\n%s", now, before, stacks)
		}
	}
}

func TestProbeLeavesNothing(t *testing.T) {
	h := &handmade{request: introduce("containerd", "v2.2.1", packed(1, 2))}
	socket := listen(t, h.serve)
	if _, err := Probe(t.Context(), Options{Socket: socket}); err != nil {
		t.Fatal(err)
	}
	before := resources(t)
	for range 200 {
		if _, err := Probe(t.Context(), Options{Socket: socket}); err != nil {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			if _, err := Probe(t.Context(), Options{Socket: socket}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	settled(t, before)
}
