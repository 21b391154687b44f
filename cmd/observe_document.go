package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/pluginlog"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/nri-compat/nri-compat/internal/standin"
)

// findings tells what was learnt of a plugin, by what it did and by how its run
// ended.
func (o *observeOptions) findings(seen stageReport) standin.Findings {
	ended := seen.Exit != "" && len(seen.Left) == 0
	if ended {
		// That its lists end when it does is no fault of its own.
		for i := range seen.Seen.Registrations {
			seen.Seen.Registrations[i].Ended = nil
		}
	}
	found := seen.Seen.Findings()
	switch {
	case seen.TimedOut:
		found.Needs.Gaps = append(found.Needs.Gaps, fmt.Sprintf("the time was up after %s: give it more with --timeout", o.timeout))
	case seen.Cut:
		found.Needs.Gaps = append(found.Needs.Gaps, "a signal ended the run before all was seen")
	case ended && seen.Seen.Restarted != nil && seen.Seen.Restarted.Ended:
		// The findings say so.
	case ended && seen.Seen.Registered():
		// The kubelet takes its devices for unhealthy. Why it ended may be due to this
		// machine.
		found.Needs.Gaps = append(found.Needs.Gaps, "it ended while it was registered, and a kubelet takes the devices for unhealthy then: "+seen.Exit)
	default:
		for _, resource := range seen.Seen.Lost() {
			found.Needs.Gaps = append(found.Needs.Gaps, fmt.Sprintf("it stopped to serve %s while it was registered, and a kubelet takes the devices for unhealthy then", resource))
		}
	}
	return found
}

// document describes what was seen of a plugin, and what follows from it.
func (o *observeOptions) document(t *inference.Table, plugin string, as *inference.Support, seen stageReport, found standin.Findings, log *pluginlog.Tail) *report.Observe {
	doc := report.NewObserve(o.head("observe", t), report.ObservedPlugin{
		Name: filepath.Base(plugin), Path: plugin, Args: o.args, Ended: describeExit(seen), Left: seen.Left, TimedOut: seen.TimedOut,
	})
	for _, r := range seen.Seen.Registrations {
		doc.Registrations = append(doc.Registrations, observedRegistration(r))
	}
	for _, d := range seen.Seen.Drivers {
		doc.Drivers = append(doc.Drivers, report.ObservedDriver{Name: d.Name, Type: d.Type, Services: d.Services, Error: d.Error})
	}
	doc.PodResources = append(doc.PodResources, seen.Seen.PodResources...)
	if r := seen.Seen.Restarted; r != nil {
		doc.Restarted = &report.Restarted{Again: r.Again, Missing: r.Missing}
	}
	for _, r := range found.Needs.Requirements {
		doc.Requirements = append(doc.Requirements, report.NewRequirement(r))
	}
	kubelets := []string{inference.Kubelet}
	for _, b := range found.Broken {
		var advice inference.Advice
		if b.Capability != 0 {
			need := capability.Needs{Requirements: []capability.Requirement{{Capability: b.Capability}}}
			advice = t.Advise(need, kubelets, nil)
		}
		doc.Broken = append(doc.Broken, report.NewBroken(b.Text, b.Capability, advice))
	}
	doc.Gaps = append(doc.Gaps, found.Needs.Gaps...)
	doc.Warnings = append(doc.Warnings, found.Warnings...)
	if len(doc.Broken)+len(doc.Gaps) > 0 || seen.Exit != "" {
		doc.SetLog(logReport(t, "", log))
	}
	var group *inference.Group
	if as != nil {
		group = &t.Evaluate(found.Needs, []inference.Support{*as})[0]
	}
	doc.Conclude(group, t.Advise(found.Needs, kubelets, nil), undecided(t, found.Needs))
	return doc
}

// undecided tells whether there is a release of the kubelet of which it is not
// known whether it has all that is needed.
func undecided(t *inference.Table, need capability.Needs) bool {
	for _, r := range t.Releases(inference.Kubelet) {
		s := t.Lookup(inference.Runtime{Name: r.Runtime, Version: r.Version}, nil)
		if capability.Check(need, s).Verdict == capability.Inconclusive {
			return true
		}
	}
	return false
}

func observedRegistration(r standin.Registration) report.ObservedRegistration {
	out := report.ObservedRegistration{
		Resource: r.Resource, Endpoint: r.Endpoint, Version: r.Version, Way: r.Way,
		RegisterOptions: deviceOptions(r.Told), Options: deviceOptions(r.Answered),
		Served: string(r.Served), Refused: r.Refused, Replaced: r.Replaced,
		Updates: r.Updates, DeviceCount: r.DeviceCount, Healthy: r.Healthy,
		Devices: []report.ObservedDevice{}, Calls: []report.ObservedCall{}, Preferred: append([]string{}, r.Preferred...),
	}
	for _, d := range r.Devices {
		out.Devices = append(out.Devices, report.ObservedDevice{ID: d.ID, Health: d.Health, NUMANodes: append([]int64{}, d.NUMANodes...)})
	}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, report.ObservedCall{Method: c.Method, Code: c.Code, Error: c.Error})
	}
	if a := r.Allocated; a != nil {
		out.Allocated = &report.Allocated{DeviceNodes: a.DeviceNodes, Mounts: a.Mounts, Env: a.Env, Annotations: a.Annotations, CDI: a.CDI}
	}
	return out
}

func deviceOptions(o *standin.PluginOptions) *report.DeviceOptions {
	if o == nil {
		return nil
	}
	return &report.DeviceOptions{PreStartRequired: o.PreStartRequired, GetPreferredAllocationAvailable: o.GetPreferredAllocationAvailable}
}
