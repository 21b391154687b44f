package kubelet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestVersionGivesNoRights: a program that is named kubelet, but has fewer rights
// than who asks it, is not run.
func TestVersionGivesNoRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has rights that others have not")
	}
	built, _ := versionProgram(t, "answer")
	text, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	namespace := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	for _, test := range []struct {
		name  string
		owner int
		mode  os.FileMode
		attr  *syscall.SysProcAttr
		says  string
	}{
		{"root's", 0, 0o755, nil, ""},
		{"somebody runs root's file", 0, 0o755, nobody, "is run by user 65534, who is not root"},
		{"somebody runs a file of his own", 65534, 0o755, nobody, "belongs to user 65534, not to root"},
		{"root runs somebody's file", 65534, 0o755, nil, "belongs to user 65534, not to root"},
		{"root runs a file that everybody can change", 0, 0o777, nil, "can be changed by others than its owner (mode 0777)"},
		{"root of a user namespace", 0, 0o755, namespace, "is run in another user namespace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "kubelet")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			file := filepath.Join(dir, "kubelet")
			for _, err := range []error{
				os.Chmod(dir, 0o755), // so that everybody can run it
				os.WriteFile(file, text, 0o755),
				os.Chown(file, test.owner, test.owner),
				os.Chmod(file, test.mode),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			// It waits for the end of its input.
			cmd := exec.Command(file, "--version")
			cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, test.attr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				if test.attr == namespace {
					t.Skipf("a user namespace cannot be made here: %v", err)
				}
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
			got, err := Version(t.Context(), fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
			if test.says == "" {
				if got != "v1.34.1" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if got != "" || err == nil || !strings.Contains(err.Error(), "it was not asked, because /proc/") || !strings.HasSuffix(err.Error(), test.says) {
				t.Errorf("%q, %v; want %q", got, err, test.says)
			}
		})
	}
}

// TestVersionNeedsTheRightsOfTheProcess: a process that lacks a capability, or of
// which that is not known, is not trusted.
func TestVersionNeedsTheRightsOfTheProcess(t *testing.T) {
	good, _ := versionProgram(t, "answer")
	ours, err := rightsOf("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	status := func(uid int, capabilities uint64) string {
		return fmt.Sprintf("Name:\tkubelet\nUid:\t1\t%d\t1\t1\nCapEff:\t%016x\n", uid, capabilities)
	}
	tests := map[string]struct{ status, says string }{
		"all and more":     {status(ours.uid, ^uint64(0)), ""},
		"another user":     {status(ours.uid+1, ^uint64(0)), fmt.Sprintf("is run by user %d", ours.uid+1)},
		"no status":        {"", "does not tell the rights of the process"},
		"no capabilities":  {"Uid:\t0\t0\t0\t0\n", "does not tell the rights of the process"},
		"no user":          {"CapEff:\tffffffffffffffff\n", "does not tell the rights of the process"},
		"a strange number": {"Uid:\t0\troot\t0\t0\nCapEff:\tffffffffffffffff\n", "has rights that cannot be seen"},
	}
	for bit := uint64(1); bit != 0; bit <<= 1 {
		if ours.capabilities&bit != 0 {
			tests[fmt.Sprintf("without %x", bit)] = struct{ status, says string }{status(0, ^bit), "is run with fewer capabilities"}
		}
	}
	for name, test := range tests {
		file := exeOf(t, good)
		process := filepath.Join(filepath.Dir(file), "status")
		if err := os.Remove(process); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(process, []byte(test.status), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = trusted(f, file)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v; want %q", name, err, test.says)
		}
		f.Close()
	}
	// A process that has become another program since is not trusted for the one
	// that it was.
	f, err := os.Open(good)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trusted(f, exeOf(t, "/bin/true")); err == nil || !strings.Contains(err.Error(), "another program by now") {
		t.Errorf("%v", err)
	}
}

// FuzzRightsOf: nothing of what a file can say is a panic, and rights are read only
// from one that names both.
func FuzzRightsOf(f *testing.F) {
	f.Add([]byte("Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"))
	f.Add([]byte("Uid:\nCapEff:\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "status")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := rightsOf(file)
		if err == nil && (r.uid < 0 || !strings.Contains(string(text), "Uid:") || !strings.Contains(string(text), "CapEff:")) {
			t.Fatalf("%+v", r)
		}
	})
}
