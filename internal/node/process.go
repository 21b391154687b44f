package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Process is a process of the node that is, or looks like, a runtime.
type Process struct {
	PID int
	// Exe is the path of the executable as the process sees it; it need not exist
	// for others. Deleted tells that the file has been replaced or removed since
	// the process started, as an upgrade without a restart does.
	Exe     string
	Deleted bool
	// Args is the command line.
	Args []string
	// Binary is what the executable says; nil if it could not be read, and then
	// Err says why.
	Binary *Binary
	Err    error
}

// Runtime is "containerd" or "cri-o", by the binary or else by the name of the
// program; empty if neither tells.
func (p Process) Runtime() string {
	if p.Binary != nil {
		return p.Binary.Runtime
	}
	for _, name := range p.names() {
		switch name {
		case "containerd":
			return "containerd"
		case "crio":
			return "cri-o"
		}
	}
	return ""
}

// paths are the paths by which the process goes.
func (p Process) paths() []string {
	paths := []string{p.Exe}
	if len(p.Args) > 0 {
		paths = append(paths, p.Args[0])
	}
	return paths
}

// names are the base names by which the process goes.
func (p Process) names() []string {
	names := p.paths()
	for i, n := range names {
		names[i] = path.Base(n)
	}
	return names
}

// Process looks at one process: the one at the other end of an NRI socket. The
// binary is read through the process, so it is the one that runs, also if it is
// in a container or has been replaced.
func (h Host) Process(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, errors.New("process: not visible from this PID namespace")
	}
	p, err := h.process(pid)
	if err != nil {
		return Process{}, err
	}
	h.inspect(&p)
	return p, nil
}

// process reads everything about a process but its binary.
func (h Host) process(pid int) (Process, error) {
	exe, err := os.Readlink(h.proc(pid, "exe"))
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	p := Process{PID: pid}
	p.Exe, p.Deleted = strings.CutSuffix(exe, " (deleted)")
	p.Args, err = h.args(pid)
	return p, err
}

// inspect reads the binary of a process.
func (h Host) inspect(p *Process) {
	b, err := InspectBinary(h.proc(p.PID, "exe"))
	if err != nil {
		p.Err = err
		return
	}
	b.Path = p.Exe
	p.Binary = &b
}

// FindRuntimes finds the containerd and CRI-O processes of the node, also those
// that are a part of k3s and the like, in ascending order of their ids. It is for
// nodes without an NRI socket. A process that is a runtime by its name, but whose
// binary is none or cannot be read, is in the result with its Err. The error is
// about processes that could not be looked at; the result is then incomplete.
func (h Host) FindRuntimes() ([]Process, error) {
	pids, err := h.pids()
	if err != nil {
		return nil, err
	}
	var found []Process
	hidden := 0
	for _, pid := range pids {
		p, err := h.process(pid)
		if errors.Is(err, fs.ErrPermission) {
			// Without the right to see the executable the command line still tells.
			if p.Args, _ = h.args(pid); looksLikeRuntime(p) {
				found = append(found, Process{PID: pid, Args: p.Args, Err: err})
			} else if len(p.Args) > 0 {
				hidden++
			}
			continue
		}
		// A process that has ended, or a thread of the kernel, has no executable.
		if err != nil || !looksLikeRuntime(p) {
			continue
		}
		h.inspect(&p)
		found = append(found, p)
	}
	if hidden > 0 {
		return found, fmt.Errorf("processes: %d could not be looked at: run as root", hidden)
	}
	return found, nil
}

// looksLikeRuntime tells whether a process goes by the name of a runtime. k3s and
// RKE2 start containerd under its own name.
func looksLikeRuntime(p Process) bool {
	return slices.ContainsFunc(p.names(), func(n string) bool { return n == "containerd" || n == "crio" })
}
