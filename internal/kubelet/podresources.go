package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// podResourcesTimeout bounds what the pod resources service is asked.
const podResourcesTimeout = 2 * time.Second

// Served tells what a kubelet does about a method of its API.
type Served string

// What a kubelet does about a method.
const (
	// Absent: the kubelet does not know the method.
	Absent Served = "absent"
	// Off: it knows the method, and the feature gate of it is off.
	Off Served = "off"
	// On: it answers.
	On Served = "on"
	// Undecided: it answered with something that does not tell.
	Undecided Served = "unknown"
)

// PodResources is what the pod resources service of a kubelet answered.
type PodResources struct {
	// Get and Allocatable tell about the methods Get and GetAllocatableResources
	// of version v1.
	Get, Allocatable Served
	// Problem says, in one sentence, why something is undecided; else empty.
	Problem string
}

// AskPodResources asks the pod resources service of a kubelet what it serves: by
// one Get for a pod without a name, which no kubelet has, and by one
// GetAllocatableResources. Both have no effect but on the kubelet's metrics. List
// is not called, because for it the kubelet does housekeeping.
//
// The result is nil if there is no socket, or nobody listens on it. The error
// says that the socket may not be opened, or that nothing answered in time.
func AskPodResources(ctx context.Context, socket string) (*PodResources, error) {
	ctx, cancel := context.WithTimeout(ctx, podResourcesTimeout)
	defer cancel()
	conn, err := dial(socket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pod resources: %w", err)
	}
	defer conn.Close()
	client := podresources.NewPodResourcesListerClient(conn)
	_, err = client.Get(ctx, &podresources.GetPodResourcesRequest{})
	if gone, err := unreachable(ctx, err); gone || err != nil {
		return nil, err
	}
	var answer PodResources
	answer.Get = answer.judge("Get", err)
	_, err = client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{}, grpc.WaitForReady(true))
	if gone, err := unreachable(ctx, err); gone || err != nil {
		return nil, err
	}
	answer.Allocatable = answer.judge("GetAllocatableResources", err)
	return &answer, nil
}

// unreachable tells whether a call failed because nobody is there, and gives an
// error if it failed in another way that is no answer.
func unreachable(ctx context.Context, err error) (gone bool, _ error) {
	code := status.Code(err)
	switch {
	case code == codes.DeadlineExceeded || err != nil && ctx.Err() != nil:
		return false, errors.New("pod resources: the kubelet did not answer in time")
	case code == codes.Unavailable && strings.Contains(errorMessage(err), "permission denied"):
		return false, fmt.Errorf("pod resources: %w: run as root", fs.ErrPermission)
	case code == codes.Unavailable && strings.Contains(errorMessage(err), "connection refused"):
		return true, nil // A kubelet that was stopped leaves its socket behind.
	case code == codes.Unavailable:
		return false, fmt.Errorf("pod resources: no kubelet answers: %s", errorMessage(err))
	}
	return false, nil
}

// judge reads the answer of a method.
func (a *PodResources) judge(method string, err error) Served {
	switch text := errorMessage(err); {
	case err == nil, method == "Get" && text == "pod  in namespace  not found":
		return On
	case status.Code(err) == codes.Unimplemented:
		return Absent
	case strings.HasSuffix(text, "API Get method disabled"), strings.HasSuffix(text, "API "+method+" disabled"):
		return Off
	default:
		a.Problem = fmt.Sprintf("the pod resources service answered %s with: %s", method, text)
		return Undecided
	}
}
