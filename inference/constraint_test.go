package inference

import (
	"errors"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		expr        string
		n           int
		first, last string
	}{
		{"containerd@1.7.24", 1, "containerd@1.7.24", "containerd@1.7.24"},
		{"containerd@1.7", 1, "containerd@1.7.36", "containerd@1.7.36"},
		{"containerd@v1.7", 1, "containerd@1.7.36", "containerd@1.7.36"},
		{"containerd@1.7.x", 37, "containerd@1.7.0", "containerd@1.7.36"},
		{"containerd@1.7.*", 37, "containerd@1.7.0", "containerd@1.7.36"},
		{"containerd@>=1.7.7 <2.2", 30 + 14 + 10, "containerd@1.7.7", "containerd@2.1.9"},
		{"containerd@~1.7.30", 7, "containerd@1.7.30", "containerd@1.7.36"},
		{"containerd@^2.3", 11, "containerd@2.3.0", "containerd@2.4.2"},
		{"cri-o@all", 120, "cri-o@1.26.0", "cri-o@1.36.3"},
		{"containerd@all", 82, "containerd@1.7.0", "containerd@2.4.2"},
		{"cri-o@main", 1, "cri-o@main", "cri-o@main"},
		{"containerd@2.0.0-rc.5", 1, "containerd@2.0.0-rc.5", "containerd@2.0.0-rc.5"},
		{"containerd://2.0.5-k3s1", 1, "containerd@2.0.5+k3s1", "containerd@2.0.5+k3s1"},
		{"containerd@2.0.5-k3s1", 1, "containerd@2.0.5+k3s1", "containerd@2.0.5+k3s1"},
		{"containerd@9.9.9", 1, "containerd@9.9.9", "containerd@9.9.9"},
		{"crio version 1.36.0", 1, "cri-o@1.36.0", "cri-o@1.36.0"},
		{"v2@2.0.2", 1, "containerd@2.0.2", "containerd@2.0.2"},
	} {
		got, err := Builtin().Select(test.expr)
		if err != nil || len(got) != test.n || got[0].String() != test.first || got[len(got)-1].String() != test.last {
			t.Errorf("Select(%q) = %d runtimes %v, %v; want %d, %s to %s", test.expr, len(got), got, err, test.n, test.first, test.last)
		}
		for _, r := range got {
			if len(got) > 1 && r.Version.Prerelease() {
				t.Errorf("Select(%q) has the pre-release %s", test.expr, r)
			}
		}
	}
}

func TestSelectRefuses(t *testing.T) {
	for _, test := range []struct{ expr, says string }{
		{"", "empty"},
		{"containerd@>=9", "no release in the table matches: it has 1.7.0 to 2.4.2"},
		{"containerd@9.9", "no release in the table matches"},
		{"containerd@>=banana", "no range"},
		{"containerd@>=1.7 <", "no range"},
		{"containerd@1.x", "a line is MAJOR.MINOR.x"},
		{"podman@>=1", "unknown runtime"},
		{"docker@all", "Docker"},
		{"containerd@>" + strings.Repeat("=", 500), "at most"},
	} {
		got, err := Builtin().Select(test.expr)
		var bad *RuntimeError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("Select(%.40q) = %v, %v; want an error that says %q", test.expr, got, err, test.says)
		}
	}
}

func FuzzSelect(f *testing.F) {
	for _, s := range []string{"containerd@>=1.7.7 <2.2", "cri-o@1.30.x", "containerd@all", "containerd@^2 || ~1.7.30", "containerd@1.7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Builtin().Select(s)
		if (err == nil) != (len(got) > 0) {
			t.Fatalf("Select(%q) = %v, %v", s, got, err)
		}
	})
}
