package gomod

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Work is a go.work file: the modules that are built together, and replace
// directives that go before those of their go.mod files. It never changes.
type Work struct {
	name string
	file *modfile.WorkFile
}

// ParseWork reads a go.work file. The name is for errors, which say the line,
// and for what is told of its lines.
func ParseWork(name string, data []byte) (*Work, error) {
	f, err := modfile.ParseWork(name, data, nil)
	if err != nil {
		return nil, err
	}
	return &Work{name, f}, nil
}

// FindWork returns the go.work file that is in effect in a directory by what the
// environment variable GOWORK has, empty if there is none: the file that it
// names, none if it is "off", and else the first one from the directory upwards.
func FindWork(dir, gowork string) (string, error) {
	switch {
	case gowork == "off":
		return "", nil
	case gowork != "" && gowork != "auto":
		if !filepath.IsAbs(gowork) {
			return "", fmt.Errorf("invalid GOWORK %q: the go command takes an absolute path, off or auto", gowork)
		}
		return gowork, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		// What cannot be looked at is none to the go command either.
		path := filepath.Join(dir, "go.work")
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}

// Uses returns the directories of the modules, as the file has them: absolute or
// relative to its own.
func (w *Work) Uses() []string {
	var dirs []string
	for _, u := range w.file.Use {
		dirs = append(dirs, filepath.FromSlash(u.Path))
	}
	return dirs
}

// Contradiction is a directive of another file that makes a workspace build with
// something else than what a go.mod names.
type Contradiction struct {
	File string
	Line int
	// Directive is "replace" or "require".
	Directive string
	Module    string
	// Found is the version, or the path, that the directive names; Want is the
	// version that the go.mod names.
	Found, Want string
}

// Contradictions returns what in a workspace contradicts the version of
// Kubernetes and its staging modules that a go.mod of it names: replace
// directives of the go.work file, which count for all modules, those of another
// module, which the go command takes for all as well or refuses, and a newer
// release of Kubernetes that another module requires. A module that the go.mod
// itself replaces by something else than its release is left out. They are
// sorted by file and line.
func (w *Work) Contradictions(f *File, others []*File) []Contradiction {
	m := f.mod()
	mods := make([]*modfile.File, len(others))
	for i, o := range others {
		mods[i] = o.mod()
	}
	all := append(slices.Clone(mods), m)
	var out []Contradiction
	for _, path := range append(everStaging(), Kubernetes) {
		have := replacement(m, path)
		want := cmp.Or(have.version, required(m, path))
		if have.foreign || want == "" || want == unpublished {
			continue
		}
		selected := selectable(path, want, all)
		out = append(out, replacing(w.name, w.file.Replace, path, selected, want)...)
		if replacedIn(w.file.Replace, path) {
			continue // it goes before whatever the modules say
		}
		for i, o := range others {
			out = append(out, replacing(o.name, mods[i].Replace, path, selected, want)...)
			if path != Kubernetes || have.version != "" {
				continue
			}
			for _, r := range mods[i].Require {
				if r.Mod.Path == path && semver.Compare(r.Mod.Version, want) > 0 {
					out = append(out, Contradiction{o.name, r.Syntax.Start.Line, "require", path, r.Mod.Version, want})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Contradiction) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// selectable returns the versions of a module that the go command may select in
// a workspace, as far as its go.mod files tell: the newest that one of them
// requires, which is the v0.0.0 of Kubernetes if none does, and what is wanted
// where that is newer, since the staging modules of a release require each other
// at it.
func selectable(path, want string, mods []*modfile.File) []string {
	newest := unpublished
	for _, m := range mods {
		if v := required(m, path); v != "" && semver.Compare(v, newest) > 0 {
			newest = v
		}
	}
	if semver.Compare(want, newest) > 0 {
		return []string{newest, want}
	}
	return []string{newest}
}

// replacing returns the directives that replace a module by something else than
// what is wanted. A directive for one version counts only if that version may be
// selected.
func replacing(file string, list []*modfile.Replace, path string, selected []string, want string) []Contradiction {
	var out []Contradiction
	for _, r := range list {
		if r.Old.Path != path || r.Old.Version != "" && !slices.Contains(selected, r.Old.Version) {
			continue
		}
		if r.New.Path == path && r.New.Version == want {
			continue
		}
		found := r.New.Version
		if r.New.Path != path {
			found = r.New.Path
			if r.New.Version != "" {
				found += " " + r.New.Version
			}
		}
		out = append(out, Contradiction{file, r.Syntax.Start.Line, "replace", path, found, want})
	}
	return out
}

func replacedIn(list []*modfile.Replace, path string) bool {
	return slices.ContainsFunc(list, func(r *modfile.Replace) bool { return r.Old.Path == path && r.Old.Version == "" })
}
