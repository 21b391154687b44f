package binary

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

// buildInfo reads what the Go command wrote into the program; nil if it is not
// there.
func buildInfo(r io.ReaderAt, size int64) *debug.BuildInfo {
	info, err := buildinfo.Read(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil
	}
	return info
}

// identity tells what program it is; info may be nil.
func identity(info *debug.BuildInfo) found.Identity {
	if info == nil {
		return found.Identity{}
	}
	id := found.Identity{
		Module: info.Main.Path, Version: info.Main.Version, Package: info.Path,
		Go: strings.TrimSpace(info.GoVersion),
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			id.Revision = s.Value
		case "vcs.modified":
			id.Modified = s.Value == "true"
		case "GOOS":
			id.OS = s.Value
		case "GOARCH":
			id.Arch = s.Value
		case "CGO_ENABLED":
			id.CGO = s.Value == "1"
		}
	}
	return id
}

// apiModule tells which module provides the API packages: the NRI module, or
// the one a copy lies in. packages may be empty.
func apiModule(info *debug.BuildInfo, packages []string) found.NRI {
	var nri found.NRI
	if len(packages) > 0 {
		nri.Package = packages[0]
		if slices.Contains(packages, nriModule+"/pkg/api") {
			nri.Package = nriModule + "/pkg/api"
		}
	}
	if info == nil {
		return nri
	}
	want := nri.Package
	if want == "" {
		want = nriModule + "/pkg/api"
	}
	var mod *debug.Module
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != "" && under(want, m.Path) && (mod == nil || len(m.Path) > len(mod.Path)) {
			mod = m
		}
	}
	if mod == nil {
		return nri
	}
	nri.Module, nri.Version = mod.Path, mod.Version
	if r := mod.Replace; r != nil {
		nri.Replaces = found.Replaced(mod.Path, mod.Version, r.Path, r.Version)
		nri.Module, nri.Version = r.Path, r.Version
	}
	if nri.Version == "(devel)" {
		nri.Version = "" // a directory has none
	}
	return nri
}

// compareProtocol fills in the protocol and says where module and protocol
// disagree.
func compareProtocol(nri *found.NRI, d descriptor) {
	if len(d) == 0 {
		return
	}
	from, to, nearest := d.match()
	nri.ProtocolFrom, nri.ProtocolTo = from, to
	switch {
	case from == "":
		nri.Contradiction = fmt.Sprintf("the embedded protocol is that of no NRI release; the nearest is %s", nearest)
	case nri.Module == nriModule && nri.Replaces == "" && !within(nri.Version, from, to):
		nri.Contradiction = fmt.Sprintf("the module is %s %s, but the embedded protocol is that of NRI %s", nri.Module, nri.Version, span(from, to))
	}
}

func span(from, to string) string {
	if from == to {
		return from
	}
	return from + " to " + to
}

// within tells whether a version of the NRI module can have the protocol of
// the releases from to to. A version between two releases can have that of
// either, or be on its way to the later one; what is newer than the table can
// have the newest. One that is no version says nothing.
func within(version, from, to string) bool {
	v := describeToSemver(version)
	if !semver.IsValid(v) {
		return true
	}
	list := protocols()
	i := slices.IndexFunc(list, func(p protocol) bool { return p.From == from })
	if semver.Compare(v, from) >= 0 && semver.Compare(v, to) <= 0 {
		return true
	}
	if semver.Compare(v, to) > 0 {
		return i == len(list)-1 || semver.Prerelease(v) != "" && semver.Compare(v, list[i+1].From) < 0
	}
	return semver.Prerelease(v) != "" && (i == 0 || semver.Compare(v, list[i-1].To) > 0)
}

// describeToSemver turns the output of git describe, "v0.9.0-12-gabcdef0", into
// a version that is later than the tag, as it is.
func describeToSemver(version string) string {
	tag, commit, ok := cutLast(version, "-g")
	if !ok || !hex(commit) {
		return version
	}
	tag, n, ok := cutLast(tag, "-")
	if !ok || !semver.IsValid(tag) || semver.Prerelease(tag) != "" || strings.Trim(n, "0123456789") != "" {
		return version
	}
	parts := strings.Split(strings.TrimPrefix(semver.Canonical(tag), "v"), ".")
	var patch int
	if _, err := fmt.Sscanf(parts[2], "%d", &patch); err != nil {
		return version
	}
	return fmt.Sprintf("v%s.%s.%d-0.%s.%s", parts[0], parts[1], patch+1, n, commit)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func hex(s string) bool {
	s, _, _ = strings.Cut(s, "-") // "-dirty" and the like
	s = strings.TrimSuffix(s, ".m")
	return len(s) >= 4 && strings.Trim(s, "0123456789abcdef") == ""
}
