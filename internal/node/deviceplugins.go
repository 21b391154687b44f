package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// DevicePlugin is a process that listens in the directory of the device plugins.
type DevicePlugin struct {
	// ConnectedPlugin describes the process as that of an NRI plugin.
	ConnectedPlugin
	// Sockets are the files on which it listens, one for each resource.
	Sockets []string
}

// DevicePluginsOf finds the device plugins of a kubelet: the processes that listen
// on a socket in its directory for them. Nothing is connected to. It is ordered
// by process id; the gaps say, one sentence each, what could not be seen. A
// directory that does not exist has none. Linux only; it needs root to see all.
func (h Host) DevicePluginsOf(ctx context.Context, k Kubelet) (plugins []DevicePlugin, gaps []string, err error) {
	fail := func(err error) ([]DevicePlugin, []string, error) {
		return nil, nil, fmt.Errorf("device plugins: %w", err)
	}
	files, err := pluginSockets(k)
	if err != nil {
		return fail(err)
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	listening, gaps, err := k.host.listeners(ctx, files)
	if err != nil {
		return fail(err)
	}
	inodes := map[uint32]bool{}
	for inode := range listening {
		inodes[inode] = true
	}
	owners, hidden, err := h.owners(inodes)
	if err != nil {
		return fail(err)
	}
	sockets := map[int][]string{}
	for inode, file := range listening {
		sockets[owners[inode]] = append(sockets[owners[inode]], file)
	}
	if files := sockets[0]; len(files) > 0 {
		slices.Sort(files)
		gaps = append(gaps, fmt.Sprintf("the process that listens on %s was not found; the open files of %d processes could not be read", strings.Join(files, ", "), hidden))
		delete(sockets, 0)
	}
	names, err := h.podNames()
	if err != nil {
		gaps = append(gaps, err.Error())
	}
	for pid, files := range sockets {
		p, err := h.connected(pid, names)
		if err != nil {
			gaps = append(gaps, err.Error())
		}
		slices.Sort(files)
		plugins = append(plugins, DevicePlugin{p, files})
	}
	slices.SortFunc(plugins, func(a, b DevicePlugin) int { return a.PID - b.PID })
	return plugins, gaps, nil
}

// pluginSockets lists the sockets in the directory but the kubelet's own.
func pluginSockets(k Kubelet) ([]string, error) {
	entries, err := os.ReadDir(k.Path(DevicePlugins))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if e.Type()&os.ModeSocket != 0 && e.Name() != "kubelet.sock" {
			files = append(files, path.Join(DevicePlugins, e.Name()))
		}
	}
	return files, nil
}
