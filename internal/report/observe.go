package report

import (
	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Observe is the document of the observe command: what a plugin did while it
// ran.
type Observe struct {
	Head
	Plugin ObservedPlugin `json:"plugin"`
	// Registrations are in the order in which they came.
	Registrations []ObservedRegistration `json:"registrations"`
	// Drivers are what registered and is no device plugin.
	Drivers []ObservedDriver `json:"drivers"`
	// PodResources are the methods of the pod resources API that were called, such
	// as "v1.List".
	PodResources []string `json:"podResources"`
	// Restarted is what became of the resources after a restart of the kubelet;
	// absent if there was none.
	Restarted *Restarted `json:"restarted,omitempty"`
	// Requirements are the capabilities that were used.
	Requirements []Requirement `json:"requirements"`
	// Broken are the obligations of a plugin that it does not keep.
	Broken []Broken `json:"broken"`
	// Gaps says what could not be seen.
	Gaps     []string `json:"gaps"`
	Warnings []string `json:"warnings"`
	// Log is what the plugin's own log tells of a failure; absent if all went
	// well.
	Log *Log `json:"log,omitempty"`
	// Result is the check against the release that was played; absent if none
	// was.
	Result *Result `json:"result,omitempty"`
	// Fits are the releases that have what was used, Nowhere the capabilities
	// that none has.
	Fits    []Fit    `json:"fits"`
	Nowhere []string `json:"nowhere"`
	// Verdict is about the release that was played; without one it is
	// "compatible" if any release suits.
	Verdict string `json:"verdict" jsonschema:"enum=compatible,enum=incompatible,enum=inconclusive"`
}

// ObservedPlugin is the plugin that ran, and how it ended.
type ObservedPlugin struct {
	Name string   `json:"name"`
	Path string   `json:"path"`
	Args []string `json:"args"`
	// Ended says how it ended: "by itself: exit status 2", "on SIGTERM".
	Ended string `json:"ended"`
	// Left are the names of the processes that it had started and that were still
	// running; they were killed.
	Left []string `json:"left"`
	// TimedOut is set if the time was up before all was seen.
	TimedOut bool `json:"timedOut,omitempty"`
}

// ObservedRegistration is one registration of a resource.
type ObservedRegistration struct {
	Resource string `json:"resource"`
	Endpoint string `json:"endpoint"`
	Version  string `json:"version"`
	// Way is "Register" for a call at the kubelet's socket, "plugins_registry"
	// for a socket in that directory.
	Way string `json:"way" jsonschema:"enum=Register,enum=plugins_registry"`
	// RegisterOptions are the options in RegisterRequest, Options those by
	// GetDevicePluginOptions; absent where there were none.
	RegisterOptions *DeviceOptions `json:"registerOptions,omitempty"`
	Options         *DeviceOptions `json:"options,omitempty"`
	// Served tells when the plugin could be called: "first", before its
	// registration was answered, "late" or "never"; absent if nobody tried.
	Served string `json:"served,omitempty" jsonschema:"enum=first,enum=late,enum=never"`
	// Refused is the error that it was answered with.
	Refused string `json:"refused,omitempty"`
	// Replaced is set if the same resource was registered again.
	Replaced bool `json:"replaced,omitempty"`
	// Updates counts the lists of devices, DeviceCount and Healthy the devices of
	// the first one that had a healthy device, or of the last that was waited for;
	// Devices has some of them.
	Updates     int              `json:"updates"`
	DeviceCount int              `json:"deviceCount"`
	Healthy     int              `json:"healthy"`
	Devices     []ObservedDevice `json:"devices"`
	Calls       []ObservedCall   `json:"calls"`
	// Preferred are the devices that the plugin chose itself.
	Preferred []string `json:"preferred"`
	// Allocated is what it handed out for one device; absent if nothing.
	Allocated *Allocated `json:"allocated,omitempty"`
}

// DeviceOptions are the options of a device plugin.
type DeviceOptions struct {
	PreStartRequired                bool `json:"preStartRequired"`
	GetPreferredAllocationAvailable bool `json:"getPreferredAllocationAvailable"`
}

// ObservedDevice is a device of a list.
type ObservedDevice struct {
	ID        string  `json:"id"`
	Health    string  `json:"health"`
	NUMANodes []int64 `json:"numaNodes"`
}

// ObservedCall is a call of the plugin, and how it failed.
type ObservedCall struct {
	Method string `json:"method"`
	// Code is the gRPC code of a failure, such as "Unimplemented".
	Code  string `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
}

// Allocated is what a plugin hands out for a device. The lists have at most 64
// entries.
type Allocated struct {
	// DeviceNodes and Mounts are paths on the node, Env and Annotations names.
	DeviceNodes []string `json:"deviceNodes"`
	Mounts      []string `json:"mounts"`
	Env         []string `json:"env"`
	Annotations []string `json:"annotations"`
	CDI         []string `json:"cdi"`
}

// ObservedDriver is what registered in the plugins directory and is no device
// plugin.
type ObservedDriver struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Services []string `json:"services"`
	Error    string   `json:"error,omitempty"`
}

// Restarted is what became of the resources after a restart of the kubelet.
type Restarted struct {
	// Again are those that were registered again, Missing those that were not.
	Again   []string `json:"again"`
	Missing []string `json:"missing"`
}

// Broken is an obligation that a plugin does not keep.
type Broken struct {
	Text string `json:"text"`
	// Capability is what releases have that do not demand it, absent if all do;
	// WorksWith says which these are.
	Capability string `json:"capability,omitempty"`
	WorksWith  string `json:"worksWith,omitempty"`
}

// NewBroken describes an obligation; advice is where the capability is found.
func NewBroken(text string, id capability.ID, advice inference.Advice) Broken {
	b := Broken{Text: text}
	if id != 0 {
		b.Capability = id.String()
		b.WorksWith = newAdvice("", advice, nil).runtimeLine(inference.Kubelet)
	}
	return b
}

// NewObserve returns a document without anything that was seen.
func NewObserve(head Head, p ObservedPlugin) *Observe {
	p.Args, p.Left = emptyNotNull(p.Args), emptyNotNull(p.Left)
	return &Observe{
		Head: head, Plugin: p, Registrations: []ObservedRegistration{}, Drivers: []ObservedDriver{}, PodResources: []string{},
		Requirements: []Requirement{}, Broken: []Broken{}, Gaps: []string{}, Warnings: []string{},
		Fits: []Fit{}, Nowhere: []string{},
	}
}

// SetLog puts what the plugin wrote into the document.
func (d *Observe) SetLog(l Log) {
	l.complete()
	d.Log = &l
}

// Conclude draws the conclusion from what the document has: group is the check
// against the release that was played, nil if none was; advice tells where the
// plugin would work, and undecided that it may also work elsewhere.
func (d *Observe) Conclude(group *inference.Group, advice inference.Advice, undecided bool) {
	a := newAdvice(d.Plugin.Name, advice, nil)
	d.Fits, d.Nowhere = a.Fits, a.Nowhere
	v := capability.Compatible
	if group != nil {
		r := newResult(d.Plugin.Name, *group)
		r.Gaps = []string{} // the document has them
		d.Result = &r
		v = group.Last().Report.Verdict
	} else if len(d.Gaps) > 0 || len(d.Fits) == 0 && undecided {
		v = capability.Inconclusive
	} else if len(d.Fits) == 0 {
		v = capability.Incompatible
	}
	if d.hopeless() {
		v = capability.Incompatible
	}
	d.Verdict = v.String()
}
