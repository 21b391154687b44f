package inference

import (
	"slices"
	"testing"

	"github.com/containerd/nri/pkg/api"
)

// TestAgreesWithUpstream compares the NRI version of every release with what
// the NRI library itself infers from a runtime's name and version, both as the
// runtime sends them. Where upstream is wrong the reason is listed; everything
// else must agree.
func TestAgreesWithUpstream(t *testing.T) {
	agree, excused := 0, map[string]int{}
	for _, rel := range slices.Concat(Builtin().Releases(Containerd), Builtin().Releases(CRIO)) {
		version := rel.Version.String()
		if rel.Runtime == Containerd {
			version = "v" + version // CRI-O sends its version without one
		}
		got, err := api.InferVersionFromRuntime(rel.Name, version)
		if err == nil && got == rel.NRI {
			agree++
			continue
		}
		why := upstreamFault(rel)
		if why == "" {
			t.Errorf("%s %s: %s here, upstream infers %s, %v", rel.Runtime, rel.Version, rel.NRI, got, err)
		}
		excused[why]++
	}
	t.Logf("%d releases agree; upstream's faults: %v", agree, excused)
	if agree < 70 {
		t.Errorf("only %d releases agree", agree)
	}
}

// upstreamFault says why the library's own inference is wrong for a release.
func upstreamFault(rel Release) string {
	switch line := rel.Version.Line(); {
	case rel.Runtime == CRIO:
		return "CRI-O's versions have no v, upstream's comparison needs one"
	case rel.Name == "v2":
		return "containerd 2.0.0-rc.2 to 2.0.3 send the name v2"
	case rel.Version.Prerelease():
		return "a pre-release is answered as the release before it"
	case line == "2.3" || line == "2.4":
		return "upstream's map ends at containerd 2.2"
	}
	return ""
}
