package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
)

// pods are the pods of the node: one for each allocation.
type pods struct {
	mutex sync.Mutex
	all   []*v1.Pod
}

func (p *pods) active() []*v1.Pod {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]*v1.Pod{}, p.all...)
}

// allocate reads the names of resources, a line each, allocates one device of it
// for a pod of its own, as the kubelet does for a container that is about to
// start, and answers "ok", "none" if it has no such device, or the error.
func (p *pods) allocate(manager *devicemanager.ManagerImpl, in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		fmt.Fprintln(out, p.allocateOne(manager, v1.ResourceName(lines.Text())))
	}
}

func (p *pods) allocateOne(manager *devicemanager.ManagerImpl, name v1.ResourceName) string {
	p.mutex.Lock()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", UID: types.UID(fmt.Sprint(len(p.all)))}}
	pod.Spec.Containers = []v1.Container{{Name: "container", Resources: v1.ResourceRequirements{
		Limits: v1.ResourceList{name: resource.MustParse("1")},
	}}}
	p.all = append(p.all, pod)
	p.mutex.Unlock()
	container := &pod.Spec.Containers[0]
	err := manager.Allocate(pod, container)
	if err == nil {
		_, err = manager.GetDeviceRunContainerOptions(pod, container)
	}
	switch {
	case err != nil:
		return "error: " + strings.Join(strings.Fields(err.Error()), " ")
	case len(manager.GetDevices(string(pod.UID), container.Name)) == 0:
		return "none"
	}
	return "ok"
}
