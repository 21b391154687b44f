// Package shared is used by both plugins.
package shared

import "github.com/containerd/nri/pkg/api"

// Namespaces counts the namespaces of a pod.
func Namespaces(pod *api.PodSandbox) int { return len(pod.GetLinux().GetNamespaces()) }

// OOM makes an adjustment of the OOM score.
func OOM(score int) *api.ContainerAdjustment {
	a := &api.ContainerAdjustment{}
	a.SetLinuxOomScoreAdj(&score)
	return a
}
