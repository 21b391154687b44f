package collect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/kubelet"
	"github.com/nri-compat/nri-compat/inference/gen/rows"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// The modules with the source of the kubelet. The APIs have one of their own
// from 1.17 on; it is called 0.17 for 1.17.
const (
	kubernetesModule = "k8s.io/kubernetes"
	kubeletModule    = "k8s.io/kubelet"
	firstKubelet     = 17
)

// AllKubernetes stands for every release of the kubelet that the table has.
const AllKubernetes = "all"

// kubernetes lists the releases of the kubelet that are asked for, each once:
// "1.34", "1.34.1", "all", or a directory with modules.
func (c *Collector) kubernetes() ([]task, error) {
	var out []task
	for _, name := range c.sources.Kubernetes {
		tasks, err := c.kubernetesTasks(name)
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if !c.wanted(t.runtime, t.version) {
				continue
			}
			at := slices.IndexFunc(out, func(o task) bool { return o.version == t.version })
			if at < 0 {
				out = append(out, t)
			} else if a, b := out[at].read(), t.read(); a != b {
				return nil, fmt.Errorf("-kubernetes %s: kubelet %s and %s are asked for, and both are compared with the row of %s: read one at a time", name, a, b, t.version)
			}
		}
	}
	return out, nil
}

func (c *Collector) kubernetesTasks(name string) ([]task, error) {
	if name == AllKubernetes {
		var out []task
		for _, v := range c.sources.Kubelets {
			out = append(out, c.fetched(v, v))
		}
		return out, nil
	}
	if v, ok := kubernetesVersion(name); ok {
		row, err := c.row(v)
		if err != nil {
			return nil, err
		}
		return []task{c.fetched(row, v)}, nil
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("-kubernetes %q is neither a release nor a directory: write 1.34, 1.34.1, %s, or a directory with %s@VERSION in it", name, AllKubernetes, kubernetesModule)
	}
	return c.unpacked(name)
}

// kubernetesVersion reads "1.34" and "v1.34.1".
func kubernetesVersion(name string) (v inference.Version, ok bool) {
	text := strings.TrimPrefix(name, "v")
	if strings.Count(text, ".") == 1 {
		text += ".0"
	}
	err := v.UnmarshalText([]byte(text))
	return v, err == nil && !v.IsZero() && !v.Main
}

// row is the release whose row answers for one: itself, or for a patch release
// the first one of its minor.
func (c *Collector) row(v inference.Version) (inference.Version, error) {
	if v.Patch == 0 {
		return v, nil
	}
	first := inference.Version{Major: v.Major, Minor: v.Minor}
	if !slices.Contains(c.sources.Kubelets, first) {
		return v, fmt.Errorf("kubelet %s: the table has no row for %s, which would answer for it: read %s first", v, v.Line(), first)
	}
	return first, nil
}

// kubeletTask is a release of the kubelet with the row that answers for it.
func kubeletTask(row, v inference.Version) task {
	t := task{runtime: inference.Kubelet, version: row}
	if row != v {
		t.patch = v
	}
	return t
}

// read is the release of the kubelet that a task reads.
func (t task) read() inference.Version { return cmp.Or(t.patch, t.version) }

// fetched is a release that the Go client fetches when it is read.
func (c *Collector) fetched(row, v inference.Version) task {
	t := kubeletTask(row, v)
	t.modules = func() (kubernetes, apis *source.Tree, day string, err error) {
		m, err := source.Fetch(c.ctx, kubernetesModule, "v"+v.String())
		if err != nil {
			return nil, nil, "", err
		}
		committed, err := m.Time()
		if err != nil {
			return nil, nil, "", err
		}
		if kubernetes, err = m.Tree(); err != nil || v.Minor < firstKubelet {
			return kubernetes, nil, committed.Format(time.DateOnly), err
		}
		if m, err = source.Fetch(c.ctx, kubeletModule, apiVersion(v)); err != nil {
			return nil, nil, "", err
		}
		apis, err = m.Tree()
		return kubernetes, apis, committed.Format(time.DateOnly), err
	}
	return t
}

// apiVersion is the version of k8s.io/kubelet that belongs to a release.
func apiVersion(v inference.Version) string {
	return "v0" + strings.TrimPrefix(v.String(), "1")
}

// unpacked are the releases in a directory that is laid out as the module cache
// of Go is: k8s.io/kubernetes@v1.34.0 and k8s.io/kubelet@v0.34.0. Of each minor
// it is the oldest.
func (c *Collector) unpacked(dir string) ([]task, error) {
	found, err := filepath.Glob(filepath.Join(escape(dir), kubernetesModule+"@v*"))
	if err != nil {
		return nil, err
	}
	oldest := map[string]inference.Version{}
	for _, name := range found {
		_, version, _ := strings.Cut(filepath.Base(name), "@")
		v, ok := kubernetesVersion(version)
		if !ok {
			continue
		}
		if o, known := oldest[v.Line()]; !known || v.Compare(o) < 0 {
			oldest[v.Line()] = v
		}
	}
	if len(oldest) == 0 {
		return nil, fmt.Errorf("-kubernetes %s: it has no directory %s@VERSION", dir, kubernetesModule)
	}
	var out []task
	for _, v := range oldest {
		row, err := c.row(v)
		if err != nil {
			return nil, err
		}
		t := kubeletTask(row, v)
		t.modules = func() (kubernetes, apis *source.Tree, day string, err error) {
			if kubernetes, err = source.Dir(filepath.Join(dir, kubernetesModule+"@v"+v.String())); err != nil {
				return nil, nil, "", err
			}
			if v.Minor >= firstKubelet {
				if apis, err = source.Dir(filepath.Join(dir, kubeletModule+"@"+apiVersion(v))); err != nil {
					return nil, nil, "", err
				}
			}
			m := source.Module{Info: filepath.Join(dir, "cache/download", kubernetesModule, "@v", "v"+v.String()+".info")}
			committed, err := m.Time()
			if errors.Is(err, fs.ErrNotExist) {
				return kubernetes, apis, "", nil
			}
			return kubernetes, apis, committed.Format(time.DateOnly), err
		}
		out = append(out, t)
	}
	return out, nil
}

// escape keeps what is special in a pattern from being so.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// kubelet reads one release of the kubelet.
func (c *Collector) kubelet(t task) (rows.Found, error) {
	kubernetes, apis, day, err := t.modules()
	if err != nil {
		return rows.Found{}, err
	}
	report, err := kubelet.Read(kubernetes, apis, t.version)
	if err != nil {
		return rows.Found{}, err
	}
	return rows.Found{Runtime: t.runtime, Version: t.version, Patch: t.patch, Report: report, Day: day}, nil
}
