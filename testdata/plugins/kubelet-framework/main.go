// A device plugin that is built on a framework: it has CDI devices besides
// device nodes, chooses devices, and adds an annotation to what is handed out.
package main

import (
	"log"

	"github.com/intel/intel-device-plugins-for-kubernetes/pkg/deviceplugin"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type devicePlugin struct{}

func (*devicePlugin) Scan(n deviceplugin.Notifier) error {
	nodes := []*v1beta1.DeviceSpec{{ContainerPath: "/dev/null0", HostPath: "/dev/null", Permissions: "rw"}}
	cdi := &deviceplugin.CDISpec{Name: "example.com/device=0"}
	n.Notify(deviceplugin.DeviceTree{"framework": {"0": deviceplugin.NewDeviceInfo(v1beta1.Healthy, nodes, nil, nil, nil, cdi)}})
	return nil
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
	log.Fatal(deviceplugin.NewManager("example.com", p).Run())
}
