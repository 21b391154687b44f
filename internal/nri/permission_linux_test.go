package nri

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestProbeWithoutPermission probes a socket that the user may not open, and one
// in a directory that the user may not enter. Root may open everything, so root
// becomes somebody else for it, on one thread that ends with the goroutine.
func TestProbeWithoutPermission(t *testing.T) {
	closed := listen(t, (&handmade{request: introduce("containerd", "v2.2.1", nil)}).serve)
	hidden := filepath.Join(filepath.Dir(closed), "none.sock")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(closed), 0o711); err != nil {
		t.Fatal(err)
	}
	secret := t.TempDir()
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	probes := map[string]Reason{
		closed:                            PermissionDenied,
		filepath.Join(secret, "nri.sock"): PermissionDenied,
		hidden:                            NoSocket,
	}
	errs := make(chan map[string]error)
	go func() {
		runtime.LockOSThread() // Never unlocked: the thread ends here.
		if os.Getuid() == 0 {
			_, _ = unix.SetfsuidRetUid(65534)
		}
		got := map[string]error{}
		for socket := range probes {
			_, got[socket] = Probe(t.Context(), Options{Socket: socket})
		}
		errs <- got
	}()
	for socket, err := range <-errs {
		var e *Error
		if !errors.As(err, &e) || e.Reason != probes[socket] {
			t.Errorf("%s: %v, want %s", socket, err, probes[socket])
		}
	}
}
