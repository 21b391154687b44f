package kubelet

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// versionProgram builds the program that stands in for a kubelet, and gives a pipe that
// ends once no process of it is left.
func versionProgram(t *testing.T, behaviour string) (file, alive string) {
	t.Helper()
	dir := t.TempDir()
	file, alive = filepath.Join(dir, "kubelet"), filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", file, "-ldflags", "-X 'main.behaviour="+behaviour+"' -X main.alive="+alive, "./testdata/kubelet")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file, alive
}

// exeOf gives a directory like that of a process with the rights of this one, whose
// executable is a file: its exe.
func exeOf(t *testing.T, file string) string {
	t.Helper()
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	dir := t.TempDir()
	for name, target := range map[string]string{"exe": file, "status": "/proc/self/status", "ns": "/proc/self/ns"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "exe")
}

func TestVersion(t *testing.T) {
	for _, test := range []struct{ behaviour, want, says string }{
		{"answer", "v1.34.1", ""},
		{"vendor", "v1.30.4+k3s1", ""},
		{"nonsense", "", `it printed "\x1b[31mKubernetes\x1b[0m is great", want a line such as Kubernetes v1.34.1`},
		{"silent", "", "it printed nothing"},
	} {
		t.Run(test.behaviour, func(t *testing.T) {
			file, _ := versionProgram(t, test.behaviour)
			got, err := Version(t.Context(), exeOf(t, file))
			if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// canContain tells whether a process can be given a PID namespace of its own.
func canContain() bool {
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	return os.Geteuid() == 0 && cmd.Run() == nil
}

// TestVersionLeavesNothing: whatever the program does, nothing of it is left.
func TestVersionLeavesNothing(t *testing.T) {
	for _, test := range []struct {
		behaviour, want, says string
		cancel                bool // once the program has done its worst
		contained             bool // only a PID namespace holds it
	}{
		{"flood", "", "it printed \"xxx", false, false},
		{"hang", "", "did not answer in time, and was killed", true, false},
		{"fork", "v1.34.1", "", false, false},
		{"fork and hang", "", "did not answer in time, and was killed", true, false},
		{"escape", "v1.34.1", "", false, true},
	} {
		t.Run(test.behaviour, func(t *testing.T) {
			if test.contained && !canContain() {
				t.Skip("what leaves its process group is held by a PID namespace, which cannot be made here")
			}
			file, alive := versionProgram(t, test.behaviour)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				f, err := os.Open(alive) // waits until the program has opened it
				if err != nil {
					ended <- err
					return
				}
				defer f.Close()
				if test.cancel {
					cancel()
				}
				_, err = io.Copy(io.Discard, f) // ends when the last process has
				ended <- err
			}()
			got, err := Version(ctx, exeOf(t, file))
			if got != test.want || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q, %v", got, err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestVersionRunsKubeletsOnly: what is no kubelet is not run.
func TestVersionRunsKubeletsOnly(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	place := func(name string) string {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name, "kubelet")
	}
	write := func(name, text string, mode os.FileMode) string {
		file := place(name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := func(name, target string) string {
		file := filepath.Join(dir, name)
		if err := os.Symlink(target, file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good, _ := versionProgram(t, "answer")
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	elf, test := string(text), write("test", "", 0o755)
	if text, err = os.ReadFile(self); err == nil {
		err = os.WriteFile(test, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	directory := place("dir")
	if err := os.Mkdir(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	const machine = 18 // where an ELF header names the processor
	if v, err := Version(t.Context(), exeOf(t, good)); v != "v1.34.1" || err != nil {
		t.Errorf("what is one: %q, %v", v, err)
	}
	for name, test := range map[string]struct{ file, says string }{
		"a script":             {write("script", "#!/bin/sh\ntouch "+ran+"\necho Kubernetes v1.34.1\n", 0o755), "is no ELF executable"},
		"an empty file":        {write("empty", "", 0o755), "is no ELF executable"},
		"the beginning of one": {write("cut", elf[:64], 0o755), "is no ELF executable"},
		"another Go program":   {test, "was built from"},
		"another name":         {self, "not kubelet"},
		"a link to another":    {link("kubelet", "/bin/true"), `is named "true", not kubelet`},
		"a directory":          {directory, "is no regular file"},
		"nothing":              {filepath.Join(dir, "none"), "no such file"},
		"not executable":       {write("plain", elf, 0o600), "it may not be run from here: permission denied"},
		"for another machine":  {write("foreign", elf[:machine]+"\xf7\x00"+elf[machine+2:], 0o755), "it cannot be run from here: exec format error"},
	} {
		v, err := Version(t.Context(), exeOf(t, test.file))
		if v != "" || err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v; want %q", name, v, err, test.says)
		}
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the script was run: %v", err)
	}
}

// FuzzParseVersion: what is read is a version that was there, on one line.
func FuzzParseVersion(f *testing.F) {
	f.Add([]byte("Kubernetes v1.34.1\n"))
	f.Add([]byte("Kubernetes v1.30.4-gke.1348000\nmore"))
	f.Add([]byte("Kubernetes v1.34"))
	f.Fuzz(func(t *testing.T, out []byte) {
		v, err := parseVersion(out)
		if (err == nil) == (v == "") {
			t.Fatalf("%q, %v", v, err)
		}
		if err == nil && (!strings.HasPrefix(string(out), "Kubernetes "+v) || strings.ContainsAny(v, "\n\r\x1b ")) {
			t.Fatalf("%q from %q", v, out)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Fatalf("error %q", err)
		}
	})
}
