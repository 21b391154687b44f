package testruntime

import (
	"bufio"
	"path/filepath"
	"testing"
)

// Kubelet is the half of a real kubelet that device plugins meet, with
// directories of its own and without a cluster.
type Kubelet struct {
	*Process
	// RootDir is its --root-dir.
	RootDir string
	// Registration is the socket on which device plugins register, PodResources
	// that of the pod resources service.
	Registration, PodResources string
}

// StartKubelet starts a binary of [BuildKubelet] and waits until it serves. The
// arguments are its own besides those for the directories, such as
// --feature-gates=KubeletPodResourcesGet=false. It logs.
func StartKubelet(tb testing.TB, binary string, args ...string) *Kubelet {
	tb.Helper()
	dir := directory(tb)
	k := &Kubelet{
		RootDir:      dir,
		Registration: filepath.Join(dir, "device-plugins", "kubelet.sock"),
		PodResources: filepath.Join(dir, "pod-resources", "kubelet.sock"),
	}
	k.Process = start(tb, binary, append([]string{
		"--root-dir=" + dir, "--device-plugins=" + filepath.Dir(k.Registration), "--log",
	}, args...)...)
	if line, err := bufio.NewReader(k.output).ReadString('\n'); err != nil || line != "ready\n" {
		tb.Fatalf("kubelet: %q, %v", line, err)
	}
	return k
}
