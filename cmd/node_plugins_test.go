package cmd

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/nri-compat/nri-compat/internal/nri"
)

// TestPluginsOfTheNodeAreComplete: where a part of the node could not be seen, the
// list of its plugins does not count as complete.
func TestPluginsOfTheNodeAreComplete(t *testing.T) {
	gone := errors.New("gone")
	for name, test := range map[string]struct {
		facts nodeFacts
		want  bool
	}{
		"nothing is in the way":                     {nodeFacts{}, true},
		"no container runtime":                      {nodeFacts{failed: gone, none: true}, true},
		"a container runtime that was not asked":    {nodeFacts{failed: gone}, false},
		"a socket whose connections cannot be seen": {nodeFacts{identity: &nri.Identity{Socket: filepath.Join(t.TempDir(), "none")}}, false},
		"what was said before is not about plugins": {nodeFacts{problems: []string{"2 runtimes run on this node"}}, true},
	} {
		if _, complete := test.facts.plugins(t.Context()); complete != test.want {
			t.Errorf("%s: %t", name, complete)
		}
	}
}
