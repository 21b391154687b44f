// Package nriapi stands for a plugin's own copy of the NRI API: the types and
// methods that it needs, under another import path.
package nriapi

// Capability is the enum of the draft containerd/nri#265.
type Capability int32

// Two of its values.
const (
	Capability_ADJUST_CDI_DEVICES Capability = 6
	Capability_INPUT_CDI_DEVICES  Capability = 7
)

type PodSandbox struct {
	Id, Name string
	Ips      []string
}

func (p *PodSandbox) GetIps() []string { return p.Ips }

type Container struct {
	Id, Name string
	Env      []string
}

type CDIDevice struct{ Name string }

type ContainerAdjustment struct {
	Annotations map[string]string
	CDIDevices  []*CDIDevice
}

// AddCDIDevice is walked by nobody, since it is part of the API.
func (a *ContainerAdjustment) AddCDIDevice(d *CDIDevice) { a.CDIDevices = append(a.CDIDevices, d) }

type ContainerUpdate struct{ ContainerId string }

type CreateContainerResponse struct{ Adjust *ContainerAdjustment }
