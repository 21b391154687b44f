// A device plugin that is built on Intel's framework: it has CDI devices besides
// device nodes, chooses devices, and adds an annotation to what is handed out.
package main

import (
	"time"

	"github.com/intel/intel-device-plugins-for-kubernetes/pkg/deviceplugin"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	cdi "tags.cncf.io/container-device-interface/specs-go"
)

type devicePlugin struct{}

func (*devicePlugin) Scan(n deviceplugin.Notifier) error {
	nodes := []v1beta1.DeviceSpec{{ContainerPath: "/dev/null0", HostPath: "/dev/null", Permissions: "rw"}}
	spec := &cdi.Spec{Version: "0.5.0", Kind: "example.com/device", Devices: []cdi.Device{{
		Name: "0", ContainerEdits: cdi.ContainerEdits{DeviceNodes: []*cdi.DeviceNode{{Path: "/dev/null"}}},
	}}}
	for {
		devices := deviceplugin.NewDeviceTree()
		devices.AddDevice("framework", "0", deviceplugin.NewDeviceInfo(v1beta1.Healthy, nodes, nil, nil, nil, spec))
		n.Notify(devices)
		time.Sleep(time.Minute)
	}
}

func (*devicePlugin) GetPreferredAllocation(*v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
	return &v1beta1.PreferredAllocationResponse{}, nil
}

func (*devicePlugin) PostAllocate(r *v1beta1.AllocateResponse) error {
	for _, c := range r.ContainerResponses {
		c.Annotations = map[string]string{"example.com/hook": "on"}
	}
	return nil
}

// PreStartContainer has another signature than the framework looks for.
func (*devicePlugin) PreStartContainer() {}

func main() {
	p := &devicePlugin{}
	p.PreStartContainer()
	deviceplugin.NewManager("example.com", p).Run()
}
