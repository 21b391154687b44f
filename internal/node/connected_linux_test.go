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
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets this binary be the plugin that connects, or that listens.
func TestMain(m *testing.M) {
	if sockets := os.Getenv("NRI_COMPAT_TEST_LISTEN"); sockets != "" {
		var open []net.Listener
		for socket := range strings.SplitSeq(sockets, ",") {
			l, err := net.Listen("unix", socket)
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			open = append(open, l)
		}
		fmt.Println("connected")
		_, _ = io.Copy(io.Discard, os.Stdin)
		for _, l := range open {
			l.Close()
		}
		os.Exit(0)
	}
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

// connect starts a process that connects to a socket, waits until the connection
// has been accepted, and gives the process's id.
func connect(t *testing.T, socket string, accepted <-chan struct{}, flags uintptr) int {
	t.Helper()
	pid := startPlugin(t, "NRI_COMPAT_TEST_CONNECT="+socket, flags)
	<-accepted
	return pid
}

// startPlugin starts this binary as a plugin, and waits until it is there.
func startPlugin(t *testing.T, as string, flags uintptr) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), as)
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

// accept accepts all connections on a socket and tells of each.
func accept(t *testing.T, socket string) <-chan struct{} {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ended, accepted := make(chan struct{}), make(chan struct{}, 10)
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
			accepted <- struct{}{}
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return accepted
}

func TestConnectedPlugins(t *testing.T) {
	dir, err := os.MkdirTemp("", "nri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, other := filepath.Join(dir, "nri.sock"), filepath.Join(dir, "other.sock")
	accepted, elsewhere := accept(t, socket), accept(t, other)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}

	none, err := Host{}.ConnectedPlugins(t.Context(), socket)
	if err != nil || len(none.Plugins) != 0 {
		t.Errorf("nobody connected: %+v, %v", none, err)
	}
	want := []int{connect(t, socket, accepted, 0), connect(t, filepath.Join(link, "nri.sock"), accepted, 0)}
	connect(t, other, elsewhere, 0)
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
	pid := connect(t, socket, accept(t, socket), syscall.CLONE_NEWNET)
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
	// No thread stays behind in the other network; the last one may still be ending.
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(strays(t, before)) > 0 {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("threads left in another network namespace: %v", strays(t, before))
		}
	}
}

// strays lists the threads of this process that are in another network namespace.
func strays(t *testing.T, home string) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(tasks, func(task string) bool {
		ns, err := os.Readlink(task)
		return err != nil || ns == home
	})
}

// FuzzParseDump proves that an answer of the kernel is read without reading past
// its end, and that every socket comes from a message in it.
func FuzzParseDump(f *testing.F) {
	f.Add(dumpRequest(tcpEstablished))
	message := append(dumpRequest(tcpEstablished), make([]byte, 64)...)
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

// TestConnectedInContainer names the pod and the container of a plugin.
func TestConnectedInContainer(t *testing.T) {
	const second = "11111111111111111111111111111111" + "22222222222222222222222222222222"
	h := nodeWith(t, map[string]string{
		"/var/log/containers/device-injector-x7k2p_kube-system_injector-" + testID + ".log": "",
		"/var/log/pods/monitoring_exporter-abc_" + testUID + "/x":                           "",
	})
	h.Proc = t.TempDir()
	for pid, cgroup := range map[int]string{
		7: "0::/kubepods/besteffort/pod" + testUID + "/" + testID + "\n",
		8: "0::/kubepods/besteffort/pod" + testUID + "/" + second + "\n",
		9: "0::/system.slice/plugin.service\n",
	} {
		fakeProcess(t, h, pid, "/usr/bin/injector", "injector", "-idx", "10")
		if err := os.WriteFile(h.proc(pid, "cgroup"), []byte(cgroup), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := h.podNames()
	if err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int]*Container{
		7: {ID: testID, PodUID: testUID, Namespace: "kube-system", Pod: "device-injector-x7k2p", Name: "injector"},
		8: {ID: second, PodUID: testUID, Namespace: "monitoring", Pod: "exporter-abc"},
		9: nil,
	} {
		got, err := h.connected(pid, names)
		if err != nil {
			t.Fatal(err)
		}
		wantPlugin := ConnectedPlugin{PID: pid, Exe: "/usr/bin/injector", Binary: h.proc(pid, "exe"),
			Args: []string{"injector", "-idx", "10"}, Container: want}
		if diff := cmp.Diff(wantPlugin, got); diff != "" {
			t.Errorf("process %d (-want +got):\n%s", pid, diff)
		}
	}
	if _, err := h.connected(99, names); err == nil {
		t.Error("a process that has ended: no error")
	}
}
