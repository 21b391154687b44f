package gomod

import (
	"fmt"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Pin makes a Kubernetes release importable: it requires the release, replaces
// each staging module that the release requires by its published version,
// brings require lines of staging modules to the same version, and drops
// replace directives of staging modules that the release does not require.
//
// A module that somebody replaced by something else stays as it is, and is
// listed as foreign; if that is Kubernetes itself nothing is known of what it
// requires, and Pin fails.
func (f *File) Pin(r Release) (Plan, error) {
	m := f.mod()
	if replacement(m, Kubernetes).foreign {
		return Plan{}, fmt.Errorf("%s: %s is replaced by something else than a release: drop that directive, or pin by hand", f.name, Kubernetes)
	}
	e := editor{mod: m}
	if rep := replacement(m, Kubernetes); rep.version != "" {
		e.replace(Kubernetes, r.Version)
	}
	e.require(Kubernetes, r.Version, true)

	want := r.StagingVersion()
	staging := append(everStaging(), r.Staging...)
	slices.Sort(staging)
	for _, path := range slices.Compact(staging) {
		if replacement(m, path).foreign {
			e.plan.Foreign = append(e.plan.Foreign, path)
			continue
		}
		pinned := slices.Contains(r.Required, path)
		if pinned {
			e.replace(path, want)
		} else {
			e.drop(path)
		}
		if slices.Contains(r.Staging, path) && !(pinned && required(m, path) == unpublished) {
			e.require(path, want, false)
		}
	}
	if e.err != nil {
		return Plan{}, fmt.Errorf("%s: %w", f.name, e.err)
	}
	return f.plan(m, e.plan)
}

// Drop undoes the replace directives of [File.Pin]. Require lines stay: which
// versions were there before is not known.
func (f *File) Drop() (Plan, error) {
	e := editor{mod: f.mod()}
	for _, path := range everStaging() {
		if replacement(e.mod, path).foreign {
			e.plan.Foreign = append(e.plan.Foreign, path)
			continue
		}
		e.drop(path)
	}
	return f.plan(e.mod, e.plan)
}

// Disagreements returns what differs among the staging modules that the file
// itself names: versions other than want, and require lines that say something
// else than the replace directive of the same module. If want is empty it is
// the newest version that counts among them. Which pins are missing is not in
// the file; only [File.Pin] knows.
func (f *File) Disagreements(want string) []Change {
	m := f.mod()
	type named struct{ path, required, pinned string }
	var all []named
	newest := ""
	for _, path := range everStaging() {
		rep := replacement(m, path)
		n := named{path: path, pinned: rep.version, required: required(m, path)}
		if n.pinned != "" && n.required == unpublished {
			n.required = ""
		}
		if rep.foreign || n.required == "" && n.pinned == "" {
			continue
		}
		all = append(all, n)
		counts := n.pinned
		if counts == "" {
			counts = n.required
		}
		if newest == "" || semver.Compare(counts, newest) > 0 {
			newest = counts
		}
	}
	if want == "" {
		want = newest
	}
	var out []Change
	for _, n := range all {
		if n.required != "" && n.required != want {
			out = append(out, Change{"require", n.path, n.required, want})
		}
	}
	for _, n := range all {
		if n.pinned != "" && n.pinned != want {
			out = append(out, Change{"replace", n.path, n.pinned, want})
		}
	}
	return out
}

// unpublished is the version at which Kubernetes requires its staging modules.
// 'go mod tidy' copies it into require lines; with a pin it does no harm.
const unpublished = "v0.0.0"

// required is the version at which a file requires a module; the last line
// counts, empty if there is none.
func required(m *modfile.File, path string) string {
	v := ""
	for _, req := range m.Require {
		if req.Mod.Path == path {
			v = req.Mod.Version
		}
	}
	return v
}

// editor changes a file and notes what it changes.
type editor struct {
	mod  *modfile.File
	plan Plan
	err  error
}

func (e *editor) note(directive, path, from, to string) {
	e.plan.Changes = append(e.plan.Changes, Change{directive, path, from, to})
}

// replace replaces every version of a module by one.
func (e *editor) replace(path, version string) {
	have := replacement(e.mod, path)
	if have.exact && have.version == version || e.err != nil {
		return
	}
	e.note("replace", path, have.version, version)
	e.err = e.mod.AddReplace(path, "", path, version)
}

// require sets the version of a require line; one is added only if asked for.
func (e *editor) require(path, version string, add bool) {
	have := required(e.mod, path)
	if have == version || have == "" && !add || e.err != nil {
		return
	}
	e.note("require", path, have, version)
	e.err = e.mod.AddRequire(path, version)
}

// drop drops the replace directives of a module.
func (e *editor) drop(path string) {
	have := replacement(e.mod, path)
	if have.version == "" || e.err != nil {
		return
	}
	e.note("replace", path, have.version, "")
	for _, rep := range slices.Clone(e.mod.Replace) {
		if rep.Old.Path == path {
			e.err = e.mod.DropReplace(path, rep.Old.Version)
		}
	}
}
