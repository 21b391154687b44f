package node

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// ConnectedPlugin is a process that is connected to the NRI socket.
type ConnectedPlugin struct {
	// PID is the process; 0 if the connection is known but not its process.
	PID int
	// Exe is the path of its executable as it sees it, in its container.
	Exe string
	// Binary is a path under which the executable can be read from here, also if
	// it is in a container or has been removed.
	Binary string
	// Args is its command line.
	Args []string
	// Container is the container it runs in; nil if it is in none.
	Container *Container
}

// Connections are the plugins that are connected to a socket.
type Connections struct {
	// Plugins are ordered by process id, one for each connection.
	Plugins []ConnectedPlugin
	// Gaps say, one sentence each, what could not be seen. While it is not empty
	// there may be more plugins.
	Gaps []string
}

// ConnectedPlugins finds the processes that are connected to a unix socket, which
// is named by its path on the node. It asks the kernel for the sockets of each
// network namespace, and looks the processes up by their open files. Linux only;
// it needs root to see all.
func (h Host) ConnectedPlugins(ctx context.Context, socket string) (Connections, error) {
	if _, err := os.Stat(h.path(socket)); err != nil {
		return Connections{}, fmt.Errorf("connected plugins: %w", err)
	}
	var c Connections
	peers, gaps, err := h.peers(ctx, socket)
	if err != nil {
		return Connections{}, fmt.Errorf("connected plugins: %w", err)
	}
	c.Gaps = append(c.Gaps, gaps...)
	if len(peers) == 0 {
		return c, nil
	}
	owners, hidden, err := h.owners(peers)
	if err != nil {
		return Connections{}, fmt.Errorf("connected plugins: %w", err)
	}
	names, err := h.podNames()
	if err != nil {
		c.Gaps = append(c.Gaps, err.Error())
	}
	for inode := range peers {
		pid, ok := owners[inode]
		if !ok {
			c.Plugins = append(c.Plugins, ConnectedPlugin{})
			continue
		}
		p, err := h.connected(pid, names)
		if err != nil {
			c.Gaps = append(c.Gaps, err.Error())
		}
		c.Plugins = append(c.Plugins, p)
	}
	if unknown := len(peers) - len(owners); unknown > 0 {
		c.Gaps = append(c.Gaps, fmt.Sprintf("%d connections whose process was not found; the open files of %d processes could not be read", unknown, hidden))
	}
	sort.Slice(c.Plugins, func(i, j int) bool { return c.Plugins[i].PID < c.Plugins[j].PID })
	return c, nil
}

// connected describes the process of a connection.
func (h Host) connected(pid int, names podNames) (ConnectedPlugin, error) {
	plugin := ConnectedPlugin{PID: pid, Binary: h.proc(pid, "exe")}
	p, err := h.process(pid)
	if err != nil {
		return plugin, err
	}
	plugin.Exe, plugin.Args = p.Exe, p.Args
	cgroups, err := readBounded(h.proc(pid, "cgroup"), maxProcFile)
	if err != nil {
		return plugin, fmt.Errorf("container of process %d: %w", pid, err)
	}
	if plugin.Container = containerOf(cgroups); plugin.Container != nil {
		names.name(plugin.Container)
	}
	return plugin, nil
}

// owners finds a process for each socket, by inode. A socket that several
// processes have open, as after a fork, goes to the first. hidden is the number of
// processes whose files could not be read.
func (h Host) owners(inodes map[uint32]bool) (owners map[uint32]int, hidden int, err error) {
	pids, err := h.pids()
	if err != nil {
		return nil, 0, err
	}
	owners = map[uint32]int{}
	for _, pid := range pids {
		if len(owners) == len(inodes) {
			break // A node can have a million open files.
		}
		dir := h.proc(pid, "fd")
		entries, err := os.ReadDir(dir)
		if err != nil {
			if os.IsPermission(err) {
				hidden++
			}
			continue // else it has ended
		}
		for _, e := range entries {
			inode, ok := h.socketInode(filepath.Join(dir, e.Name()))
			if ok && inodes[inode] {
				if _, taken := owners[inode]; !taken {
					owners[inode] = pid
				}
			}
		}
	}
	return owners, hidden, nil
}

// socketInode gives the inode of an open file that is a socket.
func (h Host) socketInode(fd string) (uint32, bool) {
	target, err := os.Readlink(fd)
	if err != nil {
		return 0, false
	}
	number, isSocket := strings.CutPrefix(path.Base(target), "socket:[")
	n, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 32)
	return uint32(n), isSocket && err == nil
}
