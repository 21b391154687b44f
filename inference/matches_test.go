package inference

import (
	"slices"
	"testing"
)

// TestMatchesAgreesWithSelect: for the releases of the table both say the same.
func TestMatchesAgreesWithSelect(t *testing.T) {
	table := Builtin()
	for _, expr := range []string{
		"containerd@1.7.24", "containerd@1.7", "containerd@1.7.x", "containerd@>=1.7.7 <2.2", "cri-o@all", "containerd://2.0.5",
		"cri-o@main", "containerd@2.0.0-rc.5", "v2@2.0.2", "containerd@~1.7.3 || >=2.2",
	} {
		selected, err := table.Select(expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.Releases("") {
			r := Runtime{Name: row.Runtime, Version: row.Version}
			want := slices.ContainsFunc(selected, func(s Runtime) bool { return s.Name == r.Name && s.Version.Compare(r.Version) == 0 })
			if got, err := table.Matches(expr, r); err != nil || got != want {
				t.Errorf("%s matches %s: %v, %v", expr, r, got, err)
			}
		}
	}
}

func TestMatchesBeyondTheTable(t *testing.T) {
	for _, tt := range []struct {
		expr, runtime string
		want          bool
	}{
		{"containerd@<2.3", "containerd@2.2.99", true},
		{"containerd@2.2.x", "containerd://2.2.3-k3s1", true},
		{"containerd@2.2.3", "containerd://2.2.3-k3s1", true},
		{"containerd://2.2.3-k3s1", "containerd@2.2.3", false},
		{"containerd@>=9", "containerd@9.9.9", true},
		{"containerd@9.9.x", "cri-o@9.9.9", false},
		{"containerd@<2.3", "containerd@2.2.0-rc.1", false},
	} {
		r, err := ParseRuntime(tt.runtime)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Builtin().Matches(tt.expr, r); err != nil || got != tt.want {
			t.Errorf("%s matches %s: %v, %v", tt.expr, tt.runtime, got, err)
		}
	}
	for _, expr := range []string{"", "contanerd@1.7", "docker@all", "containerd@>=", "containerd@1.7.x.y"} {
		if ok, err := Builtin().Matches(expr, Runtime{}); err == nil || ok {
			t.Errorf("%q: %v, %v", expr, ok, err)
		}
	}
}
