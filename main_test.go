package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nri-compat/nri-compat/cmd"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"nri-compat": main,
	})
}

// TestScripts runs the program as users do: each script shows commands, their
// output and their exit status.
func TestScripts(t *testing.T) {
	plugins := buildPlugins(t, "ulimits", "devices", "limits", "kubelet-plain", "kubelet-cdi", "kubelet-early", "kubelet-client", "kubelet-misbehaves")
	sources, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("PLUGINS", plugins)
			env.Setenv("TESTPLUGINS", filepath.Join(sources, "testdata", "plugins"))
			// Source code is read with the go command, which needs these.
			for _, name := range []string{"HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS"} {
				env.Setenv(name, os.Getenv(name))
			}
			return nil
		},
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			if name != "namespaces" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return canObserve(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"schema": validate,
		},
	})
}

// status runs a program and checks its exit status:
// status 3 nri-compat check …
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want := args[0]; want != itoa(got) {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
}

// run is the program in this process.
func run(args []string, env []string) (code int, stdout, stderr string) {
	var out, errs buffer
	code = cmd.Main(context.Background(), append([]string{"nri-compat"}, args...), env, os.Stdin, &out, &errs)
	return code, out.String(), errs.String()
}

// buildPlugins builds test plugins, stripped and with reproducible paths, and
// returns the directory they are in.
func buildPlugins(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), ".")
		build.Dir = filepath.Join("testdata", "plugins", name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return dir
}
