package libprobe

import (
	"slices"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// versions are those at which the library changed what it does most.
var versions = []string{"v0.3.0", "v0.6.1", "v0.8.0", "v0.10.0", "v0.11.0", "v0.12.0", "v0.12.5"}

// TestExecutedAsDerived: what the probes and the catalogue say of the library
// is what it does.
func TestExecutedAsDerived(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with each of seven versions of the NRI library")
	}
	crashes := map[string][]capability.ID{}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			binary, err := Build(t.Context(), "testdata", version, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			outcomes, err := Run(t.Context(), binary, Cases())
			if err != nil {
				t.Fatal(err)
			}
			library := derive(t, version)
			n, err := inference.ParseNRIVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range Cases() {
				got := outcomes[c.ID.String()]
				executed := capability.No
				switch {
				case got.Crashed:
					executed = capability.Harmful
					crashes[version] = append(crashes[version], c.ID)
				case c.Done(got):
					executed = capability.Yes
				}
				derived := library.Executes(c.ID)
				if derived.State != executed {
					t.Errorf("%s: derived %s (%s %v %s), executed %s: %s %s, spec %s, update %s", c.ID, derived, derived.In, derived.Files, derived.Why, executed, got.Said, got.Error, got.Spec, got.Updates)
				}
				answer := inference.Library{Version: n}.Answer(c.ID)
				if contradicts(answer.State, executed) {
					t.Errorf("%s: the catalogue says %s, executed %s", c.ID, answer.State, executed)
				}
			}
		})
	}
	for version, want := range map[string][]capability.ID{
		"v0.10.0": {capability.AdjustLinuxSeccompErrnoRet},
		"v0.11.0": {capability.AdjustLinuxSeccompErrnoRet, capability.AdjustLinuxSysctl},
	} {
		if got := crashes[version]; !slices.Equal(got, want) {
			t.Errorf("%s ends the runtime with %v, want %v", version, got, want)
		}
		delete(crashes, version)
	}
	if len(crashes) > 0 {
		t.Errorf("unexpected crashes: %v", crashes)
	}
}

// derive reads a version of the library by probes.
func derive(t *testing.T, version string) *probe.Library {
	t.Helper()
	m, err := source.Fetch(t.Context(), source.NRIModule, version)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := source.Dir(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	library, err := probe.ReadLibrary(tree)
	if err != nil {
		t.Fatal(err)
	}
	return library
}

// contradicts tells whether the library's part of a capability is said to be
// otherwise than it was seen. Unknown and partial leave it open.
func contradicts(said, seen capability.State) bool {
	return (said == capability.Yes || said == capability.No || said == capability.Harmful) && said != seen
}

// TestEveryAdjustmentAndUpdateHasACase: what the library decides is executed.
func TestEveryAdjustmentAndUpdateHasACase(t *testing.T) {
	cases := map[capability.ID]bool{}
	for _, c := range Cases() {
		if cases[c.ID] {
			t.Errorf("%s has two cases", c.ID)
		}
		cases[c.ID] = true
	}
	// These need a runtime around the library, or are no part of its work.
	elsewhere := []capability.ID{
		capability.UpdateIgnoreFailure, capability.UpdateOnSynchronize,
		capability.UpdateOtherContainersOnStop, capability.UpdateOtherContainersOnUpdate,
	}
	for _, id := range capability.All() {
		if kind := id.Kind(); (kind == capability.Adjust || kind == capability.Update) && !cases[id] && !slices.Contains(elsewhere, id) {
			t.Errorf("%s has no case", id)
		}
	}
}
