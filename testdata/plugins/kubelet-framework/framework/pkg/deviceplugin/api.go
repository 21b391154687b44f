// Package deviceplugin stands in for the framework of the same import path: it
// has the same interfaces, and a manager that can do whatever a plugin may ask
// for, so that every part of the API is linked.
package deviceplugin

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// CDISpec stands for the CDI specification of a device.
type CDISpec struct{ Name string }

// DeviceInfo describes a device.
type DeviceInfo struct {
	nodes       []*v1beta1.DeviceSpec
	annotations map[string]string
	topology    *v1beta1.TopologyInfo
	cdi         *CDISpec
}

// NewDeviceInfo describes a device and finds its NUMA node.
func NewDeviceInfo(state string, nodes []*v1beta1.DeviceSpec, mounts []*v1beta1.Mount, envs, annotations map[string]string, cdiSpec *CDISpec) DeviceInfo {
	return DeviceInfo{nodes: nodes, annotations: annotations, cdi: cdiSpec, topology: &v1beta1.TopologyInfo{Nodes: []*v1beta1.NUMANode{{ID: 0}}}}
}

// DeviceTree holds devices by type and id.
type DeviceTree map[string]map[string]DeviceInfo

// Notifier takes the devices that a scan has found.
type Notifier interface{ Notify(DeviceTree) }

// Scanner finds devices.
type Scanner interface{ Scan(Notifier) error }

// PostAllocator changes what is handed out.
type PostAllocator interface {
	PostAllocate(*v1beta1.AllocateResponse) error
}

// PreferredAllocator chooses devices.
type PreferredAllocator interface {
	GetPreferredAllocation(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error)
}

// ContainerPreStarter prepares devices.
type ContainerPreStarter interface {
	PreStartContainer(*v1beta1.PreStartContainerRequest) error
}

// Manager serves the devices of a scanner.
type Manager struct {
	v1beta1.UnimplementedDevicePluginServer
	namespace string
	plugin    Scanner
	devices   DeviceTree
}

// NewManager returns a manager for a plugin.
func NewManager(namespace string, plugin Scanner) *Manager {
	return &Manager{namespace: namespace, plugin: plugin}
}

// Notify takes devices.
func (m *Manager) Notify(t DeviceTree) { m.devices = t }

// GetDevicePluginOptions tells what the plugin can do.
func (m *Manager) GetDevicePluginOptions(context.Context, *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	_, starts := m.plugin.(ContainerPreStarter)
	_, prefers := m.plugin.(PreferredAllocator)
	return &v1beta1.DevicePluginOptions{PreStartRequired: starts, GetPreferredAllocationAvailable: prefers}, nil
}

// ListAndWatch lists the devices.
func (m *Manager) ListAndWatch(_ *v1beta1.Empty, s v1beta1.DevicePlugin_ListAndWatchServer) error {
	list := &v1beta1.ListAndWatchResponse{}
	for _, kind := range m.devices {
		for id, d := range kind {
			list.Devices = append(list.Devices, &v1beta1.Device{ID: id, Health: v1beta1.Healthy, Topology: d.topology})
		}
	}
	if err := s.Send(list); err != nil {
		return err
	}
	<-s.Context().Done()
	return nil
}

// GetPreferredAllocation lets the plugin choose.
func (m *Manager) GetPreferredAllocation(c context.Context, r *v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
	if p, ok := m.plugin.(PreferredAllocator); ok {
		return p.GetPreferredAllocation(r)
	}
	return m.UnimplementedDevicePluginServer.GetPreferredAllocation(c, r)
}

// PreStartContainer lets the plugin prepare devices.
func (m *Manager) PreStartContainer(c context.Context, r *v1beta1.PreStartContainerRequest) (*v1beta1.PreStartContainerResponse, error) {
	if p, ok := m.plugin.(ContainerPreStarter); ok {
		return &v1beta1.PreStartContainerResponse{}, p.PreStartContainer(r)
	}
	return m.UnimplementedDevicePluginServer.PreStartContainer(c, r)
}

// Allocate hands out devices.
func (m *Manager) Allocate(context.Context, *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	out := &v1beta1.AllocateResponse{}
	for _, kind := range m.devices {
		for _, d := range kind {
			c := &v1beta1.ContainerAllocateResponse{Devices: d.nodes, Annotations: d.annotations}
			if d.cdi != nil {
				c.CdiDevices = []*v1beta1.CDIDevice{{Name: d.cdi.Name}}
			}
			out.ContainerResponses = append(out.ContainerResponses, c)
		}
	}
	if p, ok := m.plugin.(PostAllocator); ok {
		return out, p.PostAllocate(out)
	}
	return out, nil
}

// Run scans, serves and registers.
func (m *Manager) Run() error {
	if err := m.plugin.Scan(m); err != nil {
		return err
	}
	l, err := net.Listen("unix", v1beta1.DevicePluginPath+"framework.sock")
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	v1beta1.RegisterDevicePluginServer(s, m)
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	conn, err := grpc.NewClient("unix://"+v1beta1.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	options, _ := m.GetDevicePluginOptions(context.Background(), nil)
	for kind := range m.devices {
		if _, err := v1beta1.NewRegistrationClient(conn).Register(context.Background(), &v1beta1.RegisterRequest{
			Version: v1beta1.Version, Endpoint: "framework.sock", ResourceName: m.namespace + "/" + kind, Options: options,
		}); err != nil {
			return err
		}
	}
	return <-failed
}
