package source

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
)

// NRIModule is the module path of the NRI library.
const NRIModule = "github.com/containerd/nri"

// NRI says which NRI library a release is built with.
type NRI struct {
	// Module is the module it comes from: [NRIModule], or a fork by a replace.
	Module string
	// Version is its version, with "v"; empty for a directory.
	Version string
	// Dir is the directory within the release that replaces the module; empty
	// if none does.
	Dir string
}

// String is the form in which the library is named in evidence.
func (n NRI) String() string {
	if n.Dir != "" {
		return n.Dir
	}
	return n.Module + "@" + n.Version
}

// ErrNoNRI is the error for a release that is built without the NRI library.
var ErrNoNRI = errors.New("go.mod does not require " + NRIModule)

// FindNRI reads the go.mod of a release; a replace counts.
func FindNRI(t *Tree) (NRI, error) {
	data, err := t.Read("go.mod")
	if err != nil {
		return NRI{}, err
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return NRI{}, fmt.Errorf("go.mod: %w", err)
	}
	var out NRI
	for _, r := range file.Require {
		if r.Mod.Path == NRIModule {
			out = NRI{Module: r.Mod.Path, Version: r.Mod.Version}
		}
	}
	if out.Version == "" {
		return NRI{}, ErrNoNRI
	}
	for _, r := range file.Replace {
		if r.Old.Path != NRIModule || r.Old.Version != "" && r.Old.Version != out.Version {
			continue
		}
		if r.New.Version == "" {
			return NRI{Dir: strings.TrimPrefix(r.New.Path, "./")}, nil
		}
		out = NRI{Module: r.New.Path, Version: r.New.Version}
	}
	return out, nil
}

// Fetcher gets a module from the Go client.
type Fetcher func(module, version string) (*Tree, error)

// Library returns the tree of the NRI library that a release is built with:
// the vendored one; else that of the NRI repository, if repo is not nil; else
// the module.
func Library(t *Tree, n NRI, repo *gitrepo.Repo, fetch Fetcher) (*Tree, error) {
	if n.Dir != "" {
		return t.Sub(n.Dir)
	}
	vendored, err := t.Sub("vendor/" + NRIModule)
	if err == nil {
		return vendored, checkVendored(t, n)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if repo != nil && n.Module == NRIModule {
		joined, err := Git(repo, revision(n.Version))
		if err == nil {
			return joined.WithPrefix(n.String() + "/"), nil
		}
		if !errors.Is(err, gitrepo.ErrMissing) {
			return nil, err
		}
	}
	if fetch == nil {
		return nil, fmt.Errorf("%s is not vendored and not in the NRI repository", n)
	}
	joined, err := fetch(n.Module, n.Version)
	if err != nil {
		return nil, err
	}
	return joined.WithPrefix(n.String() + "/"), nil
}

// revision is what a version of a module is called in its repository.
func revision(version string) string {
	if rev, err := module.PseudoVersionRev(version); err == nil {
		return rev
	}
	return strings.TrimSuffix(version, "+incompatible")
}

// checkVendored checks that vendor/modules.txt agrees with go.mod: a stale
// vendor directory would be read as another version.
func checkVendored(t *Tree, n NRI) error {
	data, err := t.Read("vendor/modules.txt")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		rest, ok := strings.CutPrefix(line, "# "+NRIModule+" ")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		version := fields[0]
		if i := len(fields); i >= 3 && fields[i-3] == "=>" {
			version = fields[i-1]
		}
		if version != n.Version {
			return fmt.Errorf("vendor/modules.txt has NRI %s, go.mod %s", version, n.Version)
		}
		return nil
	}
	return fmt.Errorf("vendor/modules.txt does not mention %s", NRIModule)
}
