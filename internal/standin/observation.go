package standin

import "slices"

// Observation is what a stand-in has seen of a device plugin.
type Observation struct {
	// Registrations are the registrations in the order in which they came.
	Registrations []Registration `json:"registrations"`
	// Ignored counts the registrations that were refused, and the sockets in the
	// plugins directory that were not asked, because there had been too many.
	Ignored int `json:"ignored,omitempty"`
	// Drivers are the plugins in the plugins directory that are no device
	// plugins.
	Drivers []Driver `json:"drivers,omitempty"`
	// PodResources are the methods of the pod resources API that were called, such
	// as "v1.List", each once.
	PodResources []string `json:"podResources,omitempty"`
	// Restarted is what became of the resources after a restart; nil if there was
	// none.
	Restarted *Restarted `json:"restarted,omitempty"`
}

// Registered tells whether a registration was accepted.
func (o Observation) Registered() bool {
	return slices.ContainsFunc(o.Registrations, func(r Registration) bool { return r.Refused == "" })
}

// The ways in which a plugin can register.
const (
	// ByCall: the plugin called Register at the kubelet's socket.
	ByCall = "Register"
	// BySocket: the plugin put a socket into the kubelet's plugins directory.
	BySocket = "plugins_registry"
)

// Registration is one registration of a resource, and what followed it.
type Registration struct {
	Resource string `json:"resource"`
	// Endpoint is the name of the plugin's socket in the directory of device
	// plugins, as it was sent; the path for [BySocket].
	Endpoint string `json:"endpoint"`
	// Version is the version of the API that was sent, joined by commas for
	// [BySocket].
	Version string `json:"version"`
	// Way is [ByCall] or [BySocket].
	Way string `json:"way"`
	// Told are the options in RegisterRequest, nil if there were none.
	Told *PluginOptions `json:"told,omitempty"`
	// Answered are the options by GetDevicePluginOptions, nil if it was not
	// called or failed.
	Answered *PluginOptions `json:"answered,omitempty"`
	// Served tells when the plugin could first be called. It is empty if a kubelet
	// that answers before it calls was played, and the call went well.
	Served Served `json:"served,omitempty"`
	// Refused is the error that the registration was answered with, empty if it
	// was accepted.
	Refused string `json:"refused,omitempty"`
	// Replaced is set if the plugin registered the same resource again later.
	Replaced bool `json:"replaced,omitempty"`
	// Updates counts the lists of devices that the plugin has sent; Endless is
	// set if it sent so many that the stand-in stopped listening.
	Updates int  `json:"updates"`
	Endless bool `json:"endless,omitempty"`
	// DeviceCount and Healthy count the devices of the first list that had a
	// healthy one, or of the last that was waited for; Devices has the first of
	// them.
	DeviceCount int      `json:"deviceCount"`
	Healthy     int      `json:"healthy"`
	Devices     []Device `json:"devices"`
	// Calls are the calls of the plugin in the order in which they were made.
	Calls []Call `json:"calls"`
	// Ended tells how the stream of lists ended after it had begun, with the code
	// "OK" if the plugin ended it; nil if it did not, as it should be.
	Ended *Call `json:"ended,omitempty"`
	// Preferred are the devices that GetPreferredAllocation chose.
	Preferred []string `json:"preferred,omitempty"`
	// Allocated is the answer to Allocate, nil if there was none.
	Allocated *Allocation `json:"allocated,omitempty"`
	// Waiting is the call that has not been answered yet; empty if there is none.
	Waiting string `json:"waiting,omitempty"`
	// Faults are what every kubelet refuses or fails at, Oddities what kubelets
	// put up with, a sentence each.
	Faults   []string `json:"faults,omitempty"`
	Oddities []string `json:"oddities,omitempty"`
	// Unknown lists the messages that had fields which the newest known API does
	// not have.
	Unknown []string `json:"unknown,omitempty"`
}

// PluginOptions are the options of a device plugin.
type PluginOptions struct {
	PreStartRequired                bool `json:"preStartRequired"`
	GetPreferredAllocationAvailable bool `json:"getPreferredAllocationAvailable"`
}

// Served tells when a plugin could first be called.
type Served string

// When a plugin could be called: while it registered, only after its
// registration had been answered, or not at all.
const (
	ServedFirst Served = "first"
	ServedLate  Served = "late"
	ServedNever Served = "never"
)

// Device is one device of a list.
type Device struct {
	ID     string `json:"id"`
	Health string `json:"health"`
	// NUMANodes are the ids of its NUMA nodes, nil if it has no topology.
	NUMANodes []int64 `json:"numaNodes,omitempty"`
}

// Call is one call of the plugin.
type Call struct {
	// Method is the name of the call, such as "Allocate".
	Method string `json:"method"`
	// Error is how it failed, empty if it did not; Code is the gRPC code, such as
	// "Unimplemented".
	Error string `json:"error,omitempty"`
	Code  string `json:"code,omitempty"`
}

// Allocation is what a plugin hands out for one device.
type Allocation struct {
	// DeviceNodes, Mounts, Env and Annotations are sorted: host paths, host
	// paths, names, keys.
	DeviceNodes []string `json:"deviceNodes"`
	Mounts      []string `json:"mounts"`
	Env         []string `json:"env"`
	Annotations []string `json:"annotations"`
	// CDI are the names of CDI devices, such as "vendor.example/gpu=0".
	CDI []string `json:"cdi"`
}

// Driver is a plugin of another kind that registers through the plugins
// directory.
type Driver struct {
	Name string `json:"name"`
	// Type is "DRAPlugin", "CSIPlugin" or what else it calls itself.
	Type string `json:"type"`
	// Services are the versions that it says it supports, such as
	// "v1.DRAPlugin".
	Services []string `json:"services"`
	// Error says why it could not be asked.
	Error string `json:"error,omitempty"`
}
