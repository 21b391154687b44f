package standin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/kubelet/pkg/apis/podresources/v1alpha1"
)

// methods are the calls of the pod resources API, and what a plugin depends on
// that makes them.
var methods = map[string]capability.ID{
	"v1alpha1.List":              capability.PodresV1alpha1List,
	"v1.List":                    capability.PodresV1List,
	"v1.GetAllocatableResources": capability.PodresGetAllocatable,
	"v1.Get":                     capability.PodresGet,
}

// servePodResources serves the pod resources API of a node without pods. What the
// kubelet does not have is answered like that, so that it shows who asks for it.
func (s *Kubelet) servePodResources() error {
	l, err := net.Listen("unix", s.o.PodResources)
	if err != nil {
		return fmt.Errorf("listen as a kubelet: %w", err)
	}
	s.podResources = grpc.NewServer()
	v1alpha1.RegisterPodResourcesListerServer(s.podResources, olderPodResources{s: s})
	v1.RegisterPodResourcesListerServer(s.podResources, podResources{s: s})
	s.work.Go(func() { _ = s.podResources.Serve(l) }) // it ends when it is stopped
	return nil
}

// closePodResources ends what servePodResources has begun.
func (s *Kubelet) closePodResources() error {
	if s.podResources == nil {
		return nil
	}
	s.podResources.Stop()
	if err := os.Remove(s.o.PodResources); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// has tells whether the kubelet answers a method of the pod resources API.
func (s *Kubelet) has(method string) bool {
	return s.o.Behaviour.Curious || slices.Contains(s.o.Behaviour.PodResources, methods[method])
}

// called notes a call of the pod resources API. The error is that of a kubelet
// which does not have the method. One that has it switched off has words of its own
// and no code for it; a plugin that tells the two apart is seen in the first case only.
func (s *Kubelet) called(method string) error {
	s.change(func(o *Observation) {
		if !slices.Contains(o.PodResources, method) {
			o.PodResources = append(slices.Clip(o.PodResources), method)
		}
	})
	if !s.has(method) {
		return status.Errorf(codes.Unimplemented, "the kubelet does not answer %s", method)
	}
	return nil
}

// podResources answers in v1.
type podResources struct {
	v1.UnimplementedPodResourcesListerServer
	s *Kubelet
}

func (p podResources) List(context.Context, *v1.ListPodResourcesRequest) (*v1.ListPodResourcesResponse, error) {
	return &v1.ListPodResourcesResponse{}, p.s.called("v1.List")
}

func (p podResources) GetAllocatableResources(context.Context, *v1.AllocatableResourcesRequest) (*v1.AllocatableResourcesResponse, error) {
	return &v1.AllocatableResourcesResponse{}, p.s.called("v1.GetAllocatableResources")
}

func (p podResources) Get(_ context.Context, r *v1.GetPodResourcesRequest) (*v1.GetPodResourcesResponse, error) {
	if err := p.s.called("v1.Get"); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("pod %s in namespace %s not found", r.GetPodName(), r.GetPodNamespace())
}

// olderPodResources answers in v1alpha1.
type olderPodResources struct {
	v1alpha1.UnimplementedPodResourcesListerServer
	s *Kubelet
}

func (p olderPodResources) List(context.Context, *v1alpha1.ListPodResourcesRequest) (*v1alpha1.ListPodResourcesResponse, error) {
	return &v1alpha1.ListPodResourcesResponse{}, p.s.called("v1alpha1.List")
}
