package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestDirectories: what is to be empty is empty inside and the same as before
// outside, also where it does not exist, and what lies next to it stays.
func TestDirectories(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"full/file": "x", "full/dir/file": "y", "next/file": "z", "next/.hidden": "h", "specs/a.json": "{}", "specs/dir/b.json": "{}"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(root, "next/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("full", filepath.Join(root, "short")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "next/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	spec := Spec{
		Empty:  []string{root + "/short", root + "/next/new/deep", root + "/next/new/other"},
		Copied: []string{root + "/specs", root + "/gone/specs"},
	}
	got, last := inside(t, spec, order{}, fmt.Sprintf(`
		cd %s
		echo full: $(ls -A full)
		echo next: $(ls -A next) $(cat next/file next/link next/.hidden)
		echo new: $(ls next/new)
		test -p next/fifo && echo fifo
		echo specs: $(ls specs) $(cat specs/a.json)
		for f in full/made next/made next/new/deep/made specs/made gone/specs/made; do echo mine > $f || exit 1; done
		grep -c "$PWD" /proc/mounts >/dev/null && echo mounts
		echo pid $$
		exit 7`, root))
	want := `full:
next: .hidden fifo file link new zzh
new: deep other
fifo
specs: a.json {}
mounts
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("inside:\n%s\nwant\n%s", got, want)
	}
	if last.Exit != "exit status 7" {
		t.Errorf("%+v", last)
	}
	if after := tree(t, root); !slices.Equal(after, before) {
		t.Errorf("outside:\n%v\nbefore\n%v", after, before)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), root) {
		t.Errorf("a mount is left: %v", err)
	}
}

// TestUnreadable: what the user may not read is no reason not to start.
func TestUnreadable(t *testing.T) {
	root := t.TempDir()
	if err := errors.Join(os.WriteFile(root+"/secret.json", []byte("{}"), 0), os.WriteFile(root+"/open.json", []byte("{}"), 0o644), os.Mkdir(root+"/closed", 0)); err != nil {
		t.Fatal(err)
	}
	got, last := inside(t, Spec{Copied: []string{root, root + "/closed"}}, order{}, "ls "+root)
	if !strings.Contains(got, "open.json") || last.Exit != "exit status 0" {
		t.Errorf("%s%+v", got, last)
	}
}

// TestVanishing: a directory that is shown again may change meanwhile.
func TestVanishing(t *testing.T) {
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var churn sync.WaitGroup
	defer churn.Wait()
	defer cancel()
	churn.Go(func() {
		for ctx.Err() == nil {
			for i := range 100 {
				name := fmt.Sprintf("%s/%d", root, i)
				_ = os.WriteFile(name, nil, 0o644)
				_ = os.Remove(name)
			}
		}
	})
	for range 20 {
		if _, last := inside(t, Spec{Empty: []string{root + "/new"}}, order{}, "true"); last.Exit != "exit status 0" {
			t.Errorf("%+v", last)
		}
	}
}

// tree lists what is below a directory, with modes and sizes.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			out = append(out, fmt.Sprintf("%s %v %d", path, info.Mode(), info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUnmountedOutside: a sandbox does not keep a file system busy that is
// unmounted while it runs.
func TestUnmountedOutside(t *testing.T) {
	needsNamespaces(t)
	// Unmounts are told by the file system above, if it is shared, as systemd makes
	// all of them.
	above := t.TempDir()
	dir := filepath.Join(above, "volume")
	if err := syscall.Mount("tmpfs", above, "tmpfs", 0, ""); err != nil {
		t.Skipf("no file system may be mounted here: %v", err)
	}
	defer func() { _ = syscall.Unmount(above, syscall.MNT_DETACH) }()
	if err := errors.Join(syscall.Mount("", above, "", syscall.MS_SHARED, ""), os.Mkdir(dir, 0o755), syscall.Mount("tmpfs", dir, "tmpfs", 0, "")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	mark := fmt.Sprintf("89%d", os.Getpid())
	box, err := Start(ctx, []string{"stage"}, Spec{Command: []string{"/bin/sleep", mark}, Env: os.Environ(), Dir: "/"}, order{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var s said
	if err := box.Next(&s); err != nil {
		t.Fatal(err)
	}
	inside := func() bool {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(running(t, mark)[0]), "mounts"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), " "+dir+" ")
	}
	if !inside() {
		t.Error("the program does not see the file system")
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	if inside() {
		t.Error("the program keeps the file system busy")
	}
	cancel()
	for err == nil {
		err = box.Next(&s)
	}
	if err := box.Wait(); err != nil {
		t.Error(err)
	}
}
