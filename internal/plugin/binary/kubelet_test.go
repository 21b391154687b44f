package binary

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/testruntime"
)

// buildKubelet builds a test plugin and returns its executable.
func buildKubelet(t *testing.T, dir, goos, arch, ldflags string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), dir)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", out, ".")
	cmd.Dir = filepath.Join("../../../testdata/plugins", dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS="+goos, "GOARCH="+arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		if dir == "kubelet-intel" && testruntime.ModuleRefused(string(text)) {
			t.Skipf("its framework cannot be had here: %s", text)
		}
		t.Fatalf("build %s for %s/%s: %v\n%s", dir, goos, arch, err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKubeletPlugins: what an executable tells is found however it was built,
// and what it does not tell is never claimed and always said.
func TestKubeletPlugins(t *testing.T) {
	for _, test := range []struct {
		dir, arch, ldflags string
		version            string
		needs              string // those that are wanted in brackets, those not proven with a question mark, those of a group after its name
		gap                string
	}{
		{"kubelet-plain", "amd64", "-s -w", "v0.29.0", "DEVICE_PLUGIN_V1BETA1", "use its source"},
		{"kubelet-cdi", "amd64", "-s -w", "v0.33.0", "DEVICE_PLUGIN_V1BETA1", "use its source"},
		{"kubelet-early", "amd64", "", "v0.34.0", "DEVICE_PLUGIN_V1BETA1", "nor whether it serves before it registers"},
		{"kubelet-cdi-new", "amd64", "-s -w", "v0.37.0", "DEVICE_PLUGIN_V1BETA1", "use its source"},
		{"kubelet-framework", "amd64", "-s -w", "v0.34.0", "DEVICE_PLUGIN_V1BETA1 DEVICE_PREFERRED_ALLOCATION? DEVICE_PRESTART_CONTAINER?", "which devices it hands out"},
		{"kubelet-intel", "amd64", "-s -w", "v0.36.0", "DEVICE_PLUGIN_V1BETA1 DEVICE_PREFERRED_ALLOCATION? DEVICE_PRESTART_CONTAINER?", "which devices it hands out"},
		{"kubelet-client", "arm64", "-s -w", "v0.37.0", "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1", "it can serve dra/v1, dra/v1beta1"},
	} {
		t.Run(test.dir, func(t *testing.T) {
			data := buildKubelet(t, test.dir, "linux", test.arch, test.ldflags)
			p, err := InspectKubelet(t.Context(), bytes.NewReader(data), int64(len(data)), test.dir)
			if err != nil {
				t.Fatal(err)
			}
			var needs []string
			for _, r := range p.Requirements {
				name := r.Capability.String()
				if r.OneOf != "" {
					name = r.OneOf + ":" + name
				}
				if r.Level == capability.Wants {
					name = "(" + name + ")"
				}
				if r.Unproven {
					name += "?"
				}
				needs = append(needs, name)
				if len(r.Evidence) == 0 || r.Source != capability.FromBinary {
					t.Errorf("%s: %+v", name, r)
				}
			}
			if got := strings.Join(needs, " "); got != test.needs {
				t.Errorf("needs %s, want %s", got, test.needs)
			}
			if p.Kubelet.Module != "k8s.io/kubelet" || p.Kubelet.Version != test.version || len(p.Kubelet.APIs) == 0 || p.Identity.Arch != test.arch {
				t.Errorf("%+v, %+v", p.Kubelet, p.Identity)
			}
			if !slices.ContainsFunc(p.Gaps, func(g string) bool { return strings.Contains(g, test.gap) }) {
				t.Errorf("gaps %q", p.Gaps)
			}
			if _, err := Inspect(t.Context(), bytes.NewReader(data), int64(len(data)), test.dir); !errors.Is(err, ErrNoAPI) {
				t.Errorf("as an NRI plugin: %v", err)
			}
		})
	}
}

// TestKubeletForeign: of an executable for another system the module is known,
// and that nothing else is.
func TestKubeletForeign(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for another system")
	}
	data := buildKubelet(t, "kubelet-plain", "darwin", "arm64", "")
	p, err := InspectKubelet(t.Context(), bytes.NewReader(data), int64(len(data)), "plain")
	if err != nil || p.Kubelet.Version != "v0.29.0" || len(p.Requirements) != 0 || len(p.Gaps) != 1 || !strings.Contains(p.Gaps[0], "Mach-O") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestKubeletRefuses(t *testing.T) {
	nri := buildKubelet(t, "devices", "linux", "amd64", "-s -w")
	plain := buildKubelet(t, "kubelet-plain", "linux", "amd64", "-s -w")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		data []byte
		want error
	}{
		{"an NRI plugin", t.Context(), nri, ErrNoKubeletAPI},
		{"a script", t.Context(), []byte("#!/bin/sh\n"), ErrScript},
		{"nothing", t.Context(), nil, ErrNotExecutable},
		{"interrupted", canceled, plain, context.Canceled},
	} {
		if p, err := InspectKubelet(test.ctx, bytes.NewReader(test.data), int64(len(test.data)), "x"); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v", test.name, p, err)
		}
	}
	// Whatever is cut off or broken, it ends with an error or a gap.
	for n := 1; n < 40; n++ {
		broken := slices.Clone(plain[:len(plain)*n/40])
		for i := range 50 {
			broken[(i*7919+n*104729)%len(broken)] ^= 0xff
		}
		p, err := InspectKubelet(t.Context(), bytes.NewReader(broken), int64(len(broken)), "x")
		if err == nil && len(p.Gaps) == 0 {
			t.Errorf("broken at %d of 40: %+v", n, p)
		}
	}
}
