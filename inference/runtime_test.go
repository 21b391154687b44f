package inference

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestRuntimeStrings reads strings that were met in public reports. A line is
// what NRI sends (name and input), or one string that somebody pasted.
func TestRuntimeStrings(t *testing.T) {
	f, err := os.Open("testdata/runtime-strings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		var want struct {
			Name, Input, Runtime, Version, Vendor string
			Commits                               int
			Refused                               bool
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		n++
		got, err := ParseRuntime(want.Input)
		if want.Name != "" {
			got, err = NewRuntime(want.Name, want.Input)
		}
		switch {
		case want.Refused != (err != nil):
			t.Errorf("%q: %v, %v", want.Input, got, err)
		case err == nil && (got.Name != want.Runtime || got.Version.String() != want.Version || got.Vendor != want.Vendor || got.Commits != want.Commits):
			t.Errorf("%q: %+v, want %s %s, vendor %q, %d commits", want.Input, got, want.Runtime, want.Version, want.Vendor, want.Commits)
		}
	}
	if err := lines.Err(); err != nil || n < 60 {
		t.Errorf("read %d strings: %v", n, err)
	}
}

func TestParseRuntime(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"v2@2.0.2", "containerd@2.0.2"},
		{"containerd.io@1.7.27", "containerd@1.7.27"},
		{"containerd containerd.io 1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da", "containerd@1.7.27"},
		{"containerd github.com/containerd/containerd/v2 v2.1.4.m 75cb2b71.m", "containerd@2.1.4.m"},
		{"CRI-O://1.30.14-6.rhaos4.17.gitfa27f6f.el9", "cri-o@1.30.14+6.rhaos4.17.gitfa27f6f.el9"},
		{"crio version 1.36.0\nVersion:        1.36.0\nGitCommit: unknown", "cri-o@1.36.0"},
		{"containerd@2.0.0-rc.5", "containerd@2.0.0-rc.5"},
		{"containerd@2.0.0~rc5-1", "containerd@2.0.0-rc.5+1"},
		{"containerd@2.3.0-rc+unknown", "containerd@2.3.0-rc+unknown"},
		{"containerd@2.0.0-rc.1-5-gabcdef0", "containerd@2.0.0-rc.1-5-gabcdef0"},
		{"containerd://1.7.0-36-g7dd7a09.m", "containerd@1.7.0-36-g7dd7a09.m"},
		{"containerd@1.7.24-5-g0123456789012345678901234567890123456789-dirty", "containerd@1.7.24-5-g0123456789012345678901234567890123456789.m"},
		{"containerd 1.7.22-k3s1", "containerd@1.7.22+k3s1"},
		{"containerd@v2.0.5-k3s1", "containerd@2.0.5+k3s1"},
		{"containerd@2.2.1-0ubuntu1~24.04.2", "containerd@2.2.1+0ubuntu1~24.04.2"},
		{"containerd@1.7.24~ds1", "containerd@1.7.24+ds1"},
		{"containerd://2.4.2+unknown", "containerd@2.4.2+unknown"},
		{"cri-o@main", "cri-o@main"},
		{"kubelet@1.28.3", "kubelet@1.28.3"},
		{"kubelet@v1.30.4-gke.1348000", "kubelet@1.30.4+gke.1348000"},
		{"kubelet@v1.31.4+k3s1", "kubelet@1.31.4+k3s1"},
		{"kubelet@v1.24.16-eks-a483404", "kubelet@1.24.16+eks-a483404"},
		{"Kubernetes v1.30.4", "kubelet@1.30.4"},
		{"Kubernetes v1.38.0-beta.0", "kubelet@1.38.0-beta.0"},
		{"containerd@2.0.0-dev", "containerd@2.0.0-dev"},
		{"containerd@2.0.0-devel1", "containerd@2.0.0+devel1"},
	} {
		r, err := ParseRuntime(test.in)
		if err != nil || r.String() != test.want {
			t.Errorf("ParseRuntime(%q) = %s, %v; want %s", test.in, r, err, test.want)
		}
	}
}

func TestParseRuntimeRefuses(t *testing.T) {
	for _, test := range []struct{ in, says string }{
		{"", "empty"},
		{"v1.31.4+k3s1", "kubelet"},
		{"v1.29.2-gke.1", "kubelet"},
		{"v1.24.16-eks-a483404", "kubelet"},
		{"v1.31.4+k3s1", "kubelet@v1.31.4+k3s1"},
		{"k3s@1.31.4", "not a container runtime"},
		{"kubelet@", "no version"},
		{"kubelet@1.28", "is no version"},
		{"kublet@1.28.0", "did you mean kubelet?"},
		{"docker://24.0.7", "Docker"},
		{"robin://5.3.11", "unknown runtime"},
		{"contanerd@2.1.0", "did you mean containerd?"},
		{"crio-o@1.30.0", "did you mean cri-o?"},
		{"containerd://Unknown", "does not know the version"},
		{"containerd", "no version"},
		{"containerd@", "no version"},
		{"containerd@07269b2", "is no version"},
		{"containerd@1.06.20", "is no version"},
		{"containerd@1.7", "is no version"},
		{"containerd@1.7.24 extra words", "is no version"},
		{"containerd@99999999999999999999.1.1", "is no version"},
		{"containerd@1.7.2\x1b[31m", "is no version"},
		{"2.2.1-0ubuntu1~24.04.2", "containerd@2.2.1-0ubuntu1~24.04.2"},
		{strings.Repeat("containerd@", 1000), "longer than"},
	} {
		r, err := ParseRuntime(test.in)
		var bad *RuntimeError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("ParseRuntime(%.40q) = %s, %v; want an error that says %q", test.in, r, err, test.says)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	sorted := []string{"1.7.0-alpha.1", "1.7.0-beta.0", "1.7.0-beta.2", "1.7.0-beta.10", "1.7.0-rc", "1.7.0-rc.0", "1.7.0", "1.7.1", "1.7.10", "1.10.0", "2.0.0-rc.6", "2.0.0", "main"}
	for i := range sorted {
		for j := range sorted {
			var a, b Version
			if err := a.UnmarshalText([]byte(sorted[i])); err != nil {
				t.Fatal(err)
			}
			if err := b.UnmarshalText([]byte(sorted[j])); err != nil {
				t.Fatal(err)
			}
			if got := a.Compare(b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
}

func FuzzParseRuntime(f *testing.F) {
	for _, s := range []string{
		"containerd@2.0.5-k3s1", "cri-o://1.30.14-6.rhaos4.17.gitfa27f6f.el9", "containerd://1.7.0-36-g7dd7a09.m",
		"crio version 1.36.0", "containerd@1.7.24~ds1", "v2@v2.0.2+unknown", "containerd@2.0.0~rc5", "RuntimeName: x RuntimeVersion: 1.2.3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRuntime(s)
		if err != nil {
			if r != (Runtime{}) {
				t.Fatalf("%q: an error and %+v", s, r)
			}
			return
		}
		again, err := ParseRuntime(r.String())
		if err != nil || again != r {
			t.Fatalf("%q reads as %+v (%s), which reads as %+v, %v", s, r, r, again, err)
		}
		v := r.Version
		if !v.Main && !strings.Contains(s, strings.SplitN(v.String(), "-", 2)[0]) {
			t.Fatalf("%q became %s: the numbers were changed", s, v)
		}
		Builtin().Lookup(r, nil).Answer(6)
	})
}
