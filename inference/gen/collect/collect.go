// Package collect finds the releases of the runtimes, in git repositories and
// as Go modules, and reads each of them: container runtimes with the NRI library
// they are built with, the kubelet with the APIs of its plugins.
package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
	"github.com/nri-compat/nri-compat/inference/gen/rows"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// Sources are where releases are read from. Empty ones are left out.
type Sources struct {
	// Containerd, CRIO and NRI are directories of git repositories.
	Containerd, CRIO, NRI string
	// Modules are versions of the Go modules of containerd, as MODULE@VERSION.
	Modules []string
	// Kubernetes are releases of Kubernetes, as "1.34", "1.34.1" or "all", and
	// directories with its modules.
	Kubernetes []string
	// Kubelets are the releases of the kubelet that the table has: what "all" is,
	// and what answers for patch releases.
	Kubelets []inference.Version
}

// Collector reads releases.
type Collector struct {
	ctx      context.Context
	sources  Sources
	first    func(runtime string) inference.Version
	wanted   func(runtime string, v inference.Version) bool
	progress func(done, total int, what string)
	reader   *probe.Reader
	nri      *gitrepo.Repo
	modules  map[string]*source.Tree
}

// New returns a collector of the releases from the first one with NRI on that
// are wanted. It tells its progress.
func New(ctx context.Context, s Sources, first func(runtime string) inference.Version,
	wanted func(runtime string, v inference.Version) bool, progress func(done, total int, what string),
) *Collector {
	return &Collector{
		ctx: ctx, sources: s, first: first, wanted: wanted, progress: progress,
		reader: probe.NewReader(), modules: map[string]*source.Tree{},
	}
}

// task is one release that is to be read.
type task struct {
	runtime string
	version inference.Version
	patch   inference.Version // what is read, if the row is that of another one
	date    string
	tagged  bool // date is that of the tag, not of the commit
	open    func() (*source.Tree, error)
	// modules opens a kubelet instead: the source of Kubernetes and of the APIs,
	// nil where those have no module of their own, and the day of the commit.
	modules func() (kubernetes, apis *source.Tree, day string, err error)
}

// All reads all releases. Git tags come before modules of the same version.
func (c *Collector) All() ([]rows.Found, error) {
	if c.sources.Containerd == "" && c.sources.CRIO == "" && len(c.sources.Modules)+len(c.sources.Kubernetes) == 0 {
		return nil, errors.New("nothing to read: name a repository with -containerd or -crio, a module with -module, or releases with -kubernetes")
	}
	if c.sources.NRI != "" {
		repo, err := gitrepo.Open(c.ctx, c.sources.NRI)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		c.nri = repo
	}
	var tasks []task
	for _, r := range []struct{ runtime, dir string }{{inference.Containerd, c.sources.Containerd}, {inference.CRIO, c.sources.CRIO}} {
		if r.dir == "" {
			continue
		}
		repo, err := gitrepo.Open(c.ctx, r.dir)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		found, err := c.tags(repo, r.runtime, r.dir)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, found...)
	}
	for _, m := range c.sources.Modules {
		t, err := c.moduleTask(m)
		if err != nil {
			return nil, err
		}
		known := slices.ContainsFunc(tasks, func(o task) bool { return o.runtime == t.runtime && o.version == t.version })
		if !known && c.wanted(t.runtime, t.version) {
			tasks = append(tasks, t)
		}
	}
	kubelets, err := c.kubernetes()
	if err != nil {
		return nil, err
	}
	return c.read(append(tasks, kubelets...))
}

// tags lists the tags of a repository that are releases with NRI, and for
// CRI-O its development branch.
func (c *Collector) tags(repo *gitrepo.Repo, runtime, dir string) ([]task, error) {
	var branches []string
	if runtime == inference.CRIO {
		branches = append(branches, "main")
	}
	refs, err := repo.Refs(branches...)
	if err != nil {
		return nil, err
	}
	var out []task
	releases := 0
	for _, ref := range refs {
		v, full, ok := parseRef(ref.Name, branches)
		if !ok {
			continue
		}
		releases++
		if v.Compare(c.first(runtime)) < 0 || !c.wanted(runtime, v) {
			continue
		}
		out = append(out, task{
			runtime: runtime, version: v, date: ref.Date, tagged: true,
			open: func() (*source.Tree, error) { return source.Git(repo, full) },
		})
	}
	if releases == 0 {
		return nil, fmt.Errorf("repository %s: it has no tag vMAJOR.MINOR.PATCH: fetch the tags, or name another directory", dir)
	}
	return out, nil
}

// parseRef reads a tag such as "v1.7.0-rc.0" or the name of a branch.
func parseRef(name string, branches []string) (v inference.Version, full string, ok bool) {
	if slices.Contains(branches, name) {
		return inference.Version{Main: true}, "refs/heads/" + name, true
	}
	text, ok := strings.CutPrefix(name, "v")
	if !ok || v.UnmarshalText([]byte(text)) != nil || v.Main || v.IsZero() {
		return v, "", false
	}
	return v, "refs/tags/" + name, true
}

// moduleTask reads "github.com/containerd/containerd/v2@v2.4.2".
func (c *Collector) moduleTask(name string) (task, error) {
	path, version, ok := strings.Cut(name, "@")
	t := task{runtime: inference.Containerd}
	if !ok || path != "github.com/containerd/containerd" && path != "github.com/containerd/containerd/v2" {
		return t, fmt.Errorf("module %q: write github.com/containerd/containerd@VERSION, or …/v2@VERSION from 2.0.0 on", name)
	}
	if err := t.version.UnmarshalText([]byte(strings.TrimPrefix(version, "v"))); err != nil || t.version.IsZero() || t.version.Main {
		return t, fmt.Errorf("module %q: %q is no version of a release: write it as v2.4.2", name, version)
	}
	m, err := source.Fetch(c.ctx, path, version)
	if err != nil {
		return t, err
	}
	committed, err := m.Time()
	if err != nil {
		return t, err
	}
	t.date = committed.Format(time.DateOnly)
	t.open = m.Tree
	return t, nil
}

// read reads the releases, oldest first.
func (c *Collector) read(tasks []task) ([]rows.Found, error) {
	slices.SortStableFunc(tasks, func(a, b task) int {
		if a.runtime != b.runtime {
			return strings.Compare(a.runtime, b.runtime)
		}
		return a.version.Compare(b.version)
	})
	var out []rows.Found
	for i, t := range tasks {
		c.progress(i, len(tasks), t.runtime+" "+t.version.String())
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
		found, err := c.release(t)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", t.runtime, t.read(), err)
		}
		out = append(out, found)
	}
	c.progress(len(tasks), len(tasks), "")
	return out, nil
}

// release reads one release.
func (c *Collector) release(t task) (rows.Found, error) {
	if t.modules != nil {
		return c.kubelet(t)
	}
	tree, err := t.open()
	if err != nil {
		return rows.Found{}, err
	}
	nri, err := source.FindNRI(tree)
	if err != nil {
		return rows.Found{}, err
	}
	if nri.Version == "" {
		return rows.Found{}, fmt.Errorf("go.mod replaces NRI by the directory %s: give the release a row by hand", nri.Dir)
	}
	library, err := source.Library(tree, nri, c.nri, c.module)
	if err != nil {
		return rows.Found{}, err
	}
	report, err := c.reader.Read(tree, t.runtime, library)
	if err != nil {
		return rows.Found{}, err
	}
	out := rows.Found{Runtime: t.runtime, Version: t.version, NRI: nri.Version, Report: report, Day: t.date}
	if t.tagged {
		out.Date = out.Day
	}
	return out, nil
}

// module fetches a version of the NRI module, once.
func (c *Collector) module(path, version string) (*source.Tree, error) {
	name := path + "@" + version
	if t, ok := c.modules[name]; ok {
		return t, nil
	}
	m, err := source.Fetch(c.ctx, path, version)
	if err != nil {
		return nil, err
	}
	t, err := m.Tree()
	if err == nil {
		c.modules[name] = t
	}
	return t, err
}
