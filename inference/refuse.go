package inference

import (
	"fmt"
	"strings"
)

// The reasons for which [ParseRuntime] refuses a string. Each says what the
// string seems to be and what to pass instead.

// unnamedReason explains a version without a name. Most of these are versions
// of the kubelet, which stand next to the runtime's in `kubectl get nodes`.
func unnamedReason(version string) (reason, hint string) {
	if kubeletVersion(version) {
		return "that is a version of the kubelet",
			"pass the runtime of the node, as `kubectl get nodes -o wide` shows it under CONTAINER-RUNTIME, or for device plugins kubelet@" + shorten(version)
	}
	return "it does not say which runtime",
		fmt.Sprintf("write containerd@%s or cri-o@%s", shorten(version), shorten(version))
}

// kubeletVersion recognises the suffixes of Kubernetes distributions that only
// the kubelet carries.
func kubeletVersion(version string) bool {
	_, rest, ok := cutVersion(version)
	if !ok || rest == "" {
		return false
	}
	for _, mark := range []string{"+k3s", "+rke2", "+k0s", "-eks-", "-gke."} {
		if strings.HasPrefix(rest, mark) {
			return true
		}
	}
	return false
}

func foreignReason(name string) (reason, hint string) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "docker", "cri-dockerd":
		return "Docker Engine is not in the table",
			"its containerd can be asked for: pass the line of `containerd --version`"
	case "k3s", "rke2", "k0s":
		return fmt.Sprintf("%s is not a container runtime", shorten(name)),
			"pass the runtime of the node, as `kubectl get nodes -o wide` shows it under CONTAINER-RUNTIME, or kubelet@VERSION"
	}
	reason = fmt.Sprintf("unknown runtime %q (one of %s)", shorten(name), strings.Join(Runtimes(), ", "))
	if near := nearestRuntime(name); near != "" {
		return reason, "did you mean " + near + "?"
	}
	return reason, ""
}

// nearestRuntime finds the name that a person may have mistyped: one with the
// same letters but for two at most.
func nearestRuntime(name string) string {
	name = strings.ToLower(name)
	for _, known := range append(Runtimes(), "crio") {
		if len(name) < 3 || len(name) > len(known)+2 {
			continue
		}
		missing := 0
		rest := name
		for _, c := range known {
			if i := strings.IndexRune(rest, c); i >= 0 {
				rest = rest[:i] + rest[i+len(string(c)):]
			} else {
				missing++
			}
		}
		if missing+len(rest) <= 2 {
			canonical, _ := canonicalRuntime(known)
			return canonical
		}
	}
	return ""
}

func versionReason(version string) (reason, hint string) {
	switch {
	case version == "":
		return "it has no version", "write NAME@VERSION, such as containerd@2.1.3"
	case strings.EqualFold(version, "unknown"):
		return "the node does not know the version of its runtime",
			"pass what the runtime says itself: the line of `containerd --version` or `crio version`"
	}
	return fmt.Sprintf("%q is no version", shorten(version)),
		"a version is MAJOR.MINOR.PATCH and may have a suffix, such as 2.1.3 or 1.7.22-k3s1"
}
