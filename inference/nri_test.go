package inference

import (
	"slices"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

const (
	pseudo04 = "v0.3.1-0.20230504231226-94185418e253"
	pseudo10 = "v0.9.1-0.20250219030224-e597e7849f24"
)

func TestNRIVersionOrder(t *testing.T) {
	sorted := []string{"v0.2.0", "0.3.0", pseudo04, "v0.4.0", "v0.6.1", "v0.8.0", "v0.8.0-12-gabcdef0", "v0.9.0", pseudo10, "v0.10.0", "v0.12.5"}
	for i := range sorted {
		for j := range sorted {
			a, err := ParseNRIVersion(sorted[i])
			if err != nil {
				t.Fatal(err)
			}
			b, err := ParseNRIVersion(sorted[j])
			if err != nil {
				t.Fatal(err)
			}
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s: %d", sorted[i], sorted[j], got)
			}
		}
	}
	for _, bad := range []string{"", "(devel)", "0.0.0-unknown", "v0.0.0-unknown", "latest", "v1.2.3.4", "\xff"} {
		if v, err := ParseNRIVersion(bad); err == nil {
			t.Errorf("ParseNRIVersion(%q) = %s", bad, v)
		}
	}
}

func TestLibrary(t *testing.T) {
	for _, test := range []struct {
		version string
		id      capability.ID
		want    capability.State
	}{
		{"v0.2.0", capability.AdjustMounts, capability.Yes},
		{"v0.3.0", capability.AdjustPosixRlimits, capability.No},
		{"v0.4.0", capability.AdjustPosixRlimits, capability.Yes},
		{"v0.6.1", capability.AdjustCDIDevices, capability.No},
		{"v0.8.0", capability.AdjustCDIDevices, capability.Unknown}, // the runtime must hand over an injector
		{"v0.10.0", capability.AdjustLinuxSysctl, capability.No},
		{"v0.11.0", capability.AdjustLinuxSysctl, capability.Harmful},
		{"v0.12.0", capability.AdjustLinuxSysctl, capability.Yes},
		{"v0.10.0", capability.AdjustLinuxSeccompErrnoRet, capability.Harmful},
		{"v0.12.5", capability.AdjustLinuxSeccompErrnoRet, capability.Yes},
		{"v0.12.5", capability.AdjustEnvRemoval, capability.No},
		{"v0.9.0", capability.SubscribeUpdatePodSandbox, capability.No},
		{pseudo10, capability.SubscribeUpdatePodSandbox, capability.Yes},
		{pseudo10, capability.SubscribeValidateContainerAdjustment, capability.No},
		{"v0.10.0", capability.SubscribeValidateContainerAdjustment, capability.Yes},
		{"v0.11.0", capability.InputLinuxSysctl, capability.Unknown}, // the runtime fills it in
		{"v0.10.0", capability.InputLinuxSysctl, capability.No},
		{"v0.13.0", capability.AdjustMounts, capability.Unknown}, // newer than what was read
		{"v0.2.0", capability.UpdateUnsolicited, capability.Harmful},
	} {
		v, err := ParseNRIVersion(test.version)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Library{v}).Answer(test.id); got.State != test.want {
			t.Errorf("%s in %s: %s (%s), want %s", test.id, test.version, got.State, got.Note, test.want)
		}
	}
}

// TestLibraryAgreesWithReleases: where the library alone decides, every
// release that carries it says the same. The exceptions are spelled out.
func TestLibraryAgreesWithReleases(t *testing.T) {
	compared := 0
	for _, rel := range slices.Concat(Builtin().Releases(Containerd), Builtin().Releases(CRIO)) {
		v, err := ParseNRIVersion(rel.NRI)
		if err != nil {
			t.Fatal(err)
		}
		s := Builtin().Lookup(Runtime{Name: rel.Runtime, Version: rel.Version}, nil)
		for _, id := range capability.All() {
			lib := (Library{v}).Answer(id).State
			if lib == capability.Unknown {
				continue
			}
			compared++
			if got := s.Answer(id).State; got != lib && !libraryException(id, lib, got) {
				t.Errorf("%s on %s %s (NRI %s): %s, its library alone says %s", id, rel.Runtime, rel.Version, rel.NRI, got, lib)
			}
		}
	}
	if compared < 8000 {
		t.Errorf("only %d cells were compared", compared)
	}
}

// libraryException lists where a release differs from its library for a good
// reason.
func libraryException(id capability.ID, lib, got capability.State) bool {
	switch {
	case id == capability.AdjustLinuxHugepageLimits && got == capability.Conditional:
		return true // containerd's resource checker drops it by default
	case lib == capability.Yes && got == capability.Partial:
		return true // the runtime limits it
	}
	return false
}

func TestEventMask(t *testing.T) {
	for _, test := range []struct {
		in      string
		events  int
		needs   int
		unknown EventMask
	}{
		{"0x3800", 3, 3, 0}, {"0x1800", 2, 2, 0}, {"0X2000", 1, 1, 0}, {"0x7ff", 11, 0, 0}, {"0x3fff", 14, 3, 0},
		{"0x4000", 0, 0, 0x4000}, {"0xffffffff", 14, 3, 0xffffc000}, {"0x0", 0, 0, 0},
	} {
		m, err := ParseEventMask(test.in)
		if err != nil {
			t.Fatal(err)
		}
		known, unknown := m.Events()
		if len(known) != test.events || len(m.Needs()) != test.needs || unknown != test.unknown {
			t.Errorf("%s: %d events, %d needs, unknown %s", test.in, len(known), len(m.Needs()), unknown)
		}
	}
	for _, bad := range []string{"", "0x", "3800", "0x1ffffffff", "0xzz", "-0x1"} {
		if m, err := ParseEventMask(bad); err == nil {
			t.Errorf("ParseEventMask(%q) = %s", bad, m)
		}
	}
}

func FuzzParseEventMask(f *testing.F) {
	f.Add("0x3800")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseEventMask(s)
		if err != nil {
			return
		}
		if again, err := ParseEventMask(m.String()); err != nil || again != m {
			t.Fatalf("%q reads as %s, which reads as %s, %v", s, m, again, err)
		}
	})
}
