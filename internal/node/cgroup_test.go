package node

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	testID  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	testUID = "11111111-2222-3333-4444-555555555555"
)

func TestContainerOf(t *testing.T) {
	systemdUID := strings.ReplaceAll(testUID, "-", "_")
	mirror := "0123456789abcdef0123456789abcdef" // a static pod's
	tests := map[string]struct {
		cgroups string
		want    *Container
	}{
		"v2 systemd containerd": {
			"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + systemdUID + ".slice/cri-containerd-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "containerd", PodUID: testUID},
		},
		"v2 systemd CRI-O guaranteed": {
			"0::/kubepods.slice/kubepods-pod" + systemdUID + ".slice/crio-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "cri-o", PodUID: testUID},
		},
		"CRI-O with the container's processes below": {
			"0::/kubepods.slice/kubepods-pod" + systemdUID + ".slice/crio-" + testID + ".scope/container\n",
			&Container{ID: testID, Engine: "cri-o", PodUID: testUID},
		},
		"v2 cgroupfs": {
			"0::/kubepods/besteffort/pod" + testUID + "/" + testID + "\n",
			&Container{ID: testID, PodUID: testUID},
		},
		"cgroupfs CRI-O": {
			"0::/kubepods/burstable/pod" + testUID + "/crio-" + testID + "\n",
			&Container{ID: testID, Engine: "cri-o", PodUID: testUID},
		},
		"v1 systemd": {
			"12:pids:/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + systemdUID + ".slice/cri-containerd-" + testID + ".scope\n" +
				"1:name=systemd:/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + systemdUID + ".slice/cri-containerd-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "containerd", PodUID: testUID},
		},
		"v1 hybrid, empty unified line first": {
			"0::/\n3:cpu,cpuacct:/kubepods/pod" + testUID + "/" + testID + "\n",
			&Container{ID: testID, PodUID: testUID},
		},
		"systemd form as a directory": {
			"5:cpuset:/system.slice/containerd.service/kubepods-besteffort-pod" + systemdUID + ".slice:cri-containerd:" + testID + "\n",
			&Container{ID: testID, Engine: "containerd", PodUID: testUID},
		},
		"kubelet with a parent slice": {
			"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + systemdUID + ".slice/cri-containerd-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "containerd", PodUID: testUID},
		},
		"static pod": {
			"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + mirror + ".slice/cri-containerd-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "containerd", PodUID: mirror},
		},
		"seen from another cgroup namespace": {
			"0::/../../kubepods-pod" + systemdUID + ".slice/cri-containerd-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "containerd", PodUID: testUID},
		},
		"kind: a container in a container": {
			"0::/docker/" + strings.Repeat("f", 64) + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + systemdUID + ".slice/cri-containerd-" + testID + ".scope\n",
			&Container{ID: testID, Engine: "containerd", PodUID: testUID},
		},
		"docker systemd":  {"0::/system.slice/docker-" + testID + ".scope\n", &Container{ID: testID, Engine: "docker"}},
		"docker cgroupfs": {"0::/docker/" + testID + "\n", &Container{ID: testID, Engine: "docker"}},
		"podman":          {"0::/machine.slice/libpod-" + testID + ".scope/container\n", &Container{ID: testID, Engine: "podman"}},
		"a service":       {"0::/system.slice/nri-plugin.service\n", nil},
		"root":            {"0::/\n", nil},
		"id too short":    {"0::/docker/0123456789ab\n", nil},
		"conmon of CRI-O": {"0::/system.slice/crio-conmon-" + testID + ".scope\n", &Container{ID: testID}},
		"no newline":      {"0::/docker/" + testID, &Container{ID: testID, Engine: "docker"}},
		"nonsense":        {"::::\n\n0\n\x00", nil},
		"empty":           {"", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, containerOf([]byte(test.cgroups))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseContainerLog(t *testing.T) {
	tests := map[string]struct {
		want Container
		ok   bool
	}{
		"coredns-5d78c9869d-abcde_kube-system_coredns-" + testID + ".log": {Container{Pod: "coredns-5d78c9869d-abcde", Namespace: "kube-system", Name: "coredns", ID: testID}, true},
		"a_b_c-d-e.log": {Container{Pod: "a", Namespace: "b", Name: "c-d", ID: "e"}, true},
		"a_b_c.log":     {},
		"a_b_-x.log":    {},
		"a_b_c-x":       {},
		"a_b.log":       {},
		"_b_c-x.log":    {},
	}
	for name, test := range tests {
		got, ok := parseContainerLog(name)
		if ok != test.ok || cmp.Diff(test.want, got) != "" {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

// FuzzContainerOf proves that what is taken for ids has their form and stands in
// the text.
func FuzzContainerOf(f *testing.F) {
	f.Add("0::/kubepods/besteffort/pod" + testUID + "/" + testID + "\n")
	f.Add("5:cpuset:/a/kubepods-pod" + strings.ReplaceAll(testUID, "-", "_") + ".slice:cri-containerd:" + testID)
	f.Add("0::/docker/" + testID)
	f.Add("a:b:c:d\n1:2:\n")
	id := regexp.MustCompile(`^[0-9a-f]{64}$`)
	uid := regexp.MustCompile(`^([0-9a-f-]{36}|[0-9a-f]{32})?$`)
	f.Fuzz(func(t *testing.T, s string) {
		c := containerOf([]byte(s))
		if c == nil {
			return
		}
		if !id.MatchString(c.ID) || !strings.Contains(s, c.ID) || !uid.MatchString(c.PodUID) ||
			!strings.Contains(strings.ReplaceAll(s, "_", "-"), c.PodUID) {
			t.Errorf("%+v from %q", c, s)
		}
	})
}
