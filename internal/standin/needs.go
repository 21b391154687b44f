package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"google.golang.org/grpc/codes"
)

// Findings is what an observation tells of a plugin.
type Findings struct {
	// Needs are the capabilities that it used, and what could not be seen.
	Needs capability.Needs
	// Broken are the obligations that it does not keep, and what every kubelet
	// refuses or fails at, a sentence each. Those that only some kubelets demand
	// are in Needs as well, as the capability of a kubelet that does not.
	Broken []Obligation
	// Warnings are what else will go wrong, a sentence each.
	Warnings []string
}

// Obligation is something that kubelets demand of a plugin.
type Obligation struct {
	Text string
	// Capability is what a kubelet has that does not demand it; 0, which is none of
	// the kubelet's, if every kubelet does.
	Capability capability.ID
}

// Findings tells what was learnt of the plugin.
func (o Observation) Findings() Findings {
	var f Findings
	for _, r := range o.Registrations {
		f.registration(r)
	}
	f.instances(o.Registrations)
	for _, d := range o.Drivers {
		f.driver(d)
	}
	if r := o.Restarted; r != nil && r.Ended {
		f.Warnings = append(f.Warnings, "it ends when the kubelet is restarted: whoever runs it has to start it again")
	} else if r != nil {
		for _, resource := range r.Missing {
			f.breaks(fmt.Sprintf("it does not register %s again within %s of a restart of the kubelet, which loses its devices", orUnnamed(resource), r.Wait), 0)
		}
	}
	if o.Ignored > 0 {
		f.tooMany(o)
	}
	for _, method := range o.PodResources {
		if id, ok := methods[method]; ok {
			f.uses(id, capability.Requires, "podresources/"+method, "")
		}
	}
	switch {
	case len(o.Registrations)+len(o.Drivers) > 0:
	case len(o.PodResources) > 0:
		f.gap("it did not register: all that was seen are its calls of the pod resources API")
	default:
		f.gap("it did not register, so nothing is known of what it needs")
	}
	f.Needs.Requirements = capability.Normalize(f.Needs.Requirements)
	f.Needs.Gaps = unique(f.Needs.Gaps)
	f.Warnings = unique(f.Warnings)
	slices.SortStableFunc(f.Broken, func(a, b Obligation) int { return int(a.Capability) - int(b.Capability) })
	f.Broken = slices.Compact(f.Broken)
	return f
}

// tooMany: that a plugin registers many resources is its right, that it registers
// the same ones again and again is not.
func (f *Findings) tooMany(o Observation) {
	resources := map[string]bool{}
	for _, r := range o.Registrations {
		resources[r.Resource] = true
	}
	if again := len(o.Registrations) - len(resources); again >= maxRegistrations/2 {
		f.breaks(fmt.Sprintf("it registers without end: %d times and more", maxRegistrations), 0)
		return
	}
	f.gap(fmt.Sprintf("it registers more often than is looked at: all after the first %d", maxRegistrations))
}

// Lost are the resources whose plugin could not be reached any more while they
// were registered, each once.
func (o Observation) Lost() []string {
	var lost []string
	for _, r := range o.Registrations {
		if r.Ended != nil && r.Ended.Code == codes.Unavailable.String() && !r.Replaced {
			lost = append(lost, orUnnamed(r.Resource))
		}
	}
	return unique(lost)
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (f *Findings) gap(text string) { f.Needs.Gaps = append(f.Needs.Gaps, text) }

func (f *Findings) breaks(text string, id capability.ID) {
	f.Broken = append(f.Broken, Obligation{text, id})
}

// uses notes that a capability was used, with the message that shows it.
func (f *Findings) uses(id capability.ID, level capability.Level, message, detail string) {
	f.Needs.Requirements = append(f.Needs.Requirements, capability.Requirement{
		Capability: id, Level: level, Source: capability.Observed,
		Evidence: []capability.Evidence{{Kind: "message", Symbol: message, Detail: detail}},
	})
}

// registration tells what one registration shows.
func (f *Findings) registration(r Registration) {
	f.uses(capability.DevicePluginV1beta1, capability.Requires, "RegisterRequest", r.Resource)
	if r.Way == BySocket {
		f.uses(capability.DevicePluginwatcherRegistration, capability.Requires, "PluginInfo", r.Endpoint)
	}
	for _, text := range r.Faults {
		f.breaks(text, 0)
	}
	f.Warnings = append(f.Warnings, r.Oddities...)
	for _, m := range r.Unknown {
		f.gap(fmt.Sprintf("%s has a field that is newer than every kubelet known here", m))
	}
	if r.Way == ByCall && strings.Contains(r.Endpoint, "/") {
		f.Warnings = append(f.Warnings, fmt.Sprintf("the endpoint %q is not the name of a socket: kubelets look for it below the directory of device plugins", r.Endpoint))
	}
	f.serving(r)
	f.options(r)
	f.devices(r)
	f.allocation(r)
	f.calls(r)
}

// serving: kubelets from 1.25 on call a plugin while it registers, those before too
// if it registers by a socket.
func (f *Findings) serving(r Registration) {
	if r.Way == BySocket {
		if r.Served == ServedLate || r.Served == ServedNever {
			f.breaks(fmt.Sprintf("it does not serve at its socket %q when it registers", r.Endpoint), 0)
		}
		if r.Served == ServedNever {
			f.gap(fmt.Sprintf("%s could not be called at its socket %q", orUnnamed(r.Resource), r.Endpoint))
		}
		return
	}
	switch r.Served {
	case ServedLate:
		f.uses(capability.DeviceRegisterBeforeServe, capability.Requires, "RegisterRequest", "the plugin could be called only after the answer")
		f.breaks("it registers before it serves", capability.DeviceRegisterBeforeServe)
	case ServedNever:
		if r.Refused == "" {
			f.gap(fmt.Sprintf("%s could not be called at its socket %q", orUnnamed(r.Resource), r.Endpoint))
			f.breaks(fmt.Sprintf("it does not serve at the socket %q that it registered", r.Endpoint), 0)
			return
		}
		// It may serve later; this kubelet did not wait for that.
		f.uses(capability.DeviceRegisterBeforeServe, capability.Requires, "RegisterRequest", "the plugin could not be called")
		f.breaks("it registers before it serves", capability.DeviceRegisterBeforeServe)
	}
}

func orUnnamed(resource string) string {
	if resource == "" {
		return "a resource without a name"
	}
	return resource
}

// options: where a plugin tells its options decides which kubelets know them.
func (f *Findings) options(r Registration) {
	told, answered := PluginOptions{}, PluginOptions{}
	if r.Told != nil {
		told = *r.Told
	}
	if r.Answered != nil {
		answered = *r.Answered
	}
	for _, o := range []struct {
		name           string
		told, answered bool
		id             capability.ID
	}{
		{"GetPreferredAllocationAvailable", told.GetPreferredAllocationAvailable, answered.GetPreferredAllocationAvailable, capability.DevicePreferredAllocation},
		{"PreStartRequired", told.PreStartRequired, answered.PreStartRequired, capability.DevicePrestartContainer},
	} {
		if !o.told && !o.answered {
			continue
		}
		f.uses(o.id, capability.Requires, "DevicePluginOptions."+o.name, "")
		if r.Answered == nil || r.Way == BySocket {
			continue // it was not asked, or is never told
		}
		if !o.answered {
			f.uses(capability.DeviceRegisterOptions, capability.Requires, "RegisterRequest.Options", o.name)
			f.breaks("GetDevicePluginOptions does not return all options of RegisterRequest", capability.DeviceRegisterOptions)
		}
		if !o.told {
			f.uses(capability.DeviceGetOptions, capability.Requires, "DevicePluginOptions", o.name)
			f.breaks("RegisterRequest does not have all options of GetDevicePluginOptions", capability.DeviceGetOptions)
		}
	}
}

func (f *Findings) devices(r Registration) {
	for _, d := range r.Devices {
		if d.NUMANodes != nil {
			f.uses(capability.DeviceTopology, capability.Requires, "Device.Topology", fmt.Sprintf("%s on NUMA node %v", d.ID, d.NUMANodes))
			break
		}
	}
	if r.Endless {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s sent %d lists of devices without a pause: the kubelet writes its checkpoint for each", orUnnamed(r.Resource), r.Updates))
	}
	if r.Updates > 0 && r.Healthy == 0 {
		f.gap(fmt.Sprintf("%s has no healthy device here, so nothing could be allocated: run it on a machine that has one", orUnnamed(r.Resource)))
	}
}

func (f *Findings) allocation(r Registration) {
	a := r.Allocated
	if a == nil {
		return
	}
	if len(a.CDI) > 0 {
		level := capability.Requires
		if len(a.DeviceNodes)+len(a.Mounts) > 0 {
			level = capability.Wants // the device is handed out in the older way as well
		}
		f.uses(capability.DeviceCDIDevices, level, "ContainerAllocateResponse.CdiDevices", strings.Join(a.CDI, ", "))
	}
	if len(a.Annotations) > 0 {
		f.uses(capability.DeviceContainerAnnotations, capability.Requires, "ContainerAllocateResponse.Annotations", strings.Join(a.Annotations, ", "))
	}
}

// calls tells what calls that failed mean. That a call fails is no fault: what
// the plugin wants may not be there on this machine.
func (f *Findings) calls(r Registration) {
	for _, c := range r.Calls {
		unimplemented := c.Code == codes.Unimplemented.String()
		switch {
		case c.Error == "":
		case c.Method == "GetDevicePluginOptions" && unimplemented && r.Way == BySocket:
			f.breaks("it does not implement GetDevicePluginOptions, which every kubelet calls when a plugin registers by a socket", 0)
		case c.Method == "GetDevicePluginOptions" && unimplemented:
			f.uses(capability.DeviceWithoutGetOptions, capability.Requires, "GetDevicePluginOptions", "not implemented")
			f.breaks("it does not implement GetDevicePluginOptions", capability.DeviceWithoutGetOptions)
		case unimplemented && (c.Method == "ListAndWatch" || c.Method == "Allocate"):
			f.breaks("it does not implement "+c.Method, 0)
			f.gap(fmt.Sprintf("%s is not implemented for %s, so what it hands out is not known", c.Method, orUnnamed(r.Resource)))
		case unimplemented:
			f.breaks(fmt.Sprintf("its options announce %s, which it does not implement", c.Method), 0)
		default:
			f.gap(fmt.Sprintf("%s of %s failed: %s", c.Method, orUnnamed(r.Resource), c.Error))
		}
	}
	// A plugin that registers again serves again, and may end what was before.
	if e := r.Ended; e != nil && !r.Replaced {
		switch e.Code {
		case codes.OK.String():
			f.breaks(fmt.Sprintf("it ends ListAndWatch of %s: every kubelet takes the devices for unhealthy from then on", orUnnamed(r.Resource)), 0)
		case codes.Unavailable.String(): // see Lost
		default:
			f.gap(fmt.Sprintf("ListAndWatch of %s failed after a list of devices, from when on kubelets take them for unhealthy: %s", orUnnamed(r.Resource), e.Error))
		}
	}
	if r.Waiting != "" {
		f.gap(fmt.Sprintf("%s of %s was not answered in time", r.Waiting, orUnnamed(r.Resource)))
	}
	if r.Refused != "" {
		f.gap(fmt.Sprintf("the registration of %s was refused, so nothing was allocated", orUnnamed(r.Resource)))
	}
}

// instances: two registrations of one resource under different sockets.
func (f *Findings) instances(list []Registration) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.Resource == b.Resource && a.Refused == "" && b.Refused == "" {
				if a.Endpoint != b.Endpoint {
					f.uses(capability.DeviceMultiInstance, capability.Wants, "RegisterRequest", fmt.Sprintf("%s under %q and %q", a.Resource, a.Endpoint, b.Endpoint))
				}
				f.Warnings = append(f.Warnings, fmt.Sprintf("it registers %s again while it is registered", orUnnamed(a.Resource)))
			}
		}
	}
}

// services are the capabilities for the names by which DRA drivers offer
// services. "1.0.0" is what drivers for 1.30 and before call themselves; which
// of the older services they offer it does not tell.
var services = map[string]struct {
	id     capability.ID
	health bool // of the API for the health of devices, which a driver can do without
}{
	"v1alpha3.NodeService":       {capability.DRAV1alpha3Structured, false},
	"v1beta1.DRAPlugin":          {capability.DRAV1beta1, false},
	"v1.DRAPlugin":               {capability.DRAV1, false},
	"v1alpha1.DRAResourceHealth": {capability.DRAHealthV1alpha1, true},
	"v1.DRAResourceHealth":       {capability.DRAHealthV1, true},
}

// driver tells what a plugin of another kind shows.
func (f *Findings) driver(d Driver) {
	if d.Error != "" {
		f.gap(fmt.Sprintf("the socket %s in the plugins directory did not answer: %s", d.Name, d.Error))
		return
	}
	if d.Type != "DRAPlugin" {
		f.gap(fmt.Sprintf("it registers as a %q: of those nothing is known here", d.Type))
		return
	}
	if len(d.Services) == 0 {
		f.gap(fmt.Sprintf("the DRA driver %s names no service that it offers", d.Name))
	}
	for _, name := range d.Services {
		service, ok := services[name]
		if !ok {
			f.gap(fmt.Sprintf("the DRA driver %s offers %q, which is not known", d.Name, name))
			continue
		}
		// The kubelet needs to know one version of each API.
		level, group := capability.Requires, "dra"
		if service.health {
			level, group = capability.Wants, "dra-health"
		}
		f.uses(service.id, level, "PluginInfo.SupportedVersions", name)
		f.Needs.Requirements[len(f.Needs.Requirements)-1].OneOf = group + " of " + d.Name
	}
}
