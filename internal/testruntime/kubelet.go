package testruntime

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
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

	answers *bufio.Reader
}

// notYet is what a kubelet says that has not got a list with a healthy device.
var notYet = regexp.MustCompile(`requested number of devices unavailable|no healthy devices present|cannot allocate unregistered device`)

// Allocate lets it allocate one device of a resource, as it does for a container
// that is about to start. It waits until there is a device. The error is the
// kubelet's.
func (k *Kubelet) Allocate(tb testing.TB, resource string) error {
	tb.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(10 * time.Millisecond) {
		if _, err := fmt.Fprintln(k.stdin, resource); err != nil {
			tb.Fatal(err)
		}
		line, err := k.answers.ReadString('\n')
		if err != nil {
			tb.Fatalf("kubelet: %v", err)
		}
		switch line = strings.TrimSpace(line); {
		case line == "ok":
			return nil
		case line != "none" && !notYet.MatchString(line):
			return errors.New(strings.TrimPrefix(line, "error: "))
		}
	}
	tb.Fatalf("the kubelet has no device of %s after %s", resource, patience)
	return nil
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
	k.answers = bufio.NewReader(k.output)
	if line, err := k.answers.ReadString('\n'); err != nil || line != "ready\n" {
		tb.Fatalf("kubelet: %q, %v", line, err)
	}
	return k
}
