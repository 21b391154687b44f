package standin

import (
	"errors"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// listed is what a plugin sent on its stream of lists, or how that ended.
type listed struct {
	list *v1beta1.ListAndWatchResponse
	err  error
}

// list opens ListAndWatch and returns the healthy devices of the first list that
// has any, in the order of the list. A plugin that looks for its devices while it
// serves begins with an empty list: others are waited for, for a while.
//
// The stream stays open and its lists are counted until the stand-in ends, as a
// kubelet never ends it either.
func (v *visit) list(client v1beta1.DevicePluginClient) []string {
	const method = "ListAndWatch"
	ctx := v.s.ctx
	v.waits(method)
	stream, err := client.ListAndWatch(ctx, &v1beta1.Empty{})
	if err != nil {
		v.call(ctx, method, err, nil)
		return nil
	}
	lists, enough := make(chan listed), make(chan struct{})
	defer close(enough)
	v.s.work.Go(func() { v.receive(stream, lists, enough) })
	patience := time.NewTimer(v.s.o.CallTimeout)
	defer patience.Stop()
	for first := true; ; first = false {
		var next listed
		select {
		case next = <-lists:
		case <-patience.C:
			if first {
				v.call(ctx, method, status.Errorf(codes.DeadlineExceeded, "no list of devices within %s", v.s.o.CallTimeout), nil)
			}
			return nil
		case <-ctx.Done():
			return nil
		}
		switch {
		case next.err == nil:
		case !first:
			return nil
		case errors.Is(next.err, io.EOF):
			v.call(ctx, method, status.Error(codes.Aborted, "it ended without a list of devices"), nil)
			return nil
		default:
			v.call(ctx, method, next.err, nil)
			return nil
		}
		var healthy []string
		take := func(r *Registration) { healthy = r.take(next.list) }
		if first {
			v.call(ctx, method, nil, take)
			patience.Reset(v.s.o.DeviceWait)
		} else {
			v.note(take)
		}
		if len(healthy) > 0 {
			return healthy
		}
	}
}

// receive counts the lists of a plugin and hands them over until it is enough.
// One that sends without end is left alone after a while.
func (v *visit) receive(stream v1beta1.DevicePlugin_ListAndWatchClient, lists chan<- listed, enough <-chan struct{}) {
	for n := 1; n <= maxUpdates; n++ {
		list, err := stream.Recv()
		if err == nil {
			v.count(n)
		}
		select {
		case lists <- listed{list, err}:
		case <-enough:
		}
		if err != nil {
			v.ended(n-1, err)
			return
		}
	}
}

// ended notes how a stream ended that had begun with lists.
func (v *visit) ended(lists int, err error) {
	if lists == 0 || v.s.ctx.Err() != nil {
		return // the call has failed; the stand-in ends it
	}
	end := &Call{Method: "ListAndWatch", Code: codes.OK.String()}
	if !errors.Is(err, io.EOF) {
		end.Error, end.Code = short(status.Convert(err).Message()), status.Code(err).String()
	}
	v.note(func(r *Registration) { r.Ended = end })
}

// count notes how many lists there were. Of most nobody is told: a plugin that
// sends without end would keep everybody busy.
func (v *visit) count(n int) {
	v.s.mutex.Lock()
	r := &v.s.seen.Registrations[v.index]
	r.Updates, r.Endless = n, n == maxUpdates
	v.s.mutex.Unlock()
	if n == maxUpdates {
		v.note(func(*Registration) {})
	}
}

// take keeps what counts of a list of devices, in place of the one before, and
// returns the healthy ones in the order of the list.
func (r *Registration) take(list *v1beta1.ListAndWatchResponse) []string {
	r.DeviceCount, r.Devices = len(list.GetDevices()), []Device{}
	r.noteUnknown(list)
	var healthy []string
	seen := map[string]bool{}
	twice := false
	for _, d := range list.GetDevices() {
		twice = twice || seen[d.GetID()]
		seen[d.GetID()] = true
		if d.GetHealth() == v1beta1.Healthy {
			healthy = append(healthy, d.GetID())
		}
		r.keep(d)
	}
	if twice {
		r.Oddities = append(slices.Clip(r.Oddities), "it lists a device twice: the kubelet takes the two for one")
	}
	r.Healthy = len(healthy)
	return healthy
}

// keep keeps a device, if there is room or if it is the first with a topology:
// one of these is worth more than another without.
func (r *Registration) keep(d *v1beta1.Device) {
	device := Device{ID: short(d.GetID()), Health: short(d.GetHealth())}
	nodes := d.GetTopology().GetNodes()
	for _, n := range nodes[:min(len(nodes), maxListed)] {
		device.NUMANodes = append(device.NUMANodes, n.GetID())
	}
	switch {
	case len(r.Devices) < maxDevices:
		r.Devices = append(slices.Clip(r.Devices), device)
	case device.NUMANodes != nil && !slices.ContainsFunc(r.Devices, func(d Device) bool { return d.NUMANodes != nil }):
		r.Devices = append(slices.Clone(r.Devices[:maxDevices-1]), device)
	}
}
