package inference

import (
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

func answerFor(t *testing.T, runtime, name string) capability.Answer {
	t.Helper()
	r, err := ParseRuntime(runtime)
	if err != nil {
		t.Fatal(err)
	}
	id, err := capability.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return Builtin().Lookup(r, nil).Answer(id)
}

// TestRightAnswers pins answers that were checked by hand, most of them where
// the NRI version, upstream's README or common sense say something else.
func TestRightAnswers(t *testing.T) {
	for _, test := range []struct {
		runtime, capability, state, effect string
	}{
		{"containerd@1.7.29", "ADJUST_CDI_DEVICES", "no", "dropped"},
		{"containerd@1.7.30", "ADJUST_CDI_DEVICES", "conditional", "create-error"},
		{"containerd@2.0.0", "ADJUST_CDI_DEVICES", "no", "dropped"},
		{"containerd@2.0.14", "ADJUST_CDI_DEVICES", "no", "dropped"},
		{"containerd@2.1.0", "ADJUST_CDI_DEVICES", "yes", "none"},
		{"cri-o@1.33.13", "ADJUST_CDI_DEVICES", "no", "dropped"},
		{"cri-o@1.34.0", "ADJUST_CDI_DEVICES", "yes", "none"},
		{"containerd@2.2.0", "ADJUST_LINUX_SYSCTL", "no", "dropped"},
		{"containerd@2.2.1", "ADJUST_LINUX_SYSCTL", "harmful", "crash"},
		{"containerd@2.2.9", "ADJUST_LINUX_SYSCTL", "harmful", "crash"},
		{"containerd@2.3.0", "ADJUST_LINUX_SYSCTL", "yes", "none"},
		{"cri-o@1.35.0", "ADJUST_LINUX_SYSCTL", "harmful", "crash"},
		{"cri-o@1.36.3", "ADJUST_LINUX_SYSCTL", "harmful", "crash"},
		{"containerd@2.1.9", "SUBSCRIBE_VALIDATE_CONTAINER_ADJUSTMENT", "no", "refused"},
		{"containerd@1.7.0", "SUBSCRIBE_VALIDATE_CONTAINER_ADJUSTMENT", "no", "refused"},
		{"containerd@2.2.0", "SUBSCRIBE_VALIDATE_CONTAINER_ADJUSTMENT", "yes", "none"},
		{"cri-o@1.33.13", "SUBSCRIBE_VALIDATE_CONTAINER_ADJUSTMENT", "no", "refused"},
		{"cri-o@1.34.0", "SUBSCRIBE_VALIDATE_CONTAINER_ADJUSTMENT", "yes", "none"},
		{"containerd@2.2.4", "EVENT_UPDATE_POD_SANDBOX", "no", "never-called"},
		{"containerd@2.2.4", "SUBSCRIBE_UPDATE_POD_SANDBOX", "yes", "none"},
		{"containerd@2.1.4", "EVENT_UPDATE_POD_SANDBOX", "no", "refused"},
		{"cri-o@1.33.0", "EVENT_UPDATE_POD_SANDBOX", "yes", "none"},
		{"cri-o@1.33.0", "EVENT_VALIDATE_CONTAINER_ADJUSTMENT", "no", "refused"},
		{"containerd@2.2.7", "INPUT_LINUX_SYSCTL", "no", "empty"},
		{"containerd@2.3.0", "INPUT_LINUX_SYSCTL", "yes", "none"},
		{"containerd@2.3.0-beta.0", "INPUT_LINUX_SYSCTL", "yes", "none"},
		{"containerd@1.7.25", "ADJUST_LINUX_OOM_SCORE", "no", "dropped"},
		{"containerd@1.7.26", "ADJUST_LINUX_OOM_SCORE", "yes", "none"},
		{"containerd@1.7.6", "ADJUST_POSIX_RLIMITS", "no", "dropped"},
		{"containerd@1.7.7", "ADJUST_POSIX_RLIMITS", "yes", "none"},
		{"containerd@2.0.11", "INPUT_IP_ADDRESSES", "no", "empty"},
		{"containerd@2.1.0", "INPUT_IP_ADDRESSES", "yes", "none"},
		{"cri-o@1.35.6", "INPUT_POSIX_RLIMITS", "no", "empty"},
		{"cri-o@1.36.0", "INPUT_POSIX_RLIMITS", "yes", "none"},
		{"cri-o@1.29.0", "ADJUST_POSIX_RLIMITS", "yes", "none"},
		{"containerd@2.3.0", "ADJUST_LINUX_MEMORY_POLICY", "yes", "none"},
		{"containerd@2.2.0", "ADJUST_LINUX_CONTAINER_ARGS", "yes", "none"},
		{"containerd@2.4.2", "ADJUST_ENV_REMOVAL", "no", "dropped"},
		{"containerd@2.4.2", "UPDATE_EVICT_CONTAINER", "no", "dropped"},
		{"containerd@1.7.0-beta.1", "UPDATE_UNSOLICITED", "harmful", "crash"},
		{"cri-o@1.26.0", "UPDATE_UNSOLICITED", "harmful", "crash"},
		{"containerd@2.4.2", "PROTO_CAPABILITY_ADVERTISEMENT", "no", "empty"},
		{"containerd@1.6.39", "ADJUST_MOUNTS", "no", "refused"},
		{"containerd@9.9.9", "ADJUST_MOUNTS", "unknown", "none"},
		{"cri-o@main", "ADJUST_LINUX_MEMORY_POLICY", "yes", "none"},
	} {
		a := answerFor(t, test.runtime, test.capability)
		if a.State.String() != test.state || a.Effect.String() != test.effect {
			t.Errorf("%s on %s: %s, %s; want %s, %s", test.capability, test.runtime, a.State, a.Effect, test.state, test.effect)
		}
	}
}
