package probe

import (
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// TestLibraryVersions: what is read of every kind of NRI version agrees with
// what the package inference says of it, and nothing is left undecided.
func TestLibraryVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches versions of the NRI module")
	}
	for _, version := range []string{
		"v0.2.0", "v0.3.0", "v0.6.1", "v0.8.0", "v0.9.0",
		"v0.10.0", "v0.11.0", "v0.12.0", "v0.12.2", "v0.12.3", inference.NewestNRI,
	} {
		m, err := source.Fetch(t.Context(), source.NRIModule, version)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := source.Dir(m.Dir)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ReadLibrary(tree)
		if err != nil {
			t.Fatal(err)
		}
		n, err := inference.ParseNRIVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		library := inference.Library{Version: n}
		for id, v := range l.verdicts {
			if v.State == capability.Unknown {
				t.Errorf("NRI %s: %s is not decided: %s", version, id, v.Why)
			}
			a := library.Answer(id)
			if id.Kind() == capability.Adjust && a.State != capability.Unknown && a.State != v.State {
				t.Errorf("NRI %s: %s: read %s in %s %v, package inference says %s", version, id, v, v.In, v.Files, a.State)
			}
		}
		for name, v := range l.facts {
			if v.State == capability.Unknown {
				t.Errorf("NRI %s: %s is not decided: %s", version, name, v.Why)
			}
		}
	}
}

// TestBeforeTheSocket: NRI v0.1 is no library with a socket.
func TestBeforeTheSocket(t *testing.T) {
	tree, err := source.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLibrary(tree); !IsAbsent(err) {
		t.Errorf("%v, want that there is none", err)
	}
}
