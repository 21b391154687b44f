package testruntime

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anything may take before a test fails.
const patience = 60 * time.Second

// Line is one line of a log. A line that is not JSON has its text as message.
type Line struct {
	Level   string    `json:"level"`
	Message string    `json:"msg"`
	Time    time.Time `json:"time"`
}

// Process is a program that a test has started.
type Process struct {
	// PID is its process id.
	PID int

	cmd     *exec.Cmd
	stdin   io.WriteCloser
	output  io.Reader     // standard output
	stdout  *json.Decoder // the same, for programs that write JSON
	mu      sync.Mutex
	lines   []Line
	changed chan struct{} // closed and replaced with every line, and at the end
	ended   bool
	stop    func()
}

// Stop ends the process and waits for it. The end of the test does it too.
func (p *Process) Stop() { p.stop() }

// start starts a program and reads its log from standard error.
func start(tb testing.TB, path string, args ...string) *Process {
	tb.Helper()
	p := &Process{cmd: exec.Command(path, args...), changed: make(chan struct{})}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.output, p.stdout = stdout, json.NewDecoder(stdout)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", path, err)
	}
	p.PID = p.cmd.Process.Pid
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		p.read(stderr)
	}()
	p.stop = sync.OnceFunc(func() {
		p.stdin.Close()
		_ = p.cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(patience/4, func() { _ = p.cmd.Process.Kill() })
		defer kill.Stop()
		<-logged
		_ = p.cmd.Wait()
	})
	tb.Cleanup(func() {
		p.Stop()
		if tb.Failed() {
			tb.Logf("log of %s:\n%s", filepath.Base(path), p.text())
		}
	})
	return p
}

// read collects the log until it ends.
func (p *Process) read(r io.Reader) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := Line{Message: in.Text()}
		if parsed := (Line{}); json.Unmarshal(in.Bytes(), &parsed) == nil && parsed.Message != "" {
			line = parsed
		}
		p.mu.Lock()
		p.lines = append(p.lines, line)
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
	p.mu.Lock()
	p.ended = true
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
}

// text is the end of the log.
func (p *Process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, l := range p.lines[max(0, len(p.lines)-60):] {
		b.WriteString(l.Level + "\t" + l.Message + "\n")
	}
	return b.String()
}

// Log gives the lines so far for which keep is true.
func (p *Process) Log(keep func(Line) bool) []Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kept []Line
	for _, l := range p.lines {
		if keep(l) {
			kept = append(kept, l)
		}
	}
	return kept
}

// AwaitLog waits until at least n lines are there for which keep is true, and
// gives all of them.
func (p *Process) AwaitLog(tb testing.TB, n int, keep func(Line) bool) []Line {
	tb.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		changed, ended := p.changed, p.ended
		p.mu.Unlock()
		lines := p.Log(keep)
		if len(lines) >= n {
			return lines
		}
		if ended {
			tb.Fatalf("process ended with %d of %d lines", len(lines), n)
		}
		select {
		case <-changed:
		case <-deadline:
			tb.Fatalf("%d of %d lines in the log after %v", len(lines), n, patience)
		}
	}
}

// Files counts the open files of the process.
func (p *Process) Files(tb testing.TB) int {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.PID), "fd"))
	if err != nil {
		tb.Fatal(err)
	}
	return len(entries)
}

// await waits until done is true.
func await(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// AwaitFiles waits until the process has at most n open files; what a test has
// closed disappears there a moment later.
func (p *Process) AwaitFiles(tb testing.TB, n int) {
	tb.Helper()
	await(tb, "at most "+strconv.Itoa(n)+" open files", func() bool { return p.Files(tb) <= n })
}

// AwaitListener waits until somebody listens on a unix socket, without
// connecting to it: the kernel's list has a flag for it.
func AwaitListener(tb testing.TB, socket string) {
	tb.Helper()
	await(tb, "listener on "+socket, func() bool {
		list, err := os.ReadFile("/proc/net/unix")
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.Lines(string(list)) {
			// Num RefCount Protocol Flags Type St Inode Path
			f := strings.Fields(line)
			if len(f) == 8 && f[7] == socket && f[3] == "00010000" {
				return true
			}
		}
		return false
	})
}
