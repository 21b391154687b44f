package standin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// exercise calls the plugin as a kubelet does for a container that asks for one
// of its devices.
func (v *visit) exercise(client v1beta1.DevicePluginClient) {
	ctx := v.s.ctx
	healthy := v.list(client)
	if len(healthy) == 0 {
		return
	}
	chosen := healthy[:1]
	b, options := v.s.o.Behaviour, v.effective()
	if options.GetPreferredAllocationAvailable && (b.Preferred || b.Curious) {
		if preferred := v.prefer(ctx, client, healthy); len(preferred) > 0 {
			chosen = preferred
		}
	}
	if !v.allocate(ctx, client, chosen) {
		return
	}
	if options.PreStartRequired {
		ctx, cancel := context.WithTimeout(ctx, v.s.o.CallTimeout)
		defer cancel()
		v.waits("PreStartContainer")
		_, err := client.PreStartContainer(ctx, &v1beta1.PreStartContainerRequest{DevicesIds: chosen})
		v.call(ctx, "PreStartContainer", err, func(*Registration) {})
	}
}

// effective are the options that count with this kubelet.
func (v *visit) effective() PluginOptions {
	var out PluginOptions
	add := func(o *PluginOptions, counts bool) {
		if o != nil && (counts || v.s.o.Behaviour.Curious) {
			out.PreStartRequired = out.PreStartRequired || o.PreStartRequired
			out.GetPreferredAllocationAvailable = out.GetPreferredAllocationAvailable || o.GetPreferredAllocationAvailable
		}
	}
	r := v.registration()
	add(r.Told, v.s.o.Behaviour.RegisterOptions && r.Way == ByCall)
	add(r.Answered, v.s.o.Behaviour.GetOptions || r.Way == BySocket)
	return out
}

// prefer lets the plugin choose one of its devices, and returns its choice, the
// first that is one of them.
func (v *visit) prefer(ctx context.Context, client v1beta1.DevicePluginClient, available []string) []string {
	ctx, cancel := context.WithTimeout(ctx, v.s.o.CallTimeout)
	defer cancel()
	v.waits("GetPreferredAllocation")
	resp, err := client.GetPreferredAllocation(ctx, &v1beta1.PreferredAllocationRequest{
		ContainerRequests: []*v1beta1.ContainerPreferredAllocationRequest{{AvailableDeviceIDs: available, AllocationSize: 1}},
	})
	var chosen []string
	v.call(ctx, "GetPreferredAllocation", err, func(r *Registration) {
		r.noteUnknown(resp)
		if len(resp.GetContainerResponses()) == 0 {
			return // no preference
		}
		r.Preferred = bounded(resp.ContainerResponses[0].GetDeviceIDs())
		for _, id := range resp.ContainerResponses[0].GetDeviceIDs() {
			switch {
			case slices.Contains(available, id):
				chosen = []string{id} // of several a kubelet takes any
				return
			case len(r.Oddities) < maxListed:
				r.Oddities = append(slices.Clip(r.Oddities), fmt.Sprintf("GetPreferredAllocation chooses %q, which is none of the devices it was offered: the kubelet passes over it", short(id)))
			}
		}
	})
	return chosen
}

// allocate allocates devices; it tells whether that went well.
func (v *visit) allocate(ctx context.Context, client v1beta1.DevicePluginClient, devices []string) bool {
	ctx, cancel := context.WithTimeout(ctx, v.s.o.CallTimeout)
	defer cancel()
	v.waits("Allocate")
	resp, err := client.Allocate(ctx, &v1beta1.AllocateRequest{
		ContainerRequests: []*v1beta1.ContainerAllocateRequest{{DevicesIds: devices}},
	})
	v.call(ctx, "Allocate", err, func(r *Registration) {
		r.noteUnknown(resp)
		if len(resp.GetContainerResponses()) == 0 {
			r.Faults = append(slices.Clip(r.Faults), "Allocate answers for no container: the pod is not admitted")
			return
		}
		r.Allocated = allocation(resp.ContainerResponses[0])
	})
	return err == nil
}

// allocation keeps what counts of what was handed out.
func allocation(c *v1beta1.ContainerAllocateResponse) *Allocation {
	return &Allocation{
		DeviceNodes: names(c.GetDevices(), (*v1beta1.DeviceSpec).GetHostPath),
		Mounts:      names(c.GetMounts(), (*v1beta1.Mount).GetHostPath),
		Env:         bounded(slices.Sorted(maps.Keys(c.GetEnvs()))),
		Annotations: bounded(slices.Sorted(maps.Keys(c.GetAnnotations()))),
		CDI:         names(c.GetCdiDevices(), (*v1beta1.CDIDevice).GetName),
	}
}

func names[T any](list []T, name func(T) string) []string {
	var out []string
	for _, x := range list {
		out = append(out, name(x))
	}
	slices.SortFunc(out, cmp.Compare)
	return bounded(out)
}

func pluginOptions(o *v1beta1.DevicePluginOptions) *PluginOptions {
	if o == nil {
		return nil
	}
	return &PluginOptions{PreStartRequired: o.PreStartRequired, GetPreferredAllocationAvailable: o.GetPreferredAllocationAvailable}
}
