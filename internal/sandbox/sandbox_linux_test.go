package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// order is what the stage of these tests is told to do: to wait until the
// program has ended, or for its signal; not to notice that the outer process is
// gone; to say more than anybody wants to know.
type order struct{ Signal, Deaf, Talks bool }

// said is what it reports.
type said struct {
	Exit     string
	Alive    []string
	Stubborn bool
	Ready    bool
}

func TestMain(m *testing.M) {
	role := map[string]func() error{"stage": stage, "outer": outer}[filepath.Base(os.Args[0])]
	if role != nil {
		if err := role(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stage runs the program until it ends, sends a signal, or the outer process is
// gone.
func stage() error {
	var o order
	s, err := Enter(os.Stdin, &o)
	if err != nil {
		return err
	}
	signalled := make(chan os.Signal, 1)
	if o.Signal {
		signal.Notify(signalled, syscall.SIGUSR1)
	}
	if err := s.Run(); err != nil {
		return err
	}
	if err := s.Send(said{Ready: true}); err != nil {
		return err
	}
	if o.Deaf {
		<-s.Ended()
	}
	for n := 0; o.Talks && n < 1000; n++ {
		if err := s.Send(said{Exit: strings.Repeat("x", 1000)}); err != nil {
			return err
		}
	}
	select {
	case <-s.Ended():
	case <-s.Gone():
	case <-signalled:
	}
	out := said{Exit: s.Exit()}
	out.Stubborn = !s.Stop(100 * time.Millisecond)
	out.Alive = s.Alive()
	return s.Send(out)
}

// outer runs a program for ever, with a stage that does not notice anything.
func outer() error {
	box, err := Start(context.Background(), []string{"stage"}, Spec{Command: []string{"/bin/sleep", os.Args[1]}, Dir: "/"}, order{Deaf: true}, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	var s said
	if err := box.Next(&s); err != nil {
		return err
	}
	fmt.Println("it runs")
	return box.Wait()
}

// needsNamespaces skips a test where namespaces may not be made.
func needsNamespaces(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = namespaces()
	if err := cmd.Run(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
}

// inside runs a shell script in a sandbox and returns what it wrote and what
// the stage said last.
func inside(t *testing.T, spec Spec, o order, script string) (string, said) {
	t.Helper()
	needsNamespaces(t)
	var out bytes.Buffer
	spec.Command, spec.Env, spec.Dir = []string{"/bin/sh", "-c", script}, os.Environ(), "/"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	box, err := Start(ctx, []string{"stage"}, spec, o, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	var last said
	for {
		if err = box.Next(&last); err != nil {
			break
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := box.Wait(); err != nil {
		t.Error(err)
	}
	return out.String(), last
}

// TestCannotStart: one clear line for each way in which it can fail.
func TestCannotStart(t *testing.T) {
	needsNamespaces(t)
	dir := t.TempDir()
	file, script, link := filepath.Join(dir, "file"), filepath.Join(dir, "scripts/script"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o644), os.Mkdir(filepath.Dir(script), 0o755), os.WriteFile(script, []byte("#!/no/such/shell\n"), 0o755), os.Symlink("/no-such-directory", link)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		spec Spec
		want string
	}{
		{"no such program", Spec{Command: []string{"/no/such"}}, "start the plugin: fork/exec /no/such: no such file or directory"},
		{"no program", Spec{Command: []string{file}}, "start the plugin: fork/exec " + file + ": permission denied"},
		{"no such directory", Spec{Command: []string{"/bin/true"}, Dir: "/no/such"}, "start the plugin: its directory is not there any more: stat /no/such: no such file or directory"},
		{"a file in the way", Spec{Command: []string{"/bin/true"}, Empty: []string{file}}, "directories of its own for the plugin: mount a tmpfs on " + file + ": not a directory"},
		{"a file above", Spec{Command: []string{"/bin/true"}, Empty: []string{file + "/dir"}}, "directories of its own for the plugin: "},
		{"a link to nothing", Spec{Command: []string{"/bin/true"}, Empty: []string{link + "/dir"}}, link + " leads to /no-such-directory, which is not there"},
		{"no interpreter", Spec{Command: []string{script}}, "no such file or directory: the file is there, but what it names as its interpreter is not"},
		{"hidden", Spec{Command: []string{script}, Empty: []string{filepath.Dir(script)}}, "what is in " + filepath.Dir(script) + " is hidden from it: copy it"},
		{"nothing above", Spec{Command: []string{"/bin/true"}, Empty: []string{"/no-such-directory/dir"}}, "there is no /no-such-directory/dir here"},
	} {
		t.Run(test.name, func(t *testing.T) {
			box, err := Start(t.Context(), []string{"stage"}, test.spec, order{}, io.Discard, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var s said
			err = box.Next(&s)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, test.want)
			}
			if err := box.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAnyBytes: arguments, environment and directory arrive as they are.
func TestAnyBytes(t *testing.T) {
	needsNamespaces(t)
	dir := filepath.Join(t.TempDir(), "d\xff")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	spec := Spec{Command: []string{"/bin/sh", "-c", `printf '%s %s %s' "$0" "$TEXT" "$PWD"`, "a\xfe\u2028\n"}, Env: []string{"TEXT=\xfd<&>"}, Dir: dir}
	box, err := Start(t.Context(), []string{"stage"}, spec, order{}, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	var s said
	for err == nil {
		err = box.Next(&s)
	}
	if err := box.Wait(); err != nil {
		t.Error(err)
	}
	if want := "a\xfe\u2028\n \xfd<&> " + dir; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestStageIsForNamespaces: the command line of the stage does nothing by hand.
func TestStageIsForNamespaces(t *testing.T) {
	if _, err := Enter(strings.NewReader("{}"), &order{}); err == nil || !strings.Contains(err.Error(), "first process of a namespace") {
		t.Error(err)
	}
}

// TestExplain: a refusal says what to do.
func TestExplain(t *testing.T) {
	if err := explain(&os.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: syscall.EPERM}); !strings.Contains(err.Error(), "run as root") || !errors.Is(err, syscall.EPERM) {
		t.Error(err)
	}
	if err := explain(syscall.ENOENT); strings.Contains(err.Error(), "root") {
		t.Error(err)
	}
}

// TestAsUser: who is not root gets a user namespace as well.
func TestAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests show it")
	}
	dir, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sandbox.test")
	if err := errors.Join(os.WriteFile(program, self, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", "^(TestDirectories|TestUnreadable|TestForksAreEnded|TestCannotStart)$")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skipf("a user may not make namespaces here:\n%s", out)
	}
}
