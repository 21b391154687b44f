// Package kubelet reads the source of a release of Kubernetes and decides from
// it what its kubelet does about each capability of device plugins and DRA
// drivers. A rule names what it looked at; what it was not written to understand
// it leaves undecided, for a person.
//
//	DEVICE_…          devices.go: what the device manager hands on and calls;
//	                  manager.go: what it keeps, and where it is built in;
//	                  registration.go: what Register leads to
//	PODRES_…, PODS_…  podresources.go
//	DRA_…             dra.go
//
// All ask gates.go whether a feature gate stands in the way, and protocol.go for
// what the API has. code.go and calls.go are the questions to syntax trees.
package kubelet

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// release is the code of one release, as far as a rule looks at it.
type release struct {
	version inference.Version
	// tree is k8s.io/kubernetes; apis is k8s.io/kubelet, nil before 1.17.
	tree, apis *source.Tree

	features *code   // the feature gates
	command  *code   // the command kubelet
	root     *code   // the kubelet itself
	server   *code   // what it serves
	linux    *code   // the container manager of Linux
	windows  *code   // the container manager of Windows
	devices  *code   // the device manager
	dra      *code   // the manager of DRA drivers
	drivers  *code   // the calls of DRA drivers
	pods     *code   // the pod resources server
	runtime  *code   // what is handed to the container runtime
	defaults *code   // the defaults of the configuration
	configs  []*code // the constants of the configuration

	settings map[string]probe.Setting
}

// Directories of k8s.io/kubernetes.
const (
	deviceManager = "pkg/kubelet/cm/devicemanager"
	draManager    = "pkg/kubelet/cm/dra"
	podServer     = "pkg/kubelet/apis/podresources"
)

// ErrNotKubernetes is the error for a tree that has no kubelet.
var ErrNotKubernetes = errors.New("no source of Kubernetes: it has no " + featurePackage + " or no " + deviceManager)

// Read reads one release. The tree is that of the module k8s.io/kubernetes, apis
// that of k8s.io/kubelet, in which the APIs are from 1.17 on; nil before.
func Read(tree, apis *source.Tree, v inference.Version) (*probe.Report, error) {
	r := &release{version: v, tree: tree, apis: apis, settings: map[string]probe.Setting{}}
	for _, dir := range []string{featurePackage, deviceManager} {
		if _, err := tree.List(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNotKubernetes
		}
	}
	if apis != nil {
		r.apis = apis.WithPrefix("staging/src/k8s.io/kubelet/")
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	verdicts := map[capability.ID]probe.Verdict{}
	for _, decide := range []func(map[capability.ID]verdict) error{r.decideDevices, r.decideRegistration, r.decidePodResources, r.decideDRA} {
		if err := decide(verdicts); err != nil {
			return nil, err
		}
	}
	for _, id := range capability.OfFamily(capability.Kubelet) {
		if _, ok := verdicts[id]; !ok {
			verdicts[id] = unclear("no rule is about it")
		}
	}
	policy := r.policy()
	r.settings[policy.Name] = policy
	return &probe.Report{Verdicts: verdicts, Settings: r.settings, Config: r.others()}, nil
}

// load reads what rules look at.
func (r *release) load() error {
	for _, l := range []struct {
		to     **code
		places []place
	}{
		{&r.features, []place{{dir: featurePackage}}},
		{&r.command, []place{{"cmd/kubelet/app", []string{"server.go"}}}},
		{&r.root, []place{{"pkg/kubelet", []string{"kubelet.go", "kubelet_pods.go"}}}},
		{&r.server, []place{{"pkg/kubelet/server", []string{"server.go"}}}},
		{&r.linux, []place{{"pkg/kubelet/cm", []string{"container_manager_linux.go"}}}},
		{&r.windows, []place{{"pkg/kubelet/cm", []string{"container_manager_windows.go"}}}},
		{&r.devices, []place{{dir: deviceManager}, {dir: deviceManager + "/plugin/v1beta1"}, {dir: deviceManager + "/checkpoint"}}},
		{&r.dra, []place{{dir: draManager}}},
		{&r.drivers, []place{{dir: draManager + "/plugin"}}},
		{&r.pods, []place{{dir: podServer}, {dir: podServer + "/grpc"}}},
		{&r.runtime, []place{{"pkg/kubelet/kuberuntime", []string{"kuberuntime_container.go", "labels.go"}}}},
		{&r.defaults, []place{{"pkg/kubelet/apis/config/v1beta1", []string{"defaults.go"}}, {"pkg/kubelet/apis/kubeletconfig/v1beta1", []string{"defaults.go"}}}},
	} {
		c, err := load(r.tree, l.places...)
		if err != nil {
			return err
		}
		*l.to = c
	}
	if r.apis != nil {
		c, err := load(r.apis, place{"config/v1beta1", []string{"types.go"}})
		if err != nil {
			return err
		}
		r.configs = append(r.configs, c)
	}
	c, err := load(r.tree, place{"pkg/kubelet/apis/config", []string{"types.go"}})
	r.configs = append(r.configs, c)
	return err
}

// lost is the verdict where something is not found that every release has: the
// rule looks in the wrong place, and a "no" would be worth nothing.
func lost(what string) verdict {
	return unclear("%s is not where it used to be", what)
}

// anchored returns the functions of a name that every release has; a verdict
// that says so if there is none, or if the code was not read whole.
func (c *code) anchored(name string) ([]*fn, verdict, bool) {
	if v, broken := c.broken(); broken {
		return nil, v, false
	}
	if len(c.funcs[name]) == 0 {
		return nil, lost(fmt.Sprintf("the function %s", name)), false
	}
	return c.funcs[name], verdict{}, true
}
