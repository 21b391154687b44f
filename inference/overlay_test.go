package inference

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

const vendorOverlay = `{
"schemaVersion": 1,
"releases": [
{"runtime":"containerd","version":"2.5.0","date":"2027-01-15","nri":"v0.12.5","name":"containerd","nriEnabled":true,"because":"our preview build"}
],
"ranges": [
{"capability":"ADJUST_CDI_DEVICES","runtime":"containerd","line":"1.7","from":"1.7.27","to":"1.7.28","state":"yes","because":"backported by us"},
{"capability":"ADJUST_MOUNTS","runtime":"containerd","line":"2.5","from":"2.5.0","state":"yes","because":"tried"}
]
}`

func TestOverlay(t *testing.T) {
	base := Builtin()
	table, err := base.Overlay(strings.NewReader(vendorOverlay), "vendor.json")
	if err != nil {
		t.Fatal(err)
	}
	state := func(t *Table, runtime string, id capability.ID) capability.State {
		r, err := ParseRuntime(runtime)
		if err != nil {
			panic(err)
		}
		return t.Lookup(r, nil).Answer(id).State
	}
	for _, test := range []struct {
		runtime string
		id      capability.ID
		want    capability.State
	}{
		{"containerd@1.7.26", capability.AdjustCDIDevices, capability.No},
		{"containerd@1.7.27", capability.AdjustCDIDevices, capability.Yes},
		{"containerd@1.7.28", capability.AdjustCDIDevices, capability.Yes},
		{"containerd@1.7.29", capability.AdjustCDIDevices, capability.No},
		{"containerd@1.7.30", capability.AdjustCDIDevices, capability.Conditional},
		{"containerd@2.0.0", capability.AdjustCDIDevices, capability.No},
		{"containerd@1.7.27", capability.AdjustMounts, capability.Yes},
		{"containerd@2.5.0", capability.AdjustMounts, capability.Yes},
		{"containerd@2.5.0", capability.AdjustEnv, capability.Unknown},
	} {
		if got := state(table, test.runtime, test.id); got != test.want {
			t.Errorf("%s on %s: %s, want %s", test.id, test.runtime, got, test.want)
		}
	}
	if got := state(base, "containerd@1.7.27", capability.AdjustCDIDevices); got != capability.No {
		t.Errorf("the overlay changed the built-in table: %s", got)
	}
	if base.Origin() != "builtin" || table.Origin() != "builtin+vendor.json" || table.SHA256() == base.SHA256() {
		t.Errorf("origins %s, %s; digests %s, %s", base.Origin(), table.Origin(), base.SHA256(), table.SHA256())
	}
	var out bytes.Buffer
	if err := table.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var notes int
	for _, h := range table.History(capability.AdjustCDIDevices, Containerd) {
		if h.Range.Because != "" {
			notes++
		}
	}
	if notes != 1 || !strings.Contains(out.String(), "backported by us") {
		t.Errorf("the overlay shows %d times in the history", notes)
	}
}

// TestExportReadsBack: what is exported is the table again.
func TestExportReadsBack(t *testing.T) {
	var out bytes.Buffer
	if err := Builtin().WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), builtinJSON) {
		t.Error("the exported table differs from the embedded one")
	}
	for _, err := range Verify(bytes.NewReader(out.Bytes()), "export") {
		t.Error(err)
	}
}

func TestOverlayRefuses(t *testing.T) {
	release := func(s string) string { return `{"schemaVersion":1,` + "\n" + `"releases":[` + "\n" + s + `]}` }
	ranges := func(s string) string { return `{"schemaVersion":1,` + "\n" + `"ranges":[` + "\n" + s + `]}` }
	for _, test := range []struct{ name, text, says string }{
		{"empty", "", "o.json: it is empty"},
		{"blank", " \n\n", "o.json: it is empty"},
		{"not JSON", "release: 1", "o.json:1: "},
		{"no object", "[]", "o.json:1: want a JSON object"},
		{"cut off", `{"schemaVersion":1,` + "\n" + `"releases":[`, "o.json:2: the table ends too early"},
		{"no version", `{}`, "unknown schemaVersion 0"},
		{"future version", `{"schemaVersion":99}`, "unknown schemaVersion 99: this program reads version 1"},
		{"unknown key", `{"schemaVersion":1,` + "\n" + `"relases":[]}`, `o.json:2: unknown key "relases"`},
		{"duplicate key", `{"schemaVersion":1,` + "\n" + `"schemaVersion":1}`, `o.json:2: duplicate key "schemaVersion"`},
		{"trailing", `{"schemaVersion":1} {}`, "something behind the table"},
		{"duplicate key in a row", release(`{"runtime":"containerd","runtime":"cri-o"}`), `o.json:3: duplicate key "runtime"`},
		{"unknown key in a row", release(`{"runtine":"containerd"}`), "o.json:3: releases: "},
		{"bad version", release(`{"runtime":"containerd","version":"1.7"}`), `invalid version "1.7"`},
		{"bad runtime", release(`{"runtime":"docker","version":"1.7.99","date":"2027-01-01","nri":"v0.8.0","name":"x","because":"x"}`), `unknown runtime "docker"`},
		{"bad date", release(`{"runtime":"containerd","version":"1.7.99","date":"1.1.2027","nri":"v0.8.0","name":"x","because":"x"}`), "want YYYY-MM-DD"},
		{"bad NRI", release(`{"runtime":"containerd","version":"1.7.99","date":"2027-01-01","nri":"new","name":"x","because":"x"}`), "invalid NRI version"},
		{"no reason", release(`{"runtime":"containerd","version":"1.7.99","date":"2027-01-01","nri":"v0.8.0","name":"x"}`), "needs because"},
		{"unknown capability", ranges(`{"capability":"ADJUST_CDI","runtime":"containerd","line":"1.7","from":"1.7.27","state":"yes"}`), "did you mean ADJUST_CDI_DEVICES"},
		{"unknown state", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","state":"maybe"}`), "use one of unknown, yes"},
		{"wrong line", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"2.0","from":"1.7.27","state":"yes","because":"x"}`), "is not of line"},
		{"no such release", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.99","state":"yes","because":"x"}`), "there is no release containerd 1.7.99"},
		{"backwards", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","to":"1.7.26","state":"yes","because":"x"}`), "older than from"},
		{"no condition", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","state":"conditional","because":"x"}`), "needs when"},
		{"foreign condition", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","state":"conditional","when":"moon=full","because":"x"}`), "needs when"},
		{"harmless harm", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","state":"harmful","because":"x"}`), "needs effect crash or hang"},
		{"twice", ranges(`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","state":"no","because":"x"},` + "\n" +
			`{"capability":"ADJUST_ENV","runtime":"containerd","line":"1.7","from":"1.7.27","state":"yes","because":"x"}`), "o.json:4: "},
		{"wrong type", `{"schemaVersion":"1"}`, "does not belong there"},
		{"bug of nothing", `{"schemaVersion":1,"bugs":[{"id":"x","runtime":"cri-o","severity":"high","text":"x","touches":[],"affected":[{"line":"1.30","from":"1.30.0"}]}]}`, "touches nothing"},
		{"huge", `{"schemaVersion":1,"x":"` + strings.Repeat("a", maxTableSize) + `"}`, "at most 16 MB"},
	} {
		table, err := Builtin().Overlay(strings.NewReader(test.text), "o.json")
		var bad *FileError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.says) || table != nil {
			t.Errorf("%s: %v; want an error that says %q", test.name, err, test.says)
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "inference.") {
			t.Errorf("%s: the error is not for a person: %v", test.name, err)
		}
	}
}

func FuzzOverlay(f *testing.F) {
	f.Add([]byte(vendorOverlay))
	f.Add([]byte(`{"schemaVersion":1,"bugs":[{"id":"x","touches":["ADJUST_ENV"]}]}`))
	f.Add([]byte(`{"schemaVersion":1,"settings":[{"name":"a","runtime":"cri-o","from":"1.30.0","default":"","key":"k"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Builtin().Overlay(bytes.NewReader(text), "o.json")
		if (err == nil) != (table != nil) {
			t.Fatalf("a table and an error, or neither: %v", err)
		}
		if err != nil {
			return
		}
		if len(Verify(bytes.NewReader(text), "o.json")) > 0 {
			t.Fatal("an overlay that is accepted does not verify")
		}
		table.Lookup(Runtime{Name: Containerd, Version: Version{Major: 1, Minor: 7, Patch: 30}}, nil).Set()
	})
}

// TestOverlayOfTheKubelet: a vendor's backport counts for every patch release,
// and what the kubelet decides nothing about is refused.
func TestOverlayOfTheKubelet(t *testing.T) {
	overlay := func(rows string) (*Table, error) {
		return Builtin().Overlay(strings.NewReader(`{"schemaVersion": 1, `+rows+`}`), "vendor.json")
	}
	table, err := overlay(`"ranges": [{"capability":"DEVICE_CDI_DEVICES","runtime":"kubelet","line":"1.27","from":"1.27.0","state":"yes","because":"backported by us"}]`)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]capability.State{"1.26.3": capability.No, "1.27.0": capability.Yes, "1.27.9": capability.Yes, "1.28.0": capability.Conditional} {
		r, err := ParseRuntime("kubelet@" + version)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Lookup(r, nil).Answer(capability.DeviceCDIDevices).State; got != want {
			t.Errorf("%s: %s, want %s", r, got, want)
		}
	}
	for rows, says := range map[string]string{
		`"ranges": [{"capability":"ADJUST_MOUNTS","runtime":"kubelet","line":"1.27","from":"1.27.0","state":"yes","because":"x"}]`:   "kubelet decides nothing about it",
		`"ranges": [{"capability":"DEVICE_WINDOWS","runtime":"containerd","line":"2.1","from":"2.1.0","state":"yes","because":"x"}]`: "containerd decides nothing about it",
		`"releases": [{"runtime":"kubelet","version":"1.39.0","date":"2027-01-15","nri":"v0.8.0","nriEnabled":false,"because":"x"}]`: "has no NRI",
		`"releases": [{"runtime":"containerd","version":"2.9.0","date":"2027-01-15","nriEnabled":false,"because":"x"}]`:              "needs the name",
	} {
		if _, err := overlay(rows); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", rows, err)
		}
	}
}
