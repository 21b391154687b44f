// The program is the half of a kubelet that device plugins meet: its device
// manager and its pod resources service, without a cluster and without pods.
//
// It prints "ready" once both sockets listen, and ends on SIGTERM or when its
// standard input is closed. Each line there is a resource of which it allocates a
// device.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	_ "unsafe" // for linkname

	cadvisor "github.com/google/cadvisor/info/v1"
	"github.com/spf13/pflag"
	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/version/verflag" // adds --version
	"k8s.io/klog/v2"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	podresourcesv1 "k8s.io/kubelet/pkg/apis/podresources/v1"
	podresourcesv1alpha1 "k8s.io/kubelet/pkg/apis/podresources/v1alpha1"
	apisgrpc "k8s.io/kubernetes/pkg/kubelet/apis/grpc"
	"k8s.io/kubernetes/pkg/kubelet/apis/podresources"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"

	_ "k8s.io/kubernetes/pkg/features" // the feature gates of this release
)

// newManager makes a device manager with a socket at any path. The exported
// constructor knows /var/lib/kubelet only.
//
//go:linkname newManager k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newManager(socket string, topology []cadvisor.Node, affinity topologymanager.Store) (*devicemanager.ManagerImpl, error)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	rootDir := pflag.String("root-dir", "/var/lib/kubelet", "`DIR` that has pod-resources/kubelet.sock")
	devicePlugins := pflag.String("device-plugins", deviceplugin.DevicePluginPath, "`DIR` that has kubelet.sock, to which device plugins register")
	log := pflag.Bool("log", false, "log to standard error")
	gates := map[string]bool{}
	pflag.Var(cliflag.NewMapStringBool(&gates), "feature-gates", "`GATE=BOOL,...`")
	pflag.Parse()
	verflag.PrintAndExitIfRequested()
	if !*log {
		klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	manager, err := newManager(filepath.Join(*devicePlugins, filepath.Base(deviceplugin.KubeletSocket)), nil, topologymanager.NewFakeManager())
	if err != nil {
		return err
	}
	node := &pods{}
	if err := manager.Start(node.active, ready{}, containermap.NewContainerMap(), sets.New[string]()); err != nil {
		return err
	}
	defer manager.Stop()

	empty := emptyNode{manager}
	providers := podresources.PodResourcesProviders{Pods: empty, Devices: empty, Cpus: empty, Memory: empty, DynamicResources: empty}
	server := grpc.NewServer(apisgrpc.WithRateLimiter(ctx, "podresources", podresources.DefaultQPS, podresources.DefaultBurstTokens))
	podresourcesv1alpha1.RegisterPodResourcesListerServer(server, podresources.NewV1alpha1PodResourcesServer(providers))
	podresourcesv1.RegisterPodResourcesListerServer(server, podresources.NewV1PodResourcesServer(ctx, providers))
	dir := filepath.Join(*rootDir, "pod-resources")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	socket := filepath.Join(dir, podresources.Socket+".sock")
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Println("ready")
	go func() {
		node.allocate(manager, os.Stdin, os.Stdout)
		stop()
	}()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		server.Stop()
		return nil
	}
}

// ready stands for a kubelet that has heard from all its sources of pods.
type ready struct{}

func (ready) AddSource(string) {}
func (ready) AllReady() bool   { return true }

// emptyNode is what the pod resources service knows: no pods, and the devices of
// the manager.
type emptyNode struct{ manager *devicemanager.ManagerImpl }

func (emptyNode) GetActivePods() []*v1.Pod                                       { return nil }
func (emptyNode) GetPods() []*v1.Pod                                             { return nil }
func (emptyNode) GetPodByName(_, _ string) (*v1.Pod, bool)                       { return nil, false }
func (emptyNode) GetCPUs(_, _ string) []int64                                    { return nil }
func (emptyNode) GetAllocatableCPUs() []int64                                    { return nil }
func (n emptyNode) UpdateAllocatedDevices()                                      { n.manager.UpdateAllocatedDevices() }
func (emptyNode) GetMemory(_, _ string) (none []*podresourcesv1.ContainerMemory) { return none }
func (emptyNode) GetAllocatableMemory() (none []*podresourcesv1.ContainerMemory) { return none }

func (emptyNode) GetDynamicResources(*v1.Pod, *v1.Container) (none []*podresourcesv1.DynamicResource) {
	return none
}

func (n emptyNode) GetDevices(podUID, container string) []*podresourcesv1.ContainerDevices {
	return devices(n.manager.GetDevices(podUID, container))
}

func (n emptyNode) GetAllocatableDevices() []*podresourcesv1.ContainerDevices {
	return devices(n.manager.GetAllocatableDevices())
}

// devices lists devices by resource.
func devices(all devicemanager.ResourceDeviceInstances) []*podresourcesv1.ContainerDevices {
	var out []*podresourcesv1.ContainerDevices
	for resource, instances := range all {
		d := &podresourcesv1.ContainerDevices{ResourceName: resource}
		for id := range instances {
			d.DeviceIds = append(d.DeviceIds, id)
		}
		out = append(out, d)
	}
	return out
}
