package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkCommands times whole processes of the released binary, each next to
// one of --help, and reports how many times as long they take. It reports the
// size of the binary too.
func BenchmarkCommands(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "nri-compat")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"infer", []string{"infer", "containerd@2.1.3"}},
		{"check", []string{"check", "--requires", "ADJUST_CDI_DEVICES,ADJUST_MOUNTS", "--runtime", "containerd@2.1.3"}},
		{"matrix", []string{"matrix"}},
		{"check-3-plugins", append([]string{"check", "--runtime", "containerd@2.4.2"}, threePlugins(b)...)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var help, command time.Duration
			for b.Loop() {
				help += runTime(b, bin, "--help")
				command += runTime(b, bin, bench.args...)
			}
			b.ReportMetric(float64(command)/float64(help), "times--help")
			b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
		})
	}
}

func runTime(b *testing.B, bin string, args ...string) time.Duration {
	cmd := exec.Command(bin, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) {
		b.Fatalf("%v: %v", args, err)
	}
	return time.Since(start)
}

// threePlugins builds three plugins of the size that plugins usually have.
func threePlugins(b *testing.B) []string {
	dir := b.TempDir()
	var paths []string
	for _, name := range []string{"ulimits", "devices", "limits"} {
		path := filepath.Join(dir, name)
		build := exec.Command("go", "build", "-o", path, ".")
		build.Dir = filepath.Join("testdata", "plugins", name)
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		paths = append(paths, path)
	}
	return paths
}
