package standin

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRestart: a plugin that comes back after a restart of the kubelet is told
// from one that does not, and from one that registers without serving again.
func TestRestart(t *testing.T) {
	for _, test := range []struct {
		name          string
		back, serving bool
		over          bool
		broken        string
	}{
		{"it comes back", true, true, false, ""},
		{"it ends", false, false, true, ""},
		{"it does not", false, false, false, "it does not register example.com/gpu again within 2s of a restart of the kubelet"},
		{"it registers without a socket", true, false, false, "it does not register example.com/gpu again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, o := standIn(t, curious)
			f := good()
			socket := filepath.Join(o.Dir, f.endpoint)
			f.serve(t, socket)
			if err := f.register(t, o.Dir); err != nil {
				t.Fatal(err)
			}
			if err := s.Wait(t.Context(), func() bool { return false }); err != nil {
				t.Fatal(err)
			}
			seen := s.Observation()
			if err := os.Mkdir(filepath.Join(o.Dir, "kept"), 0o755); err != nil {
				t.Fatal(err)
			}
			gone, stop := make(chan struct{}), make(chan struct{})
			defer func() { close(stop); <-gone }()
			go func() {
				defer close(gone)
				for tick := time.Tick(time.Millisecond); ; {
					if _, err := os.Lstat(socket); errors.Is(err, os.ErrNotExist) {
						break // as plugins notice a restart
					}
					select {
					case <-tick:
					case <-stop:
						return
					}
				}
				if test.serving {
					l, err := net.Listen("unix", socket)
					if err != nil {
						t.Error(err)
						return
					}
					f.serveAt(t, l)
				}
				for test.back && f.register(t, o.Dir) != nil {
					select {
					case <-stop:
						return
					default:
					}
				}
			}()
			restarted, err := s.Restart(t.Context(), func() bool { return test.over })
			if err != nil {
				t.Fatal(err)
			}
			seen.Restarted = &restarted
			if got := broken(seen.Findings()); !strings.HasPrefix(got, test.broken) || (got == "") != (test.broken == "") {
				t.Errorf("%+v: %s", restarted, got)
			}
			if warned := len(seen.Findings().Warnings) > 0; warned != test.over {
				t.Errorf("%v", seen.Findings().Warnings)
			}
			if _, err := os.Stat(filepath.Join(o.Dir, "kept")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRestartEnds: it ends with the context, with what was learned.
func TestRestartEnds(t *testing.T) {
	s, o := standIn(t, curious)
	f := good()
	f.serve(t, filepath.Join(o.Dir, f.endpoint))
	if err := f.register(t, o.Dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	restarted, err := s.Restart(ctx, func() bool { return false })
	if !errors.Is(err, context.Canceled) || len(restarted.Missing) != 1 {
		t.Errorf("%+v, %v", restarted, err)
	}
	if entries, err := os.ReadDir(o.Dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestRestartRemoves: as in every kubelet, sockets go, links to them too, and what
// is neither stays.
func TestRestartRemoves(t *testing.T) {
	s, o := standIn(t, curious)
	at := func(name string) string { return filepath.Join(o.Dir, name) }
	l, err := net.Listen("unix", at("a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, err := range []error{
		os.Symlink("a.sock", at("socket")), os.Symlink("a.lock", at("link")), os.Symlink("nowhere", at("lost")),
		os.WriteFile(at("a.lock"), nil, 0o600), os.Mkdir(at("a.d"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Restart(t.Context(), func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(o.Dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	// The order in which the socket and the link to it go decides about the link.
	left = slices.DeleteFunc(left, func(name string) bool { return name == "socket" })
	if want := []string{"a.d", "a.lock", "link", "lost"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q; %v", left, want, err)
	}
}
