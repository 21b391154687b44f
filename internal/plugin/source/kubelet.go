package source

import (
	"context"
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// InspectKubelet returns one plugin for each main package in the module at dir
// that uses an API of the kubelet: as a device plugin, as a DRA driver, or as a
// client of the pod resources API. It is [Inspect] in everything else.
//
// A plugin that copies the API packages is recognised if their import paths
// still end like those of k8s.io/kubelet.
func InspectKubelet(ctx context.Context, dir string, o Options) ([]found.Plugin, error) {
	return o.inspect(dir, func(o Options) ([]found.Plugin, error) {
		l, err := newLoader(ctx, dir, o)
		if err != nil {
			return nil, err
		}
		l.api = api{"an API of the kubelet", func(p *packages.Package) bool { _, _, ok := symbols.KubeletAPI(p.PkgPath); return ok }, symbols.DeviceFramework}
		g, pkgs, err := l.load(o)
		if err != nil {
			return nil, err
		}
		prog := newKubeletProgram(l.root, pkgs)
		var plugins []found.Plugin
		for _, main := range g.mains {
			plugins = append(plugins, prog.kubeletPlugin(main, g, l))
		}
		return plugins, nil
	})
}

// newKubeletProgram reads the walked code. Every interface that any package has
// asks for methods, those of the API above all: grpc calls them.
func newKubeletProgram(root string, pkgs []*packages.Package) *program {
	p := emptyProgram(root)
	seen := map[*types.Package]bool{}
	var visit func(*types.Package)
	visit = func(pkg *types.Package) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		for _, q := range pkg.Imports() {
			visit(q)
		}
	}
	for _, pkg := range pkgs {
		p.fset = pkg.Fset
		visit(pkg.Types)
	}
	p.read(pkgs, seen)
	return p
}

// kubeletPlugin puts together what is known of one main package.
func (p *program) kubeletPlugin(main *packages.Package, g *graph, l *loader) found.Plugin {
	in := g.uses[main.PkgPath]
	reached := p.reach(p.roots(in, main.PkgPath), in, false)
	u := &kubeletUses{program: p, in: in, reached: reached}
	for _, f := range p.order {
		if in[f.pkg.PkgPath] && reached[f] {
			u.look(f)
		}
	}
	u.options()
	u.order()
	u.services()
	out := found.Plugin{
		Name: programName(main.PkgPath), Ref: l.dir, Path: l.dir, Reader: "source",
		Identity: identity(main, l), Kubelet: kubeletModule(main, g),
		Requirements: u.requirements(), Warnings: remarks(u.warnings), Gaps: remarks(u.gaps), Opaque: []string{},
	}
	return out
}

// kubeletModule tells which module gives the API to a main package.
func kubeletModule(main *packages.Package, g *graph) *found.Kubelet {
	var k found.Kubelet
	packages.Visit([]*packages.Package{main}, nil, func(p *packages.Package) {
		if g.api[p.PkgPath] == nil {
			return
		}
		name, version, _ := symbols.KubeletAPI(p.PkgPath)
		k.APIs = append(k.APIs, fmt.Sprintf("%s/%s", name, version))
		m := p.Module
		if m == nil || k.Module != "" {
			return
		}
		k.Module, k.Version = m.Path, m.Version
		if m.Replace != nil {
			k.Replaces = found.Replaced(m.Path, m.Version, m.Replace.Path, m.Replace.Version)
			k.Module, k.Version = m.Replace.Path, m.Replace.Version
		}
	})
	slices.Sort(k.APIs)
	return &k
}
