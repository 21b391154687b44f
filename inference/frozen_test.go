package inference

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the digests of the releases")

// TestHistoryIsFrozen: what was said of a release is not changed silently.
// Whoever changes it writes an entry under "changes" in the table and runs
// this test with -update.
func TestHistoryIsFrozen(t *testing.T) {
	const path = "testdata/frozen.json"
	got := map[string]string{}
	for _, rel := range Builtin().Releases("") {
		got[rel.Runtime+" "+rel.Version.String()] = rowDigest(Builtin(), rel)
	}
	if *update {
		text, err := json.MarshalIndent(got, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var frozen map[string]string
	if err := json.Unmarshal(data, &frozen); err != nil {
		t.Fatal(err)
	}
	for name, digest := range frozen {
		if got[name] != digest {
			t.Errorf("the row of %s was changed or taken away", name)
		}
	}
	for name := range got {
		if frozen[name] == "" {
			t.Errorf("%s is new: run this test with -update", name)
		}
	}
}

// rowDigest covers what users are told of a release: its facts, the state of
// every capability and its settings, not the references.
func rowDigest(t *Table, rel Release) string {
	s := t.Lookup(Runtime{Name: rel.Runtime, Version: rel.Version}, nil)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v\n", rel.NRI, rel.Name, rel.NRIEnabled)
	for _, id := range CapabilitiesOf(rel.Runtime) {
		a := s.Answer(id)
		fmt.Fprintf(&b, "%s %s %s", id, a.State, a.Effect)
		for _, set := range a.Settings {
			fmt.Fprintf(&b, " %s=%s (%s)", set.Name, set.Want, set.Value)
		}
		b.WriteString("\n")
	}
	return digest([]byte(b.String()))[:16]
}

// TestAllReleasesArePresent counts the rows of each line, so that none can get
// lost.
func TestAllReleasesArePresent(t *testing.T) {
	want := map[string]int{
		"containerd 1.7": 45, "containerd 2.0": 24, "containerd 2.1": 14, "containerd 2.2": 15, "containerd 2.3": 13, "containerd 2.4": 4,
		"cri-o 1.26": 5, "cri-o 1.27": 9, "cri-o 1.28": 12, "cri-o 1.29": 14, "cri-o 1.30": 15, "cri-o 1.31": 14,
		"cri-o 1.32": 14, "cri-o 1.33": 14, "cri-o 1.34": 12, "cri-o 1.35": 7, "cri-o 1.36": 4, "cri-o main": 1,
	}
	for minor := 10; minor <= 38; minor++ {
		want[fmt.Sprintf("kubelet 1.%d", minor)] = 1
	}
	got := map[string]int{}
	for _, rel := range Builtin().Releases("") {
		got[rel.Runtime+" "+rel.Version.Line()]++
	}
	total := 0
	for line, n := range want {
		total += n
		if got[line] != n {
			t.Errorf("%s has %d releases, want %d", line, got[line], n)
		}
	}
	if len(Builtin().Releases("")) != total {
		t.Errorf("%d releases, want %d: add the new line or release here", len(Builtin().Releases("")), total)
	}
	if lines := Builtin().Lines(CRIO); !slices.Contains(lines, "main") {
		t.Errorf("lines of CRI-O: %v", lines)
	}
}
