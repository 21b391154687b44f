package standin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/kubelet/pkg/apis/podresources/v1alpha1"
)

// TestPodResources: each call is noted, and answered only if the kubelet has it.
func TestPodResources(t *testing.T) {
	for _, test := range []struct {
		name      string
		behaviour Behaviour
		answered  []string
	}{
		{"curious", curious, []string{"v1alpha1.List", "v1.List", "v1.GetAllocatableResources", "v1.Get"}},
		{"1.19", Behaviour{PodResources: []capability.ID{capability.PodresV1alpha1List}}, []string{"v1alpha1.List"}},
		{"1.30", Behaviour{PodResources: []capability.ID{capability.PodresV1alpha1List, capability.PodresV1List, capability.PodresGetAllocatable}}, []string{"v1alpha1.List", "v1.List", "v1.GetAllocatableResources"}},
		{"none", Behaviour{}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := Options{Dir: shortDir(t), PodResources: filepath.Join(shortDir(t), "kubelet.sock"), Behaviour: test.behaviour}
			s, err := Listen(o)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := dial(o.PodResources, "localhost")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			client, older := v1.NewPodResourcesListerClient(conn), v1alpha1.NewPodResourcesListerClient(conn)
			var answered []string
			note := func(method string, err error) {
				if status.Code(err) != codes.Unimplemented {
					answered = append(answered, method)
				}
			}
			for range 2 { // the second time nothing new is noted
				answered = nil
				_, err = older.List(t.Context(), &v1alpha1.ListPodResourcesRequest{})
				note("v1alpha1.List", err)
				_, err = client.List(t.Context(), &v1.ListPodResourcesRequest{})
				note("v1.List", err)
				_, err = client.GetAllocatableResources(t.Context(), &v1.AllocatableResourcesRequest{})
				note("v1.GetAllocatableResources", err)
				_, err = client.Get(t.Context(), &v1.GetPodResourcesRequest{PodName: "p", PodNamespace: "n"})
				note("v1.Get", err)
			}
			if !slices.Equal(answered, test.answered) {
				t.Errorf("answered %v", answered)
			}
			seen := s.Observation()
			if got := strings.Join(seen.PodResources, " "); got != "v1alpha1.List v1.List v1.GetAllocatableResources v1.Get" {
				t.Errorf("noted %s", got)
			}
			found := seen.Findings()
			if got := needs(found); got != "PODRES_GET PODRES_GET_ALLOCATABLE PODRES_V1ALPHA1_LIST PODRES_V1_LIST" || len(found.Needs.Gaps) != 1 {
				t.Errorf("%s, gaps %v", got, found.Needs.Gaps)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(o.PodResources); !os.IsNotExist(err) {
				t.Errorf("the socket is left: %v", err)
			}
		})
	}
}
