package kubelet

import (
	"go/ast"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// decideDevices decides what the device manager hands on and calls.
func (r *release) decideDevices(out map[capability.ID]probe.Verdict) error {
	api, err := r.protocol("deviceplugin/v1beta1")
	if err != nil {
		return err
	}
	out[capability.DevicePluginV1beta1] = r.gated(all(r.serves(api)), capability.DevicePluginV1beta1, "DevicePlugins", r.command, r.devices)
	annotations, name := api.field("ContainerAllocateResponse", "annotations")
	out[capability.DeviceContainerAnnotations] = all(annotations, r.handsOn(name), r.runtimeGets("Annotations"))
	cdi, name := api.field("ContainerAllocateResponse", "cdi_devices")
	out[capability.DeviceCDIDevices] = r.gated(all(cdi, r.handsOn(name), r.runtimeGets("CDIDevices")),
		capability.DeviceCDIDevices, "DevicePluginCDIDevices", r.devices)
	out[capability.DeviceCDIViaAnnotations] = r.gated(all(cdi, r.annotatesCDI()),
		capability.DeviceCDIViaAnnotations, "DevicePluginCDIDevices", r.devices)
	out[capability.DevicePreferredAllocation] = r.calls(api, "GetPreferredAllocation", "PreferredAllocationRequest")
	out[capability.DevicePrestartContainer] = r.calls(api, "PreStartContainer", "PreStartContainerRequest")
	out[capability.DeviceCheckpointNUMA] = r.checkpointsNUMA()
	out[capability.DeviceTopology] = r.aligns(api)
	out[capability.DeviceSidecarContainers] = r.keepsSidecars()
	out[capability.DeviceHealthInPodStatus] = r.gated(r.tellsHealth(), capability.DeviceHealthInPodStatus, "ResourceHealthStatus", r.devices, r.root)
	out[capability.DeviceRegistrationHealthz] = r.isChecked()
	out[capability.DeviceDRAExtendedResource] = r.gated(r.leavesToDRA(), capability.DeviceDRAExtendedResource, "DRAExtendedResource", r.devices)
	out[capability.DeviceMultiInstance] = r.keepsInstances()
	out[capability.DeviceWindows] = r.onWindows()
	out[capability.DevicePluginwatcherRegistration] = r.gated(r.watchesPlugins(), capability.DevicePluginwatcherRegistration, "KubeletPluginsWatcher", r.root)
	return nil
}

// serves: the device manager serves Registration of the API, and takes its version.
func (r *release) serves(api *protocol) verdict {
	if v, broken := r.devices.broken(); broken {
		return v
	}
	if v, missing := api.missing(); missing {
		return v
	}
	at := r.devices.qualified(api.name, "RegisterRegistrationServer")
	if len(at) == 0 {
		return unclear("the device manager does not serve %s where it used to", api.name)
	}
	// Register compares the version of a plugin with this list.
	var supported ast.Node
	api.each(func(_ *file, n ast.Node) {
		s, ok := n.(*ast.ValueSpec)
		if ok && len(s.Names) == 1 && s.Names[0].Name == "SupportedVersions" {
			ast.Inspect(s, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && literal(lit) == "v1beta1" {
					supported = lit
				}
				return true
			})
		}
	})
	if supported == nil {
		return unclear("v1beta1 is not among the SupportedVersions of %s", api.name)
	}
	return yes("RegisterRegistrationServer", r.devices.line(at[0]), api.line(supported))
}

// handsOn: a field of the answer to Allocate gets into the options of the
// container.
func (r *release) handsOn(field string) verdict {
	from, v, ok := r.devices.anchored("deviceRunContainerOptions")
	if !ok || field == "" {
		return v
	}
	reached := r.devices.reach(from, false)
	if at, in := find(reached, false, ranges(field)); at != nil {
		return yes(in.Name.Name, r.devices.line(at))
	}
	if at, in := find(reached, false, mentions(field)); at != nil {
		return unclear("%s uses %s otherwise than in a loop", in.Name.Name, field)
	}
	return unclear("deviceRunContainerOptions does not read %s, which the API has", field)
}

// runtimeGets: the options of the container get to the container runtime.
func (r *release) runtimeGets(field string) verdict {
	if v, broken := r.runtime.broken(); broken {
		return v
	}
	if len(r.runtime.files) == 0 {
		return lost("what is handed to the container runtime")
	}
	at, in := find(r.runtime.every, false, ranges(field))
	if at == nil {
		return unclear("%s is not handed to the container runtime where it used to be", field)
	}
	return yes(in.Name.Name, r.runtime.line(at))
}

// annotatesCDI: CDI devices become annotations as well.
func (r *release) annotatesCDI() verdict {
	from, v, ok := r.devices.anchored("deviceRunContainerOptions")
	if !ok {
		return v
	}
	at, in := find(r.devices.reach(from, false), false, func(f *fn, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && strings.Contains(f.in.from(call.Fun), "cdi") && strings.Contains(called(call), "Annotations")
	})
	if at == nil {
		return no("deviceRunContainerOptions makes no annotations of CDI devices")
	}
	return yes(in.Name.Name, r.devices.line(at))
}

// calls: the API has a method, and the device manager calls it with its request.
func (r *release) calls(api *protocol, name, request string) verdict {
	has := api.method("DevicePlugin", name)
	if has.State != capability.Yes {
		return has
	}
	if v, broken := r.devices.broken(); broken {
		return v
	}
	at, in := find(r.devices.every, true, func(f *fn, n ast.Node) bool {
		if !calls(name)(f, n) {
			return false
		}
		makes := false
		ast.Inspect(n, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			makes = makes || ok && typeName(lit.Type) == request
			return !makes
		})
		return makes
	})
	if at != nil {
		return all(has, yes(in.Name.Name, r.devices.line(at)))
	}
	if at, in := find(r.devices.every, true, mentions(name)); at != nil {
		return unclear("%s uses %s in a way that is not understood", in.Name.Name, name)
	}
	return unclear("nothing calls %s, which the API has", name)
}

// aligns: NUMA nodes of devices are topology hints. They count only with a
// policy other than none, which is the default.
func (r *release) aligns(api *protocol) verdict {
	v, name := api.field("Device", "topology")
	if v.State == capability.Yes {
		from, missing, ok := r.devices.anchored("GetTopologyHints")
		if !ok {
			return missing
		}
		at, in := find(r.devices.reach(from, false), false, mentions(name))
		if at == nil {
			return unclear("GetTopologyHints does not read %s", name)
		}
		v = all(v, yes(in.Name.Name, r.devices.line(at)))
	}
	v = r.gated(v, capability.DeviceTopology, "TopologyManager", r.linux, r.root)
	if v.State != capability.Yes {
		return v
	}
	switch policy := r.policy(); {
	case policy.Absent:
		return unclear("the default of topologyManagerPolicy: %s", policy.Why)
	case policy.Value == "none":
		v.State = capability.Partial
	}
	return v
}

// keepsSidecars: devices of restartable init containers are not given to others.
func (r *release) keepsSidecars() verdict {
	from, v, ok := r.devices.anchored("Allocate")
	if !ok {
		return v
	}
	reached := r.devices.reach(from, false)
	if at, _ := find(reached, false, mentions("InitContainers")); at == nil {
		return unclear("Allocate does not look at init containers where it used to")
	}
	if at, in := find(reached, false, calls("IsRestartableInitContainer")); at != nil {
		return yes(in.Name.Name, r.devices.line(at))
	}
	at, in := find(reached, false, func(_ *fn, n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && (strings.Contains(id.Name, "Restart") || strings.Contains(id.Name, "Sidecar"))
	})
	if at != nil {
		return unclear("%s treats some init containers in a way that is not understood", in.Name.Name)
	}
	return no("Allocate treats all init containers alike")
}

// leavesToDRA: the device manager leaves extended resources alone that a claim
// of the pod stands for.
func (r *release) leavesToDRA() verdict {
	from, v, ok := r.devices.anchored("allocateContainerResources")
	if !ok {
		return v
	}
	at, in := find(r.devices.reach(from, false), false, mentions("ExtendedResourceClaimStatus"))
	if at == nil && asked("DRAExtendedResource", []*code{r.devices}) {
		return unclear("the device manager asks for the feature gate DRAExtendedResource, but allocateContainerResources does not look at ExtendedResourceClaimStatus")
	}
	if at == nil {
		return no("allocateContainerResources does not look at ExtendedResourceClaimStatus")
	}
	return yes(in.Name.Name, r.devices.line(at))
}
