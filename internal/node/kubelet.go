package node

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/module"
)

const (
	// DevicePlugins is the directory in which device plugins and the kubelet have
	// their sockets. No flag of the kubelet changes it.
	DevicePlugins = "/var/lib/kubelet/device-plugins"
	// kubeletRoot is the kubelet's --root-dir by default.
	kubeletRoot = "/var/lib/kubelet"
)

// Kubelet is a process of the node that is a kubelet, or has one inside.
type Kubelet struct {
	// Process has no Binary. Its Err says why something about it cannot be seen.
	Process
	// Inside is the program that the kubelet is a part of, such as "k3s"; empty for
	// a kubelet with a process of its own.
	Inside string
	// File is a path under which the executable can be read from here, also if it
	// is in a container or has been replaced.
	File string
	// Built is the version that the build information of the executable tells, and
	// InPath the one that the name of its directory tells, as in
	// /var/lib/minikube/binaries/v1.34.0/kubelet; empty if they tell none. Upstream's
	// builds tell none.
	Built, InPath string

	host Host // the files as the process sees them
}

// Path gives the path under which a file of the kubelet, which may be in a
// container, can be opened from here.
func (k Kubelet) Path(file string) string { return k.host.path(file) }

// PodResources is the socket of the pod resources service as the kubelet names
// it.
func (k Kubelet) PodResources() string {
	root := kubeletRoot
	if v, ok := flagValue(normalized(k.Args), "root-dir"); k.Inside == "" && ok {
		root = k.host.absolute(k.Process, v)
	}
	return path.Join(root, "pod-resources", "kubelet.sock")
}

// FindKubelets finds the kubelets of the node: first those that see the same files
// as this process, then those in containers, and after all of them, in the same
// order, those of ordinary users: a kubelet is root's, and anyone may call a program
// so. Each are in ascending order of their process ids. Programs that have a kubelet
// inside, or start one of their own, are among them if no process beside them is a
// kubelet. The error is about processes that could not be looked at; the result is
// then incomplete.
func (h Host) FindKubelets() ([]Kubelet, error) {
	pids, err := h.pids()
	if err != nil {
		return nil, err
	}
	var here, elsewhere, users, usersElsewhere []Kubelet
	hidden := 0
	for _, pid := range pids {
		p, err := h.process(pid)
		if errors.Is(err, fs.ErrPermission) {
			// Without the right to see the executable the command line still tells.
			p.PID, p.Err = pid, err
			p.Args, _ = h.args(pid)
			if _, ok := kubeletIn(p); !ok && len(p.Args) > 0 {
				hidden++
			}
		} else if err != nil {
			continue // It has ended, or is a thread of the kernel.
		}
		program, ok := kubeletIn(p)
		if !ok {
			continue
		}
		k := h.kubelet(p, program)
		switch user := k.isUsers(); {
		case k.host == h && !user:
			here = append(here, k)
		case !user:
			elsewhere = append(elsewhere, k)
		case k.host == h:
			users = append(users, k)
		default:
			usersElsewhere = append(usersElsewhere, k)
		}
	}
	// A kubelet in a container, as of a cluster for tests, or of an ordinary user
	// does not make the k3s of the node one that has none.
	found := slices.Concat(ownOnes(here), ownOnes(elsewhere), ownOnes(users), ownOnes(usersElsewhere))
	if hidden > 0 {
		return found, fmt.Errorf("processes: %d could not be looked at: run as root", hidden)
	}
	return found, nil
}

// ownOnes gives the kubelets with a process of their own, or all if none has one.
func ownOnes(all []Kubelet) []Kubelet {
	isInside := func(k Kubelet) bool { return k.Inside != "" }
	if own := slices.DeleteFunc(slices.Clone(all), isInside); len(own) > 0 {
		return own
	}
	return all
}

// userID is the line of /proc/PID/status with the user that a process runs as.
var userID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Uid:\t\d+\t(\d+)\t`) })

// isUsers tells whether a process is an ordinary user's: not root's, and not one
// whose user cannot be seen.
func (k Kubelet) isUsers() bool {
	text, err := readBounded(path.Join(path.Dir(k.File), "status"), maxProcFile)
	if err != nil {
		return false
	}
	m := userID().FindSubmatch(text)
	return m != nil && string(m[1]) != "0"
}

// kubelet describes a process that is a kubelet.
func (h Host) kubelet(p Process, program string) Kubelet {
	k := Kubelet{Process: p, Inside: program, File: h.proc(p.PID, "exe")}
	var err error
	if k.host, err = h.seenBy(p.PID); err != nil && k.Err == nil {
		k.Err = err
	}
	if k.Err == nil {
		k.Built = kubeletBuild(k.File)
	}
	if program == "" {
		k.InPath = versionInPath(k.paths())
	}
	return k
}

// kubeletIn tells whether a process is a kubelet, or has one inside: then program
// is its name. The words after the name decide for programs that are many things.
func kubeletIn(p Process) (program string, ok bool) {
	word := ""
	if len(p.Args) > 1 {
		word = p.Args[1]
	}
	for _, name := range p.names() {
		switch {
		case slices.Contains(p.Args, "--version") || slices.Contains(p.Args, "--help"):
			return "", false // It says something and ends.
		case name == "kubelet":
			return "", true
		case name == "kubelite":
			return "microk8s", true
		case name == "hyperkube" && word == "kubelet":
			return "hyperkube", true
		case name == "k3s" && (word == "server" && !slices.Contains(p.Args, "--disable-agent") || word == "agent"),
			name == "rke2" && (word == "server" || word == "agent"),
			name == "k0s" && (word == "worker" || word == "controller" && (slices.Contains(p.Args, "--enable-worker") || slices.Contains(p.Args, "--single"))):
			return name, true
		}
	}
	return "", false
}

// seenBy gives the host as a process sees its files: the same, unless the process
// has another root, as one in a container has.
func (h Host) seenBy(pid int) (Host, error) {
	root := h.proc(pid, "root")
	theirs, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil // It has ended.
	}
	if err != nil {
		return h, fmt.Errorf("the files of process %d: %w", pid, err)
	}
	ours, err := os.Stat(h.path("/"))
	if err == nil && os.SameFile(ours, theirs) {
		return h, nil
	}
	return Host{Root: root, Proc: h.Proc}, nil
}

// Forms of versions of Kubernetes.
var (
	linkedVersion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`-X[ =]['"]?\S*k8s\.io/(?:component-base|kubernetes/pkg|client-go/pkg)/version\.gitVersion=(v[0-9]+\.[0-9]+\.[0-9]+[^\s'"]*)`)
	})
	pathVersion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^v?1\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$`)
	})
)

// kubeletBuild reads the version of the kubelet in an executable from its build
// information: the one that was linked into it, else that of the module
// k8s.io/kubernetes. It is empty if neither is there.
func kubeletBuild(file string) string {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key != "-ldflags" {
			continue
		}
		if all := linkedVersion().FindAllStringSubmatch(s.Value, -1); len(all) > 0 {
			return all[len(all)-1][1] // the last one counts
		}
	}
	modules := append(info.Deps, &info.Main)
	for _, m := range modules {
		if m.Path != "k8s.io/kubernetes" {
			continue
		}
		real, _, _ := provider(m)
		if strings.HasPrefix(real.Version, "v1.") && !module.IsPseudoVersion(real.Version) {
			return real.Version
		}
	}
	return ""
}

// versionInPath finds a version among the directories of an executable.
func versionInPath(paths []string) string {
	for _, p := range paths {
		for _, part := range strings.Split(path.Dir(p), "/") {
			if pathVersion().MatchString(part) {
				return part
			}
		}
	}
	return ""
}
