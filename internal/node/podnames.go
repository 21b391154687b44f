package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Where the kubelet keeps logs. The names of the entries name pods.
const (
	containerLogs = "/var/log/containers" // POD_NAMESPACE_CONTAINER-ID.log
	podLogs       = "/var/log/pods"       // NAMESPACE_POD_UID
)

// podNames knows the names of the pods and containers of a node.
type podNames struct {
	byContainer map[string]Container // by container id
	byPod       map[string]Container // by pod UID, without the container's name
}

// podNames reads the names from the kubelet's log directories. A node without
// them is no error.
func (h Host) podNames() (podNames, error) {
	names := podNames{byContainer: map[string]Container{}, byPod: map[string]Container{}}
	logs, err := h.list(containerLogs)
	if err != nil {
		return names, err
	}
	for _, entry := range logs {
		if c, ok := parseContainerLog(entry); ok {
			names.byContainer[c.ID] = c
		}
	}
	pods, err := h.list(podLogs)
	if err != nil {
		return names, err
	}
	for _, entry := range pods {
		f := strings.Split(entry, "_")
		if len(f) == 3 && f[2] != "" {
			names.byPod[f[2]] = Container{Namespace: f[0], Pod: f[1]}
		}
	}
	return names, nil
}

// list gives the names in a directory of the node; none if there is none.
func (h Host) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(h.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("names of pods: %w", err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// parseContainerLog reads the name of a log file: POD_NAMESPACE_CONTAINER-ID.log.
func parseContainerLog(name string) (Container, bool) {
	base, isLog := strings.CutSuffix(name, ".log")
	f := strings.Split(base, "_")
	if !isLog || len(f) != 3 {
		return Container{}, false
	}
	dash := strings.LastIndexByte(f[2], '-')
	if dash <= 0 || dash == len(f[2])-1 || f[0] == "" || f[1] == "" {
		return Container{}, false
	}
	return Container{Pod: f[0], Namespace: f[1], Name: f[2][:dash], ID: f[2][dash+1:]}, true
}

// name fills in the names of a container.
func (n podNames) name(c *Container) {
	if known, ok := n.byContainer[c.ID]; ok {
		c.Namespace, c.Pod, c.Name = known.Namespace, known.Pod, known.Name
		return
	}
	if known, ok := n.byPod[c.PodUID]; ok && c.PodUID != "" {
		c.Namespace, c.Pod = known.Namespace, known.Pod
	}
}
