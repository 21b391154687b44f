package node

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// Container is the container in which a process runs.
type Container struct {
	// ID is the container's id, 64 hexadecimal digits.
	ID string
	// Engine is what runs the container, where the cgroup path says so:
	// "containerd", "cri-o", "docker", "podman"; else empty.
	Engine string
	// PodUID is the UID of the pod, as in metadata.uid; empty outside of
	// Kubernetes.
	PodUID string
	// Namespace, Pod and Name are the names of the pod and of the container in it;
	// empty if the node does not tell.
	Namespace, Pod, Name string
}

// Forms of the last parts of cgroup paths.
var (
	containerScope = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:([a-z-]+?)-)?([0-9a-f]{64})(?:\.scope)?$`)
	})
	podSlice = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|-)pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$`)
	})
)

// containerOf reads a /proc/PID/cgroup file. It knows cgroup v1 and v2, the
// cgroupfs and the systemd driver, and the names that containerd, CRI-O, Docker
// and Podman give; nil if the process is in none of their containers.
func containerOf(cgroups []byte) *Container {
	for line := range strings.Lines(string(cgroups)) {
		// N:CONTROLLERS:PATH; the path itself may have colons.
		f := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		if c := containerAt(f[2]); c != nil {
			return c
		}
	}
	return nil
}

// containerAt reads one cgroup path. A process can be in a cgroup below that of
// its container, so the innermost part that names a container counts.
func containerAt(cgroup string) *Container {
	parts := strings.Split(path.Clean("/"+cgroup), "/")
	for i := len(parts) - 1; i >= 0; i-- {
		name, slice := parts[i], ""
		// With the systemd driver but a runtime set to cgroupfs, the systemd form
		// SLICE:PREFIX:ID becomes the name of a directory.
		if f := strings.Split(name, ":"); len(f) == 3 {
			slice, name = f[0], f[1]+"-"+f[2]
		}
		m := containerScope().FindStringSubmatch(name)
		if m == nil {
			continue
		}
		c := &Container{ID: m[2], Engine: engine(m[1], parts[:i])}
		for _, part := range append(parts[:i:i], slice) {
			if p := podSlice().FindStringSubmatch(part); p != nil {
				c.PodUID = strings.ReplaceAll(p[1], "_", "-")
			}
		}
		return c
	}
	return nil
}

// engine tells who runs a container by the prefix of its scope, or by the cgroup
// above.
func engine(prefix string, above []string) string {
	switch prefix {
	case "cri-containerd", "nerdctl":
		return "containerd"
	case "crio":
		return "cri-o"
	case "docker":
		return "docker"
	case "libpod":
		return "podman"
	}
	if n := len(above); n > 0 && above[n-1] == "docker" {
		return "docker"
	}
	return ""
}
