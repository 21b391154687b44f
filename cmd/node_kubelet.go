package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/kubelet"
	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/report"
)

// kubeletFacts is what was found out about the kubelet of this node.
type kubeletFacts struct {
	process  node.Kubelet // its PID is 0 if only its socket was seen
	claims   []inference.Claim
	config   *node.Config
	served   *kubelet.PodResources // nil if nobody answers
	register *report.KubeletRegistration
	support  inference.Support
	problems []string
}

// lookKubelet finds the kubelet of this node; nil if there is none.
func (n *nodeFacts) lookKubelet(ctx context.Context, t *inference.Table, o nodeOptions, assumed inference.Values) *kubeletFacts {
	k := &kubeletFacts{}
	found, err := n.host.FindKubelets()
	if len(found) > 0 {
		k.process = found[0]
	} else if err != nil && n.failed == nil {
		n.problems = append(n.problems, "whether there is a kubelet: "+err.Error())
	}
	if len(found) > 1 {
		k.problems = append(k.problems, fmt.Sprintf("%d kubelets run on this node, this is the one with process id %d", len(found), k.process.PID))
	}
	switch err := k.process.Err; {
	case err != nil:
		// All the rest would fail for the same reason.
		what := fmt.Sprintf("the kubelet cannot be looked at: %v", err)
		if errors.Is(err, fs.ErrPermission) {
			what += ": run as root"
		}
		k.problems = append(k.problems, what)
	case len(found) > 0:
		k.ask(ctx)
		k.findVersion(ctx)
		k.readConfig(o.config)
	default:
		// Its socket may be all that is to be seen of it.
		if k.ask(ctx); k.served == nil {
			return nil
		}
	}
	observed := inference.KubeletObservation{Claims: k.claims, Served: k.servedMethods()}
	if len(k.claims) == 0 {
		observed.Unknown = k.noVersion()
	}
	k.support = t.ObserveKubelet(observed, k.values(t, assumed))
	return k
}

// findVersion asks the executable, and reads what else tells the version.
func (k *kubeletFacts) findVersion(ctx context.Context) {
	add := func(version, origin string) {
		if version != "" {
			k.claims = append(k.claims, inference.Claim{Version: version, Origin: origin})
		}
	}
	// A program with a kubelet inside is never run: --version is its own.
	if k.process.Inside == "" {
		v, err := kubelet.Version(ctx, k.process.File)
		if add(v, "the kubelet"); err != nil {
			k.problems = append(k.problems, err.Error())
			add(k.process.InPath, "the path of its executable")
		}
	}
	add(k.process.Built, "the build information of its executable")
}

// noVersion says why no version is known, and what to do.
func (k *kubeletFacts) noVersion() string {
	what := "the version of the kubelet is not known"
	switch {
	case k.process.PID == 0:
		what = "the kubelet answers, but its process cannot be seen from here, so that its version is not known"
	case k.process.Inside != "":
		what = "the version of the kubelet inside " + k.process.Inside + " is not known"
	}
	return what + `: name it, as in --runtime "kubelet@v1.34.1"; 'kubectl get nodes' shows it`
}

// ask asks the pod resources service.
func (k *kubeletFacts) ask(ctx context.Context) {
	socket := k.process.PodResources()
	served, err := kubelet.AskPodResources(ctx, k.process.Path(socket))
	if err != nil {
		k.problems = append(k.problems, fmt.Sprintf("%s: %v", socket, err))
		return
	}
	if k.served = served; served != nil && served.Problem != "" {
		k.problems = append(k.problems, served.Problem)
	}
}

// servedMethods is what the pod resources service answered, in the words of the
// table.
func (k *kubeletFacts) servedMethods() map[capability.ID]inference.Served {
	served := map[capability.ID]inference.Served{}
	if k.served == nil {
		return served
	}
	words := map[kubelet.Served]inference.Served{
		kubelet.Absent: inference.ServedAbsent, kubelet.Off: inference.ServedOff, kubelet.On: inference.ServedOn,
	}
	for id, s := range map[capability.ID]kubelet.Served{
		capability.PodresGet: k.served.Get, capability.PodresGetAllocatable: k.served.Allocatable,
	} {
		if word, ok := words[s]; ok {
			served[id] = word
		}
	}
	return served
}

// readConfig reads the configuration that was named, if it is one of a kubelet,
// or the one that the kubelet runs with.
func (k *kubeletFacts) readConfig(path string) {
	var c node.Config
	var err error
	if path != "" && node.IsKubeletConfig(path) {
		c, err = node.ReadConfig(path, node.ConfigOptions{Runtime: inference.Kubelet})
	} else {
		c, err = k.process.KubeletConfig()
	}
	if err != nil {
		k.problems = append(k.problems, "the kubelet's "+err.Error())
		return
	}
	if k.config = &c; c.GatesUnknown != "" {
		k.problems = append(k.problems, c.GatesUnknown)
	}
}

// values are the settings of the kubelet: what was assumed, else what its
// configuration says. Of one that could not be read nothing is known. One that
// was read also tells of the topology manager, by its default if by nothing else.
func (k *kubeletFacts) values(t *inference.Table, assumed inference.Values) inference.Values {
	values := configValues(t, k.config)
	if _, said := values[inference.TopologyManagerPolicy]; !said {
		values[inference.TopologyManagerPolicy] = inference.Value{Value: "default"}
	}
	for name, v := range assumed {
		values[name] = v
	}
	return values
}

// probeRegistration asks the kubelet for a registration that it has to refuse.
func (k *kubeletFacts) probeRegistration(ctx context.Context) error {
	r, err := kubelet.ProbeRegistration(ctx, k.process.Path(kubelet.RegistrationSocket))
	if err != nil {
		return fmt.Errorf("%s: %w", kubelet.RegistrationSocket, err)
	}
	k.register = &report.KubeletRegistration{
		Socket: kubelet.RegistrationSocket, Answer: r.Answer, Versions: r.Versions,
		Left: []string{
			"two lines in the log of the kubelet, the second at error level from 1.33 on",
			"the time series kubelet_device_plugin_registration_total with an empty resource_name",
		},
	}
	return nil
}

// document describes the kubelet.
func (k *kubeletFacts) document() *report.NodeKubelet {
	doc := report.NewNodeKubelet(k.support, k.claims)
	doc.Inside, doc.Registration = k.process.Inside, k.register
	doc.Problems = append(doc.Problems, k.problems...)
	if p := k.process; p.PID > 0 {
		doc.Process = &report.Process{PID: p.PID, Exe: p.Exe, Deleted: p.Deleted, Version: p.Built}
		if p.Exe == "" { // It may not be seen; how it was called may.
			doc.Process.Exe = strings.Join(p.Args[:min(len(p.Args), 1)], "")
		}
	}
	if k.config != nil {
		doc.Config = nodeConfig(k.config)
	}
	if s := k.served; s != nil {
		doc.PodResources = &report.KubeletPodResources{
			Socket: k.process.PodResources(), Get: string(s.Get), GetAllocatableResources: string(s.Allocatable),
		}
	}
	return doc
}
