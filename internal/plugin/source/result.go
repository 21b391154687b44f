package source

import (
	"cmp"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// maxRemarks bounds the remarks of one kind in a result.
const maxRemarks = 20

// plugin puts together what is known of one main package.
func (p *program) plugin(main *packages.Package, g *graph, l *loader) found.Plugin {
	in := g.uses[main.PkgPath]
	var linked []*function
	for _, f := range p.order {
		if in[f.pkg.PkgPath] {
			linked = append(linked, f)
		}
	}
	// The stub is told of a plugin by code that must be reached itself, and what
	// the handlers reach may tell it of another one.
	roots := p.roots(in, main.PkgPath)
	linked = only(linked, p.linkable(roots, in))
	var h handlers
	reached := map[*function]bool{}
	for before := -1; len(reached) != before; {
		before = len(reached)
		reached = p.reach(append(slices.Clone(roots), h.funcs...), in, false)
		h = p.handlers(only(linked, reached), in)
	}
	out := found.Plugin{
		Name: programName(main.PkgPath), Ref: l.dir, Path: l.dir, Reader: "source",
		Identity: identity(main, l), NRI: nri(main, g), Warnings: h.warnings, Gaps: h.gaps,
	}
	live := only(linked, reached)
	var uses []symbols.Use
	var reqs []capability.Requirement
	for _, f := range linked {
		for _, u := range f.facts.uses {
			u.Unproven = !reached[f]
			uses = append(uses, u)
		}
		for _, r := range f.removals {
			r.Unproven = !reached[f]
			reqs = append(reqs, r)
		}
	}
	for _, f := range live {
		reqs = append(reqs, f.declared...)
		out.Gaps = append(out.Gaps, f.gaps...)
		out.Opaque = append(out.Opaque, f.opaque...)
	}
	slices.SortStableFunc(uses, func(a, b symbols.Use) int { return cmp.Compare(weakness(a), weakness(b)) })
	reqs = append(reqs, symbols.Requirements(uses, capability.FromSource)...)
	reqs = append(reqs, h.reqs...)
	reqs = append(reqs, p.fromHandlers(h.funcs, in)...)
	if h.services {
		subscribed := events(live)
		reqs = append(reqs, subscribed...)
		if len(subscribed) == 0 {
			out.Gaps = append(out.Gaps, "the plugin registers the service of the protocol itself, and which events it subscribes to was not found")
		}
	}
	if !h.seen {
		out.Gaps = append(out.Gaps, "nothing is handed to the stub's New or to RegisterPluginService, so that its handlers are not known")
	}
	out.Requirements = capability.Normalize(reqs)
	out.Gaps, out.Warnings, out.Opaque = remarks(out.Gaps), remarks(out.Warnings), remarks(out.Opaque)
	return out
}

// weakness orders uses so that the most telling evidence comes first.
func weakness(u symbols.Use) int {
	switch {
	case u.Unproven:
		return 2
	case u.How == symbols.Construct:
		return 1
	}
	return 0
}

// only returns the functions that are in the set, in order.
func only(all []*function, set map[*function]bool) []*function {
	return slices.DeleteFunc(slices.Clone(all), func(f *function) bool { return !set[f] })
}

// remarks sorts out repetitions and bounds the number.
func remarks(in []string) []string {
	out := []string{}
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) > maxRemarks {
		out = append(out[:maxRemarks:maxRemarks], fmt.Sprintf("and %d more", len(out)-maxRemarks))
	}
	return out
}

// fromHandlers tells what handlers do besides handling: they return updates of
// other containers, or call UpdateContainers before they have returned.
func (p *program) fromHandlers(handlers []*function, in map[string]bool) []capability.Requirement {
	var reqs []capability.Requirement
	for _, h := range handlers {
		reached := p.reach([]*function{h}, in, true)
		makes := false
		for _, f := range p.order {
			if !reached[f] {
				continue
			}
			makes = makes || f.updates
			for _, u := range f.unsolicited {
				if u.apart {
					continue
				}
				reqs = append(reqs, symbols.UnsolicitedRequirement(h.name, capability.FromSource, u.Evidence))
			}
		}
		known, _ := symbols.LookupHandler(h.obj.Name())
		if result := symbols.UpdatesResult(known.Name); result >= 0 && makes && returns(h, result) {
			reqs = append(reqs, symbols.UpdatesRequirement(known, capability.FromSource, p.evidence(h, h.obj.Pos())))
		}
	}
	return reqs
}

// returns tells whether a function can return something else than nil, in the
// given result.
func returns(f *function, result int) bool {
	decl, ok := f.node.(*ast.FuncDecl)
	if !ok || f.obj.Signature().Results().Len() <= result+1 {
		return false
	}
	yes := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) <= result || !isNil(f.pkg.TypesInfo, n.Results[result]) {
				yes = true
			}
		}
		return true
	})
	return yes
}

// programName is the name that "go build" gives to the executable: the last
// element of the import path that is not a major version.
func programName(pkgPath string) string {
	name := path.Base(pkgPath)
	if v, ok := strings.CutPrefix(name, "v"); ok && v != "" && strings.Trim(v, "0123456789") == "" {
		name = path.Base(path.Dir(pkgPath))
	}
	return name
}

func identity(main *packages.Package, l *loader) found.Identity {
	id := found.Identity{Package: main.PkgPath, Go: l.goVersion, OS: l.os, Arch: l.arch, Version: "(devel)"}
	if main.Module != nil {
		id.Module = main.Module.Path
		if main.Module.Version != "" {
			id.Version = main.Module.Version
		}
	}
	return id
}

// nri tells which module gives the API to a main package.
func nri(main *packages.Package, g *graph) found.NRI {
	var n found.NRI
	packages.Visit([]*packages.Package{main}, nil, func(p *packages.Package) {
		if g.api[p.PkgPath] == nil || n.Package == apiPackage {
			return
		}
		n = found.NRI{Package: p.PkgPath}
		m := p.Module
		if m == nil {
			return
		}
		n.Module, n.Version = m.Path, m.Version
		if m.Replace != nil {
			n.Module, n.Version = m.Replace.Path, m.Replace.Version
			n.Replaces = found.Replaced(m.Path, m.Version, m.Replace.Path, m.Replace.Version)
		}
	})
	return n
}
