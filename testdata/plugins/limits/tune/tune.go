// Package tune does the plugin's work.
package tune

import "github.com/containerd/nri/pkg/api"

// Tuner decides about limits.
type Tuner struct{ boost uint64 }

// Adjust sets limits at creation: a method, and fields of objects made here.
func (t *Tuner) Adjust(a *api.ContainerAdjustment, c *api.Container) {
	for _, l := range c.Rlimits {
		if l.Type == "RLIMIT_NOFILE" {
			return
		}
	}
	a.AddRlimit("RLIMIT_NOFILE", 1024, 1024)
	a.Linux = &api.LinuxContainerAdjustment{Resources: t.resources()}
}

// resources makes what Adjust hangs into the adjustment.
//
//go:noinline
func (t *Tuner) resources() *api.LinuxResources {
	return &api.LinuxResources{Cpu: &api.LinuxCPU{Shares: api.UInt64(t.boost + 512)}}
}

// Update changes a running container: by method, and by what it reads.
func (t *Tuner) Update(c *api.Container) *api.ContainerUpdate {
	u := &api.ContainerUpdate{}
	u.SetContainerId(c.Id)
	if quota := c.GetLinux().GetResources().GetCpu().GetQuota(); quota != nil {
		u.SetLinuxCPUQuota(quota.Value)
	}
	u.SetLinuxMemoryLimit(1 << 30)
	u.SetIgnoreFailure()
	return u
}
