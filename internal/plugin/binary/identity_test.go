package binary

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

func TestAPIModule(t *testing.T) {
	mod := func(path, version string, replace *debug.Module) *debug.Module {
		return &debug.Module{Path: path, Version: version, Replace: replace}
	}
	tests := []struct {
		name     string
		info     *debug.BuildInfo
		packages []string
		want     found.NRI
	}{
		{"no build information", nil, []string{"example.com/x/api"}, found.NRI{Package: "example.com/x/api"}},
		{"a dependency", &debug.BuildInfo{Deps: []*debug.Module{mod(nriModule, "v0.8.0", nil)}}, []string{nriModule + "/pkg/api"},
			found.NRI{Module: nriModule, Version: "v0.8.0", Package: nriModule + "/pkg/api"}},
		{"replaced by a fork", &debug.BuildInfo{Deps: []*debug.Module{mod(nriModule, "v0.6.1", mod("example.com/nri", "v0.6.9", nil))}}, []string{nriModule + "/pkg/api"},
			found.NRI{Module: "example.com/nri", Version: "v0.6.9", Replaces: nriModule + " v0.6.1", Package: nriModule + "/pkg/api"}},
		{"replaced by a directory", &debug.BuildInfo{Deps: []*debug.Module{mod(nriModule, "v0.2.0", mod("../..", "(devel)", nil))}}, []string{nriModule + "/pkg/api"},
			found.NRI{Module: "../..", Replaces: nriModule + " v0.2.0", Package: nriModule + "/pkg/api"}},
		{"a copy in the main module", &debug.BuildInfo{Main: debug.Module{Path: "example.com/p", Version: "(devel)"}, Deps: []*debug.Module{mod(nriModule, "v0.9.0", nil)}}, []string{"example.com/p/nri/api"},
			found.NRI{Module: "example.com/p", Package: "example.com/p/nri/api"}},
		{"a module inside another", &debug.BuildInfo{Deps: []*debug.Module{mod("example.com/p", "v1.0.0", nil), mod("example.com/p/nri", "v1.2.0", nil)}}, []string{"example.com/p/nri/api"},
			found.NRI{Module: "example.com/p/nri", Version: "v1.2.0", Package: "example.com/p/nri/api"}},
		{"a name that only starts alike", &debug.BuildInfo{Deps: []*debug.Module{mod("example.com/p", "v1.0.0", nil)}}, []string{"example.com/plugin/api"},
			found.NRI{Package: "example.com/plugin/api"}},
		{"the copy is not chosen over the original", nil, []string{"example.com/api", nriModule + "/pkg/api"}, found.NRI{Package: nriModule + "/pkg/api"}},
	}
	for _, tt := range tests {
		if got := apiModule(tt.info, tt.packages); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

func TestWithin(t *testing.T) {
	tests := []struct {
		version, from, to string
		want              bool
	}{
		{"v0.5.0", "v0.4.0", "v0.6.1", true},
		{"v0.3.0", "v0.4.0", "v0.6.1", false},
		{"v0.7.0", "v0.4.0", "v0.6.1", false},
		{"v0.6.2-0.20240101000000-0123456789ab", "v0.4.0", "v0.6.1", true},
		{"v0.3.1-0.20230504231226-94185418e253", "v0.2.0", "v0.3.0", true},
		{"v0.3.1-0.20230504231226-94185418e253", "v0.4.0", "v0.6.1", true},
		{"v0.2.1-0.20230504231226-94185418e253", "v0.4.0", "v0.6.1", false},
		{"v0.6.1-5-gabc1234", "v0.4.0", "v0.6.1", true},
		{"v0.6.1-5-gabc1234", "v0.7.0", "v0.7.0", true},
		{"v0.6.1-5-gabc1234-dirty", "v0.8.0", "v0.8.0", false},
		{"v0.13.0", "v0.12.4", "v0.12.5", true},
		{"v0.13.0", "v0.12.2", "v0.12.3", false},
		{"(devel)", "v0.8.0", "v0.8.0", true},
		{"", "v0.8.0", "v0.8.0", true},
	}
	for _, tt := range tests {
		if got := within(tt.version, tt.from, tt.to); got != tt.want {
			t.Errorf("%q with the protocol of %s: %v, want %v", tt.version, span(tt.from, tt.to), got, tt.want)
		}
	}
}

func TestProtocolTable(t *testing.T) {
	list := protocols()
	for i, p := range list {
		if len(p.Adds) == 0 || !slices.IsSorted(p.Adds) {
			t.Errorf("%s: adds %d names, which must be sorted", p.From, len(p.Adds))
		}
		var all descriptor
		for _, q := range list[:i+1] {
			all = append(all, q.Adds...)
		}
		slices.Sort(all)
		if len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s: a name is added twice", p.From)
		}
		if from, to, nearest := all.match(); from != p.From || to != p.To || nearest != "" {
			t.Errorf("%s is taken for %s to %s, %q", p.From, from, to, nearest)
		}
		more := append(slices.Clone(all), "Zzz.new")
		if from, _, nearest := more.match(); from != "" || !strings.Contains(nearest, "Zzz.new") || !strings.HasPrefix(nearest, p.From) {
			t.Errorf("%s with one more field is taken for %s, nearest %q", p.From, from, nearest)
		}
	}
}

func TestContradiction(t *testing.T) {
	d := descriptor{}
	for _, p := range protocols()[:3] {
		d = append(d, p.Adds...)
	}
	slices.Sort(d)
	nri := found.NRI{Module: nriModule, Version: "v0.9.0"}
	compareProtocol(&nri, d)
	if nri.ProtocolFrom != "v0.7.0" || !strings.Contains(nri.Contradiction, "v0.9.0") {
		t.Errorf("%+v", nri)
	}
	nri = found.NRI{Module: nriModule, Version: "v0.7.0"}
	compareProtocol(&nri, d)
	if nri.Contradiction != "" {
		t.Errorf("%+v", nri)
	}
}

func FuzzDescriptor(f *testing.F) {
	f.Add([]byte("\n\x11pkg/api/api.proto\x12\x14nri.pkg.api.v1alpha1\"\x08\n\x01A\x12\x03\n\x01b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		im := &image{segments: []segment{{addr: 0x1000, data: data}}}
		d := findDescriptor(im)
		if !slices.IsSorted(d) || len(d) > maxNames {
			t.Errorf("%d names, sorted: %v", len(d), slices.IsSorted(d))
		}
		for _, name := range d {
			if !strings.ContainsAny(name, ".=") {
				t.Errorf("%q is no name", name)
			}
		}
	})
}
