package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs a function as a user who may open little. Root may open
// everything, so root becomes somebody else on one thread, which then ends.
func asNobody(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			_, _ = unix.SetfsuidRetUid(65534)
		}
		f()
	}()
	<-done
}

// TestUnreadable proves that what may not be read is an error that says so, and
// never taken for a file that is not there or for an empty directory.
func TestUnreadable(t *testing.T) {
	h := nodeWith(t, map[string]string{
		"/secret.toml":     "version = 2\n",
		"/imports.toml":    "version = 2\nimports = [\"/secret.d/*.toml\"]\n",
		"/secret.d/a.toml": "version = 2\n",
		"/ok.conf":         "[crio]\n",
	})
	for dir, mode := range map[string]os.FileMode{"/": 0o755, "/secret.toml": 0, "/secret.d": 0} {
		if err := os.Chmod(h.path(dir), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(h.Root), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(h.path("/secret.d"), 0o755) })
	reads := map[string]func() error{
		"file":              func() error { _, err := h.readContainerd("/secret.toml", 0); return err },
		"imports":           func() error { _, err := h.readContainerd("/imports.toml", 0); return err },
		"usual place":       func() error { _, err := h.containerdAt("/secret.toml", 0); return err },
		"CRI-O file":        func() error { _, err := h.readCRIO("/secret.toml", "", nil); return err },
		"CRI-O drop-ins":    func() error { _, err := h.readCRIO("/ok.conf", "/secret.d", nil); return err },
		"installed plugins": func() error { _, err := h.InstalledPlugins("/secret.d", ""); return err },
		"binary":            func() error { _, err := InspectBinary(h.path("/secret.toml")); return err },
	}
	errs := map[string]error{}
	asNobody(func() {
		for name, read := range reads {
			errs[name] = read()
		}
	})
	for name, err := range errs {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMatches(t *testing.T) {
	v := vfs{inode: 7, device: 1, names: []string{"/var/run/nri/nri.sock", "/run/nri/nri.sock"}}
	tests := map[string]struct {
		socket unixSocket
		want   bool
	}{
		"the file":                                  {unixSocket{inode: 7, device: 1}, true},
		"the same path in another file system":      {unixSocket{name: "/run/nri/nri.sock", inode: 8, device: 1}, false},
		"the same inode on another device":          {unixSocket{name: "/other", inode: 7, device: 2}, false},
		"a file system that hides its device":       {unixSocket{name: "/run/nri/nri.sock", inode: 7, device: 2}, true},
		"a socket without a file":                   {unixSocket{}, false},
		"a socket without a file but with the name": {unixSocket{name: "/run/nri/nri.sock"}, false},
	}
	for name, test := range tests {
		if got := v.matches(test.socket); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestDumpErrors proves that a kernel that answers with an error, or with
// something else, is not taken for one without sockets.
func TestDumpErrors(t *testing.T) {
	refused := dumpRequest(tcpEstablished)
	refused[4], refused[5] = unix.NLMSG_ERROR, 0
	code := int32(-int32(unix.ENOENT))
	refused[16], refused[17], refused[18], refused[19] = byte(code), byte(code>>8), byte(code>>16), byte(code>>24)
	if _, _, err := parseDump(refused); runtime.GOARCH != "s390x" && !errors.Is(err, unix.ENOENT) {
		t.Errorf("refused: %v", err)
	}
	for name, b := range map[string][]byte{
		"cut off":       dumpRequest(tcpEstablished)[:20],
		"short message": append([]byte{20, 0, 0, 0, unix.SOCK_DIAG_BY_FAMILY, 0}, make([]byte, 14)...),
	} {
		if _, _, err := parseDump(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
