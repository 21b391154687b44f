package node

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyRegularFilesAreRead: a process names its files itself, and nothing that
// it can name is waited for.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	kubelet := func(args ...string) func(string) error {
		return func(file string) error {
			k := Kubelet{Process: Process{Args: append([]string{"kubelet"}, args...)}}
			for i := range k.Args {
				k.Args[i] = strings.ReplaceAll(k.Args[i], "FILE", file)
			}
			_, err := k.KubeletConfig()
			return err
		}
	}
	readers := map[string]func(string) error{
		"kubelet --config": kubelet("--config=FILE"),
		"containerd": func(file string) error {
			_, err := Host{}.ConfigOf(Process{Args: []string{"containerd", "--config", file}, Exe: "/containerd"}, ConfigOptions{})
			return err
		},
		"CRI-O": func(file string) error {
			_, err := Host{}.ConfigOf(Process{Args: []string{"crio", "--config", file}, Exe: "/crio"}, ConfigOptions{})
			return err
		},
	}
	for _, runtime := range []string{"", "kubelet", "containerd", "cri-o"} {
		readers["a file that was named, "+runtime] = func(file string) error {
			_, err := ReadConfig(file, ConfigOptions{Runtime: runtime})
			return err
		}
	}
	for name, read := range readers {
		for _, file := range []string{pipe, link, dir, "/dev/null", "/dev/zero"} {
			if err := read(file); err == nil || !strings.Contains(err.Error(), "is no regular file") {
				t.Errorf("%s, %s: %v", name, file, err)
			}
		}
	}
	// A drop-in is named by its directory.
	if err := os.Rename(pipe, filepath.Join(dir, "10.conf")); err != nil {
		t.Fatal(err)
	}
	if err := kubelet("--config-dir=FILE")(dir); err == nil || !strings.Contains(err.Error(), "10.conf: is no regular file") {
		t.Errorf("drop-in: %v", err)
	}
}
