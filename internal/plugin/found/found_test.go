package found

import "testing"

func TestReplaced(t *testing.T) {
	for _, test := range []struct{ path, version, by, byVersion, want string }{
		{"k8s.io/kubelet", "v0.34.0", "k8s.io/kubelet", "v0.36.0", "k8s.io/kubelet v0.34.0"},
		{"k8s.io/kubelet", "v0.34.1", "k8s.io/kubelet", "v0.34.1", ""},
		{"github.com/containerd/nri", "v0.8.0", "../nri", "", "github.com/containerd/nri v0.8.0"},
		{"github.com/containerd/nri", "", "example.com/nri", "v0.8.0", "github.com/containerd/nri"},
	} {
		if got := Replaced(test.path, test.version, test.by, test.byVersion); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
