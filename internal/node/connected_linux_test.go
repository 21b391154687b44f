package node

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets this binary be the plugin that connects.
func TestMain(m *testing.M) {
	if socket := os.Getenv("NRI_COMPAT_TEST_CONNECT"); socket != "" {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("connected")
		_, _ = io.Copy(io.Discard, os.Stdin)
		conn.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// connect starts a process that connects to a socket, and gives its id.
func connect(t *testing.T, socket string, flags uintptr) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "NRI_COMPAT_TEST_CONNECT="+socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		if flags != 0 {
			t.Skipf("a process with a network of its own: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "connected\n" {
		t.Fatalf("plugin: %q, %v", line, err)
	}
	return cmd.Process.Pid
}

// accept accepts all connections on a socket.
func accept(t *testing.T, socket string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var conns []net.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				for _, c := range conns {
					c.Close()
				}
				return
			}
			conns = append(conns, conn)
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
}

func TestConnectedPlugins(t *testing.T) {
	dir, err := os.MkdirTemp("", "nri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, other := filepath.Join(dir, "nri.sock"), filepath.Join(dir, "other.sock")
	accept(t, socket)
	accept(t, other)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}

	none, err := Host{}.ConnectedPlugins(t.Context(), socket)
	if err != nil || len(none.Plugins) != 0 {
		t.Errorf("nobody connected: %+v, %v", none, err)
	}
	want := []int{connect(t, socket, 0), connect(t, filepath.Join(link, "nri.sock"), 0)}
	connect(t, other, 0)
	slices.Sort(want)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{socket, filepath.Join(link, "nri.sock")} {
		got, err := Host{}.ConnectedPlugins(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var pids []int
		for _, p := range got.Plugins {
			pids = append(pids, p.PID)
			if p.Exe != self || !strings.HasSuffix(p.Binary, "/exe") || p.Container != nil && os.Getenv("CI") == "" {
				t.Errorf("plugin: %+v", p)
			}
		}
		if !slices.Equal(pids, want) {
			t.Errorf("connected to %s: %v, want %v", path, pids, want)
		}
	}
	if _, err := (Host{}).ConnectedPlugins(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("no socket: no error")
	}
}

// TestConnectedPluginInAnotherNetwork proves that a plugin in a pod with a network
// of its own is found.
func TestConnectedPluginInAnotherNetwork(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to make a network namespace and to enter it")
	}
	dir, err := os.MkdirTemp("", "nri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "nri.sock")
	accept(t, socket)
	pid := connect(t, socket, syscall.CLONE_NEWNET)
	before, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got, err := Host{}.ConnectedPlugins(t.Context(), socket)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Plugins) != 1 || got.Plugins[0].PID != pid {
			t.Errorf("connected: %+v, want process %d", got, pid)
		}
	}
	tasks, err := filepath.Glob("/proc/self/task/*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if ns, err := os.Readlink(task); err == nil && ns != before {
			t.Errorf("thread left in another network namespace: %s is %s", task, ns)
		}
	}
}

// FuzzParseDump proves that an answer of the kernel is read without reading past
// its end, and that every socket comes from a message in it.
func FuzzParseDump(f *testing.F) {
	f.Add(dumpRequest())
	message := append(dumpRequest(), make([]byte, 64)...)
	message[0] = byte(len(message))
	f.Add(message)
	f.Fuzz(func(t *testing.T, b []byte) {
		sockets, _, err := parseDump(b)
		if err == nil && len(sockets)*(diagMessageSize+syscall.NLMSG_HDRLEN) > len(b) {
			t.Errorf("%d sockets in %d bytes", len(sockets), len(b))
		}
		parseSocket(b)
	})
}
