package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/binary"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/image"
	"github.com/nri-compat/nri-compat/internal/plugin/manifest"
	"github.com/nri-compat/nri-compat/internal/plugin/source"
)

// inspect reads one reference: "image:", "docker-archive:" or "oci-dir:" with
// an image behind it, otherwise a path to an executable or to a directory with
// a go.mod. What is not a path never starts a download by mistake.
func inspect(ctx context.Context, ref string, o Options) ([]Plugin, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if scheme, _, ok := strings.Cut(ref, ":"); ok && isScheme(scheme) {
		return inspectImage(ctx, ref, o)
	}
	info, err := os.Stat(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(ref, ":@"):
		return nil, fmt.Errorf("%w: a plugin is a path, or an image with a scheme in front, such as image:%s", err, ref)
	case err != nil:
		return nil, err
	case info.IsDir():
		return inspectSource(ctx, ref, o)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: neither a regular file nor a directory", ref)
	}
	return inspectFile(ctx, ref, o)
}

func isScheme(s string) bool {
	return s == string(image.Registry) || s == string(image.DockerArchive) || s == string(image.OCIDir)
}

// inspectFile reads an executable, or a manifest that was named itself. Of a
// program that no reader understands the manifest next to it is all there is.
func inspectFile(ctx context.Context, path string, o Options) ([]Plugin, error) {
	if filepath.Base(path) == manifest.FileName {
		m, err := readManifest(path)
		if err != nil {
			return nil, err
		}
		return []Plugin{declaredOnly(m, path)}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	detected, err := readExecutable(ctx, f, info.Size(), path)
	if err != nil {
		beside := filepath.Join(filepath.Dir(path), manifest.FileName)
		m, manifestErr := readManifest(beside)
		if o.IgnoreManifest || manifestErr != nil || m.Plugin != filepath.Base(path) || !beyondReading(err) {
			return nil, err
		}
		return []Plugin{declaredOnly(m, path)}, nil
	}
	p := Plugin{Plugin: detected}
	p.Name, p.Ref, p.Path = filepath.Base(path), path, path
	if err := o.declare(&p, filepath.Dir(path)); err != nil {
		return nil, err
	}
	return []Plugin{p}, nil
}

// beyondReading tells whether a file is a program of a kind that cannot be
// read, rather than a damaged one or none at all.
func beyondReading(err error) bool {
	for _, kind := range []error{binary.ErrScript, binary.ErrWasm, binary.ErrNotGo, binary.ErrPacked, binary.ErrTooOld} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func declaredOnly(m manifest.Manifest, ref string) Plugin {
	p := Plugin{Plugin: m.Declared(), Manifest: m.Name}
	p.Ref, p.Path = ref, ref
	if p.Name == "" {
		p.Name = filepath.Base(ref)
	}
	return p
}

func readManifest(path string) (manifest.Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return manifest.Manifest{}, err
	}
	defer f.Close()
	return manifest.Read(f, path)
}

func inspectSource(ctx context.Context, dir string, o Options) ([]Plugin, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: a directory without go.mod: name the root of a Go module, or an executable", dir)
	}
	o.progress(dir, "loading packages")
	list, err := readSource(ctx, dir, source.Options{Tags: o.Tags, Progress: func(stage string) { o.progress(dir, stage) }})
	if err != nil {
		return nil, err
	}
	var plugins []Plugin
	for _, f := range list {
		p := Plugin{Plugin: f}
		p.Ref = dir
		if err := o.declare(&p, dir); err != nil {
			return nil, err
		}
		plugins = append(plugins, p)
	}
	return plugins, nil
}

// inspectImage reads the plugin of an image: what it starts, or else every
// executable that carries the NRI API.
func inspectImage(ctx context.Context, ref string, o Options) ([]Plugin, error) {
	parsed, err := image.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	o.progress(ref, "opening")
	img, err := image.Open(ctx, parsed, image.Options{Platform: o.Platform, Progress: func(done, total int64) {
		if total > 0 {
			o.progress(ref, fmt.Sprintf("reading layers, %d %%", 100*done/total))
		}
	}})
	if err != nil {
		return nil, err
	}
	defer img.Close()

	read := map[string]Plugin{}
	var failed error
	execs, err := img.Executables(ctx, func(f image.File) bool {
		p, err := readExecutable(ctx, f, f.Size, f.Path)
		if err != nil {
			if failed == nil && !errors.Is(err, binary.ErrNoAPI) {
				failed = err
			}
			return false
		}
		read[f.Path] = Plugin{Plugin: p}
		return true
	})
	if err != nil {
		if failed != nil {
			return nil, fmt.Errorf("%w (first of its executables: %w)", err, failed)
		}
		return nil, err
	}
	var plugins []Plugin
	for _, f := range execs.Files {
		p := read[f.Path]
		p.Name, p.Ref, p.Path = filepath.Base(f.Path), ref, f.Path
		if execs.Aside != "" {
			p.Warnings = append(p.Warnings, execs.Aside)
		}
		if text, where, ok := img.Manifest(f.Path); ok && !o.IgnoreManifest {
			if err := p.apply(text, ref+" "+where); err != nil {
				return nil, err
			}
		}
		plugins = append(plugins, p)
	}
	return plugins, nil
}

// declare lets the manifest in a directory have its say, if there is one.
func (o Options) declare(p *Plugin, dir string) error {
	if o.IgnoreManifest {
		return nil
	}
	m, err := readManifest(filepath.Join(dir, manifest.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.declared(m)
	return nil
}

func (p *Plugin) apply(text []byte, name string) error {
	m, err := manifest.Read(bytes.NewReader(text), name)
	if err != nil {
		return err
	}
	p.declared(m)
	return nil
}

// declared applies a manifest, unless it is that of another plugin in the same
// directory.
func (p *Plugin) declared(m manifest.Manifest) {
	if m.Plugin != "" && m.Plugin != p.Name {
		return
	}
	var detected found.Plugin
	detected, p.Differences = manifest.Apply(p.Plugin, m)
	p.Plugin, p.Manifest = detected, m.Name
}
