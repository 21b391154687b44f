package capability

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestNamesAndNumbersAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(names[:], func(a, b namedID) int { return strings.Compare(a.name, b.name) }) {
		t.Error("names are not sorted")
	}
	if len(numbers) != len(names) {
		t.Fatalf("%d numbers for %d names", len(numbers), len(names))
	}
	for i := 1; i < len(numbers); i++ {
		if a, b := names[numbers[i-1]], names[numbers[i]]; a.id >= b.id {
			t.Errorf("%s (%d) stands before %s (%d)", a.name, a.id, b.name, b.id)
		}
	}
}

// TestNumbersAreFrozen: a number that was once given out is part of the wire
// form and of saved documents.
func TestNumbersAreFrozen(t *testing.T) {
	data, err := os.ReadFile("testdata/numbers.json")
	if err != nil {
		t.Fatal(err)
	}
	var frozen map[string]plainNumber
	if err := json.Unmarshal(data, &frozen); err != nil {
		t.Fatal(err)
	}
	for name, number := range frozen {
		id, err := Parse(name)
		if err != nil || uint16(id) != uint16(number) {
			t.Errorf("%s: number %d (%v), was published as %d", name, uint16(id), err, number)
		}
	}
	if len(frozen) != len(names) {
		t.Errorf("testdata/numbers.json has %d names, the catalogue %d: add the new ones", len(frozen), len(names))
	}
}

// plainNumber is a plain number: ID itself reads names.
type plainNumber uint16

// TestDraftNumbers pins the enum of containerd/nri#265.
func TestDraftNumbers(t *testing.T) {
	draft := strings.Fields(`ADJUST_POSIX_RLIMITS INPUT_POSIX_RLIMITS ADJUST_LINUX_PID_LIMIT
		ADJUST_LINUX_OOM_SCORE INPUT_LINUX_OOM_SCORE INPUT_IP_ADDRESSES ADJUST_CDI_DEVICES
		INPUT_CDI_DEVICES INPUT_LINUX_SECURITY_PROFILE ADJUST_LINUX_NAMESPACES
		ADJUST_LINUX_SECCOMP_POLICY INPUT_LINUX_SECCOMP_POLICY ADJUST_LINUX_IO_PRIORITY
		INPUT_LINUX_IO_PRIORITY ADJUST_LINUX_CONTAINER_ARGS ADJUST_LINUX_SCHEDULING_POLICY
		INPUT_LINUX_SCHEDULING_POLICY ADJUST_LINUX_NETWORK_DEVICES INPUT_LINUX_NETWORK_DEVICES
		ADJUST_LINUX_RDT_CLOS INPUT_LINUX_RDT_CLOS ADJUST_LINUX_SYSCTL INPUT_LINUX_SYSCTL
		EXTRA_CONTAINER_STATUS INPUT_UID_AND_GIDS ADJUST_LINUX_MEMORY_POLICY INPUT_LINUX_MEMORY_POLICY`)
	for n, name := range draft {
		if got := ID(n).String(); got != name {
			t.Errorf("number %d is %s, the draft says %s", n, got, name)
		}
	}
	for _, n := range names {
		if n.id < FirstOwn && int(n.id) >= len(draft) {
			t.Errorf("%s has number %d, which belongs to the draft enum", n.name, n.id)
		}
	}
}

func TestParse(t *testing.T) {
	for _, in := range []string{"ADJUST_CDI_DEVICES", "adjust-cdi-devices", " Adjust_Cdi-Devices\n"} {
		id, err := Parse(in)
		if err != nil || id != AdjustCDIDevices {
			t.Errorf("Parse(%q) = %v, %v", in, id, err)
		}
	}
}

func TestParseUnknown(t *testing.T) {
	for _, test := range []struct{ in, near string }{
		{"ADJUST_CDI_DEVICE", "ADJUST_CDI_DEVICES"},
		{"ADJUST_CDI", "ADJUST_CDI_DEVICES"},
		{"ADJUST_SYSCTL", "ADJUST_LINUX_SYSCTL"},
		{"ADJUST_CPUSET_EMPTY", "ADJUST_LINUX_CPUSET_CPUS"},
		{"rlimits", ""},
		{"", ""},
		{strings.Repeat("A", 1<<20), ""},
	} {
		id, err := Parse(test.in)
		var unknown *UnknownNameError
		if !errors.As(err, &unknown) {
			t.Errorf("Parse(%.40q) = %v, %v; want an UnknownNameError", test.in, id, err)
			continue
		}
		if test.near != "" && !slices.Contains(unknown.Near, test.near) {
			t.Errorf("Parse(%q): near %v, want %s among them", test.in, unknown.Near, test.near)
		}
	}
}

func TestMatch(t *testing.T) {
	ids, err := Match("subscribe-*")
	if err != nil || len(ids) != 3 {
		t.Errorf("Match(subscribe-*) = %v, %v", ids, err)
	}
	all, err := Match("*")
	if err != nil || len(all) != len(names) {
		t.Errorf("Match(*) = %d capabilities, %v", len(all), err)
	}
	for _, bad := range []string{"ADJUST_NOTHING_*", "[", "ADJUST_[", "", "nope"} {
		if ids, err := Match(bad); err == nil {
			t.Errorf("Match(%q) = %v, want an error", bad, ids)
		}
	}
}

func TestUnknownNumber(t *testing.T) {
	id := ID(41)
	if id.Known() || id.String() != "UNKNOWN_41" || id.Kind() != "" {
		t.Errorf("ID(41): known %v, %s, kind %q", id.Known(), id, id.Kind())
	}
	if _, ok := Lookup(id); ok {
		t.Error("Lookup found an entry for number 41")
	}
}

func TestCatalogue(t *testing.T) {
	kinds := Kinds()
	for _, id := range All() {
		e, ok := Lookup(id)
		if !ok {
			t.Errorf("%s has no entry", id)
			continue
		}
		if e.ID != id || e.Number != uint16(id) {
			t.Errorf("%s: entry is for %s, number %d", id, e.ID, e.Number)
		}
		if e.Title == "" || e.Consequence == "" || e.Effect == NoEffect && id.Kind() != Proto {
			t.Errorf("%s: title %q, consequence %q, effect %s", id, e.Title, e.Consequence, e.Effect)
		}
		if !slices.Contains(kinds, id.Kind()) {
			t.Errorf("%s: kind %q", id, id.Kind())
		}
	}
}

// TestCatalogueForm keeps the catalogue reviewable: one capability a line,
// sorted, no unknown keys.
func TestCatalogueForm(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(catalogueJSON), "\n"), "\n")
	if lines[0] != "[" || lines[len(lines)-1] != "]" || len(lines) != len(names)+2 {
		t.Fatalf("catalogue.json has %d lines for %d capabilities", len(lines), len(names))
	}
	for i, line := range lines[1 : len(lines)-1] {
		var e Entry
		dec := json.NewDecoder(strings.NewReader(strings.TrimSuffix(line, ",")))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			t.Errorf("line %d: %v", i+2, err)
		} else if e.ID != names[i].id {
			t.Errorf("line %d is %s, want %s", i+2, e.ID, names[i].name)
		}
	}
	if bytes.Contains(catalogueJSON, []byte("\t")) {
		t.Error("catalogue.json has tabs")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"ADJUST_CDI_DEVICES", "adjust-*", "UNKNOWN_41", "\xff", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := Parse(s)
		if err == nil && !id.Known() {
			t.Errorf("Parse(%q) = %d, which is not known", s, id)
		}
		if ids, err := Match(s); err == nil && len(ids) == 0 {
			t.Errorf("Match(%q) is empty without an error", s)
		}
	})
}
