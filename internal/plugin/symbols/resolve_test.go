package symbols

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func use(t *testing.T, full string, how How, c Context, function string) Use {
	t.Helper()
	s, ok := Lookup(full)
	if !ok {
		t.Fatalf("no symbol %q", full)
	}
	return Use{Symbol: s, How: how, Context: c, Evidence: capability.Evidence{Function: function}}
}

func TestRequirements(t *testing.T) {
	type in struct {
		full     string
		how      How
		context  Context
		function string
	}
	tests := []struct {
		name string
		uses []in
		want string // capabilities; "?" marks unproven ones, "~" those only wanted
	}{
		{"nothing", nil, ""},
		{"method", []in{{"api.(*ContainerAdjustment).AddRlimit", Call, Unclear, "f"}}, "ADJUST_POSIX_RLIMITS"},
		{"getter", []in{{"api.(*PodSandbox).GetIps", Inline, Unclear, "f"}}, "INPUT_IP_ADDRESSES"},
		{"status by field", []in{{"api.Container.ExitCode", Read, Unclear, "f"}}, "EXTRA_CONTAINER_STATUS INPUT_CONTAINER_EXIT_CODE"},
		{"input written", []in{{"api.Container.Rlimits", Write, Unclear, "f"}}, ""},
		{"adjustment read", []in{{"api.ContainerAdjustment.Rlimits", Read, Unclear, "f"}}, ""},
		{"made only", []in{{"api.LinuxDevice", Construct, Unclear, "f"}}, "ADJUST_LINUX_DEVICES?"},
		{"made and used", []in{{"api.LinuxDevice", Construct, Unclear, "f"}, {"api.(*ContainerAdjustment).AddDevice", Call, Unclear, "g"}}, "ADJUST_LINUX_DEVICES"},
		{"context adjust", []in{{"api.LinuxCPU.Cpus", Write, OfAdjustment, "f"}}, "ADJUST_LINUX_CPUSET_CPUS"},
		{"context update", []in{{"api.LinuxCPU.Cpus", Write, OfUpdate, "f"}}, "UPDATE_LINUX_CPUSET_CPUS"},
		{"own object", []in{{"api.LinuxCPU.Cpus", Read, OfAdjustment, "f"}}, ""},
		{"given object", []in{{"api.LinuxCPU.Cpus", Write, OfContainer, "f"}}, ""},
		{"pod's resources", []in{{"api.LinuxCPU.Shares", Read, OfPod, "f"}}, ""},
		{"asked for", []in{{"api.LinuxMemory.Swap", Read, OfUpdateRequest, "f"}}, "INPUT_UPDATE_LINUX_MEMORY_SWAP INPUT_UPDATE_LINUX_RESOURCES"},
		{"asked for, pod", []in{{"api.LinuxMemory.Swap", Read, OfPodUpdate, "f"}}, "INPUT_POD_UPDATE_RESOURCES"},
		{"context unknown", []in{{"api.LinuxCPU.Mems", Write, Unclear, "f"}}, "ADJUST_LINUX_CPUSET_MEMS? UPDATE_LINUX_CPUSET_MEMS?"},
		{"context unknown, updates made", []in{{"api.LinuxCPU.Mems", Write, Unclear, "f"}, {"api.ContainerUpdate", Construct, Unclear, "g"}}, "UPDATE_LINUX_CPUSET_MEMS"},
		{"context known elsewhere in the function", []in{{"api.(*LinuxCPU).GetMems", Inline, Unclear, "f"}, {"api.LinuxCPU.Mems", Read, OfPod, "f"}}, ""},
		{"context known in another function", []in{{"api.(*LinuxCPU).GetMems", Inline, Unclear, "f"}, {"api.LinuxCPU.Mems", Read, OfPod, "g"}}, "INPUT_LINUX_CPUSET_MEMS"},
		{"group refined", []in{
			{"api.LinuxContainer.Resources", Read, OfContainer, "f"},
			{"api.LinuxResources.Cpu", Read, OfContainer, "f"},
			{"api.LinuxCPU.Quota", Read, OfContainer, "f"},
		}, "INPUT_LINUX_CPU_QUOTA"},
		{"removal", []in{{"api.(*ContainerAdjustment).RemoveEnv", Call, Unclear, "f"}, {"api.(*ContainerAdjustment).AddEnv", Call, Unclear, "g"}}, "ADJUST_ENV ADJUST_ENV_REMOVAL"},
		{"replacement", []in{{"api.(*ContainerAdjustment).RemoveEnv", Call, Unclear, "f"}, {"api.(*ContainerAdjustment).AddEnv", Inline, Unclear, "f"}}, "ADJUST_ENV ADJUST_ENV_REMOVAL~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var uses []Use
			for _, u := range tt.uses {
				uses = append(uses, use(t, u.full, u.how, u.context, u.function))
			}
			var got []string
			for _, r := range Requirements(uses, capability.FromBinary) {
				s := r.Capability.String()
				if r.Unproven {
					s += "?"
				}
				if r.Level == capability.Wants {
					s += "~"
				}
				if len(r.Evidence) == 0 || r.Evidence[0].Symbol == "" {
					t.Errorf("%s has no evidence", s)
				}
				got = append(got, s)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("\n got %s\nwant %s", s, tt.want)
			}
		})
	}
}

// An object that is handled as a whole shows its whole group, unproven.
func TestWholeGroup(t *testing.T) {
	for full, n := range map[string]int{"api.LinuxResources.Memory": 8, "api.LinuxResources.Cpu": 7} {
		reqs := Requirements([]Use{use(t, full, Read, OfContainer, "f")}, capability.FromBinary)
		if len(reqs) != n {
			t.Errorf("%s: %d requirements, want %d", full, len(reqs), n)
		}
		for _, r := range reqs {
			if !r.Unproven || r.Note == "" || r.Capability.Kind() != capability.Input {
				t.Errorf("%s: %+v", full, r)
			}
		}
	}
}

// Shutdown is never called, so that nobody can depend on it; Synchronize is
// called by every release.
func TestHandlerRequirements(t *testing.T) {
	want := map[string]string{
		"Shutdown":         "[PROTO_SHUTDOWN wants]",
		"Synchronize":      "[]",
		"StateChange":      "[]",
		"UpdatePodSandbox": "[EVENT_UPDATE_POD_SANDBOX requires SUBSCRIBE_UPDATE_POD_SANDBOX requires]",
		"RunPodSandbox":    "[EVENT_RUN_POD_SANDBOX requires]",
	}
	var seen []string
	for _, h := range Handlers() {
		var got []string
		for _, r := range HandlerRequirements(h, capability.FromBinary, capability.Evidence{Function: "f"}) {
			got = append(got, r.Capability.String(), r.Level.String())
		}
		if w, ok := want[h.Name]; ok && fmt.Sprint(got) != w {
			t.Errorf("%s: %v, want %s", h.Name, got, w)
		}
		seen = append(seen, h.Name)
	}
	for name := range want {
		if !slices.Contains(seen, name) {
			t.Errorf("no handler %s", name)
		}
	}
}
