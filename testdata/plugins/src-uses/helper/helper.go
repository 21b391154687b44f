// Package helper is the plugin's own code in another package.
package helper

import "github.com/containerd/nri/pkg/api"

// Pin keeps a container on the CPUs it asks for.
func Pin(adjust *api.ContainerAdjustment, in *api.LinuxResources) {
	adjust.SetLinuxCPUSetCPUs(in.Cpu.Cpus)
}

// Unused is called by nobody.
func Unused(c *api.Container) string { return c.GetUser().String() }
