package testruntime

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Reply is what an [Adaptation] answers to a command.
type Reply struct {
	Error       string            `json:"error"`
	Plugins     int               `json:"plugins"`
	Files       int               `json:"files"`
	Goroutines  int               `json:"goroutines"`
	Annotations map[string]string `json:"annotations"`
}

// Adaptation is the real runtime half of one NRI release.
type Adaptation struct {
	*Process
	// Socket is its NRI socket.
	Socket string
}

// StartAdaptation starts a binary of [BuildAdaptation], which then calls itself
// name and version, and waits until it listens.
func StartAdaptation(tb testing.TB, binary, name, version string) *Adaptation {
	tb.Helper()
	socket := filepath.Join(directory(tb), "nri.sock")
	a := &Adaptation{
		Process: start(tb, binary, "-name", name, "-version", version, "-socket", socket),
		Socket:  socket,
	}
	AwaitListener(tb, socket)
	return a
}

// Do gives the runtime a command and waits for the answer: "create NAME" asks
// all plugins about a new container, "stats" counts what it has open.
func (a *Adaptation) Do(tb testing.TB, command string) Reply {
	tb.Helper()
	if _, err := fmt.Fprintln(a.stdin, command); err != nil {
		tb.Fatal(err)
	}
	var reply Reply
	if err := a.stdout.Decode(&reply); err != nil {
		tb.Fatalf("%s: %v", command, err)
	}
	if reply.Error != "" {
		tb.Fatalf("%s: %s", command, reply.Error)
	}
	return reply
}

// StartPlugin starts a binary of [BuildPlugin] and waits until it is
// synchronized. Its log has "connecting", "configured", "synchronized", "created
// NAME" and "closed".
func StartPlugin(tb testing.TB, binary, socket, index, name string) *Process {
	tb.Helper()
	p := start(tb, binary, "-socket", socket, "-idx", index, "-name", name)
	p.AwaitLog(tb, 1, func(l Line) bool { return l.Message == "synchronized" })
	return p
}

// Containerd is a real containerd with private directories and sockets.
type Containerd struct {
	*Process
	// Dir is the directory of everything that it writes.
	Dir string
	// Config is its configuration file.
	Config string
	// Plugins is the directory of its plugins.
	Plugins string
	// Socket is its NRI socket, GRPC and TTRPC are its own ones.
	Socket, GRPC, TTRPC string
}

// ContainerdOptions say how a containerd is started.
type ContainerdOptions struct {
	// WithoutNRI switches NRI off in the configuration.
	WithoutNRI bool
	// Installed are executables by the names, NN-name, that they get in the plugin
	// directory.
	Installed map[string]string
	// Extra is added to the configuration file.
	Extra string
}

// StartContainerd starts a binary of [BuildContainerd] and waits until NRI listens
// or, without NRI, until containerd does. It needs root. Outside of its own directory
// containerd 2 makes one thing, an empty /run/containerd, which no setting changes.
func StartContainerd(tb testing.TB, binary string, opts ContainerdOptions) *Containerd {
	tb.Helper()
	c := newContainerd(tb, opts)
	for name, executable := range opts.Installed {
		if err := os.Symlink(executable, filepath.Join(c.Plugins, name)); err != nil {
			tb.Fatal(err)
		}
	}
	c.Process = start(tb, binary, "--config", c.Config)
	if opts.WithoutNRI {
		AwaitListener(tb, c.GRPC)
	} else {
		AwaitListener(tb, c.Socket)
	}
	return c
}

// Goroutines counts the goroutines of containerd, by its debug socket.
func (c *Containerd) Goroutines(tb testing.TB) int {
	tb.Helper()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.Dir, debugSocket))
		},
	}}
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, "http://containerd/debug/pprof/goroutine?debug=1", nil)
	if err != nil {
		tb.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	var n int
	if _, err := fmt.Fscanf(response.Body, "goroutine profile: total %d", &n); err != nil {
		tb.Fatalf("goroutines: %v", err)
	}
	return n
}

// AwaitGoroutines waits until containerd has at most n goroutines.
func (c *Containerd) AwaitGoroutines(tb testing.TB, n int) {
	tb.Helper()
	await(tb, "at most "+strconv.Itoa(n)+" goroutines", func() bool { return c.Goroutines(tb) <= n })
}

// debugSocket is the name of the debug socket in the directory of a containerd.
const debugSocket = "debug.sock"

// newContainerd makes the directory and configuration of a containerd.
func newContainerd(tb testing.TB, opts ContainerdOptions) *Containerd {
	tb.Helper()
	dir := directory(tb)
	c := &Containerd{
		Dir:     dir,
		Config:  filepath.Join(dir, "config.toml"),
		Plugins: filepath.Join(dir, "plugins"),
		Socket:  filepath.Join(dir, "nri.sock"),
		GRPC:    filepath.Join(dir, "containerd.sock"),
		TTRPC:   filepath.Join(dir, "containerd.sock.ttrpc"),
	}
	if err := os.Mkdir(c.Plugins, 0o755); err != nil {
		tb.Fatal(err)
	}
	// Version 2 is read by all releases.
	config := fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
[grpc]
  address = %[3]q
[ttrpc]
  address = %[4]q
[debug]
  address = %[5]q
  format = "json"
  level = "info"
[plugins."io.containerd.internal.v1.opt"]
  path = %[6]q
[plugins."io.containerd.grpc.v1.cri".cni]
  conf_dir = %[12]q
[plugins."io.containerd.nri.v1.nri"]
  disable = %[7]t
  socket_path = %[8]q
  plugin_path = %[9]q
  plugin_config_path = %[10]q
%[11]s`,
		filepath.Join(dir, "root"), filepath.Join(dir, "state"), c.GRPC, c.TTRPC,
		filepath.Join(dir, debugSocket), filepath.Join(dir, "opt"), opts.WithoutNRI, c.Socket,
		c.Plugins, filepath.Join(dir, "conf.d"), opts.Extra, filepath.Join(dir, "cni"))
	if err := os.WriteFile(c.Config, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	return c
}

// directory makes a directory whose path is short enough for unix sockets.
func directory(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "nrt")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Logf("not removed: %v", err)
		}
	})
	return dir
}
