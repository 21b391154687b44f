package testruntime

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build is what to build.
type build struct {
	module string   // directory below testdata/runtimes
	output string   // name of the binary
	pkg    string   // package of the main program; "." for the module's own
	flags  []string // further flags of go build
}

// run builds and gives the path of the binary. Tests in one process may call it
// again; tests in two processes must not build the same output at once.
func (b build) run(tb testing.TB) string {
	tb.Helper()
	root := repository(tb)
	output := filepath.Join(root, ".cache", "runtimes", b.output)
	args := append([]string{"build", "-p", "2", "-trimpath", "-buildvcs=false", "-o", output}, b.flags...)
	cmd := exec.CommandContext(tb.Context(), "go", append(args, b.pkg)...)
	cmd.Dir = filepath.Join(root, "testdata", "runtimes", b.module)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v\n%s", b.output, err, out)
	}
	return output
}

// repository finds the root of the repository above the directory of the test.
func repository(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module github.com/nri-compat/nri-compat\n")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no repository above the directory of the test")
		}
		dir = parent
	}
}

// BuildAdaptation builds the runtime half of an NRI release, such as "v0.8.0",
// and gives the path of the binary. testdata/runtimes has a module for each that
// can be built.
func BuildAdaptation(tb testing.TB, nri string) string {
	tb.Helper()
	return build{module: "nri-" + nri, output: "nri-" + nri, pkg: ".", flags: []string{"-tags", "nri_no_wasm"}}.run(tb)
}

// BuildPlugin builds the real plugin and gives the path of the binary.
func BuildPlugin(tb testing.TB) string {
	tb.Helper()
	return build{module: "plugin", output: "plugin", pkg: "."}.run(tb)
}

// BuildContainerd builds a containerd release, such as "v2.4.2", and gives the
// path of the binary. A stamped one knows its version, as upstream's binaries
// do; the others call themselves "2.4.2+unknown".
func BuildContainerd(tb testing.TB, release string, stamped bool) string {
	tb.Helper()
	module := "github.com/containerd/containerd/v2"
	if strings.HasPrefix(release, "v1.") {
		module = "github.com/containerd/containerd"
	}
	output, ldflags := "containerd-"+release, "-s -w"
	if stamped {
		ldflags += " -X " + module + "/version.Version=" + release
	} else {
		output += "-unstamped"
	}
	return build{
		module: "containerd-" + release,
		output: filepath.Join(output, "containerd"), // the name by which it is found
		pkg:    module + "/cmd/containerd",
		flags:  []string{"-tags", "no_btrfs no_devmapper no_zfs no_aufs", "-ldflags", ldflags},
	}.run(tb)
}

// BuildKubelet builds the half of a kubelet release, such as "v1.34.1", that
// device plugins meet, and gives the path of the binary. It answers --version as
// the kubelet of that release does.
func BuildKubelet(tb testing.TB, release string) string {
	tb.Helper()
	return build{
		module: "kubelet-" + release,
		output: filepath.Join("kubelet-"+release, "kubelet"), // the name by which it is found
		pkg:    "./kubelet",
		flags:  []string{"-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + release},
	}.run(tb)
}
