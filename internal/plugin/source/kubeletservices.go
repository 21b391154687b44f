package source

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// switched are the options of the library of DRA drivers that turn a service on
// or off, by name. Up to v0.30 v1alpha3 was that of the Go package v1alpha3, in
// v0.31 that of v1alpha4; no release knows both.
var switched = map[string][]string{
	"NodeV1alpha2": {"dra/v1alpha2"}, "NodeV1alpha3": {"dra/v1alpha3", "dra/v1alpha4"}, "NodeV1alpha4": {"dra/v1alpha4"},
	"NodeV1beta1": {"dra/v1beta1"}, "NodeV1": {"dra/v1"},
}

// services finds the DRA services that are offered. Those of several versions of
// one API are alternatives: the kubelet needs to know one of them. That holds if
// the plugin offers all of them; where one may be left out it is a gap.
func (u *kubeletUses) services() {
	u.leaveOut()
	versions := map[string][]string{}
	for _, d := range u.drivers {
		name, version, _ := strings.Cut(d.what, "/")
		id, ok := symbols.DRAService(name, version)
		if !ok {
			u.gaps = append(u.gaps, fmt.Sprintf("the DRA service %s is not known", d.what))
			continue
		}
		if !slices.Contains(versions[name], d.what) {
			versions[name] = append(versions[name], d.what)
		}
		u.add(id, d.in, d.node, "call", d.what)
		r := &u.reqs[len(u.reqs)-1]
		r.OneOf = name
		if name == "dra-health" && symbols.DRALibrary(d.in.pkg.PkgPath) {
			// Whether the driver watches the health of its devices or not.
			r.Level, r.Note = capability.Wants, "the library of DRA drivers offers it by itself"
		}
	}
	for _, name := range []string{"dra", "dra-health"} {
		if list := versions[name]; len(list) > 1 && !u.offersAll(list) {
			slices.Sort(list)
			u.gaps = append(u.gaps, fmt.Sprintf("whether it always serves all of %s could not be told", strings.Join(list, ", ")))
		}
	}
}

// leaveOut takes out the services of the library that the plugin turns off or
// does not implement. If it seems to implement none of them what it hands over
// comes from code that is not read, and nothing is known.
func (u *kubeletUses) leaveOut() {
	missing := map[ast.Node]bool{}
	implements := false
	u.drivers = slices.DeleteFunc(u.drivers, func(d site) bool {
		on, known := u.switchedOn(d.what)
		if !symbols.DRALibrary(d.in.pkg.PkgPath) || known && !on {
			return symbols.DRALibrary(d.in.pkg.PkgPath)
		}
		if server := asserted(d); server != nil {
			missing[d.node] = !u.implemented(server)
			implements = implements || !missing[d.node]
		}
		return false
	})
	u.drivers = slices.DeleteFunc(u.drivers, func(d site) bool { return implements && missing[d.node] })
}

// asserted returns the interface that an object must have for the library to
// register a service with it; nil if the library registers an object of its own.
// Up to v0.32 a driver hands over objects of any type, and the library looks what
// they implement.
func asserted(d site) *types.Interface {
	for at := d.in.parents[d.node]; at != nil; at = d.in.parents[at] {
		cond, ok := at.(*ast.IfStmt)
		if !ok {
			continue
		}
		set, ok := cond.Init.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 {
			continue
		}
		if a, ok := ast.Unparen(set.Rhs[0]).(*ast.TypeAssertExpr); ok && a.Type != nil {
			if t := d.in.pkg.TypesInfo.TypeOf(a.Type); t != nil && types.IsInterface(t) {
				return t.Underlying().(*types.Interface)
			}
		}
	}
	return nil
}

// implemented tells whether a type that the plugin has or names implements the
// interface of a service. Those of the library and of the API itself, such as
// wrappers from one version to another, count where they are named.
func (u *kubeletUses) implemented(server *types.Interface) bool {
	for _, pkg := range u.pkgs {
		if _, _, api := symbols.KubeletAPI(pkg.PkgPath); api || !u.in[pkg.PkgPath] || symbols.DRALibrary(pkg.PkgPath) {
			continue
		}
		for _, objects := range []map[*ast.Ident]types.Object{pkg.TypesInfo.Defs, pkg.TypesInfo.Uses} {
			for _, obj := range objects {
				name, ok := obj.(*types.TypeName)
				if ok && !types.IsInterface(name.Type()) && (types.Implements(name.Type(), server) || types.Implements(types.NewPointer(name.Type()), server)) {
					return true
				}
			}
		}
	}
	return false
}

// switchedOn tells whether the library offers a service, if that is known: it
// does unless an option says otherwise. What a constant says to the library
// itself counts; an option on its way in a variable may be left out.
func (u *kubeletUses) switchedOn(service string) (on, known bool) {
	var options []site
	for _, s := range u.switches {
		if s.what == service {
			options = append(options, s)
		}
	}
	if len(options) != 1 {
		return true, len(options) == 0
	}
	s := options[0]
	c := s.node.(*ast.CallExpr)
	start, direct := s.in.parents[c].(*ast.CallExpr)
	if len(c.Args) != 1 || !direct {
		return false, false
	}
	fn := callee(s.in.pkg.TypesInfo, start)
	v := s.in.pkg.TypesInfo.Types[c.Args[0]].Value
	if fn == nil || fn.Pkg() == nil || !symbols.DRALibrary(fn.Pkg().Path()) || v == nil || v.Kind() != constant.Bool {
		return false, false
	}
	return constant.BoolVal(v), true
}

// offersAll tells whether a plugin that offers one of some services offers all
// of them: there is a function which whenever it gets to one gets to the others.
func (u *kubeletUses) offersAll(services []string) bool {
	type span struct {
		n           int // services
		first, last token.Pos
		info        *types.Info
	}
	spans := map[ast.Node]span{}
	for _, service := range services {
		reached := map[ast.Node]site{}
		for _, d := range u.drivers {
			if d.what == service {
				u.reaches(d, reached, 0)
			}
		}
		for scope, at := range reached {
			s, seen := spans[scope]
			if pos := at.node.Pos(); !seen {
				s = span{0, pos, pos, at.in.pkg.TypesInfo}
			} else {
				s.first, s.last = min(s.first, pos), max(s.last, pos)
			}
			s.n++
			spans[scope] = s
		}
	}
	for scope, s := range spans {
		if s.n == len(services) && !leaves(scope, s.first, s.last, s.info) {
			return true
		}
	}
	return false
}

// reaches finds the functions and function literals that get to a place in the
// code under no condition, each with the place in it that does: the one that it
// is in, and those that call such a one.
func (u *kubeletUses) reaches(s site, reached map[ast.Node]site, depth int) {
	if depth > maxTrace {
		return
	}
	if symbols.DRALibrary(s.in.pkg.PkgPath) {
		// The library has a condition for every service, which is met if no
		// option says otherwise. What is handed over to one that asks for its
		// interface is not known.
		if on, known := u.switchedOn(s.what); on && known && asserted(s) == nil {
			reached[s.in.node] = site{s.in, s.in.node, s.what}
		}
		return
	}
	add := func(scope ast.Node) {
		if _, seen := reached[scope]; !seen {
			reached[scope] = s
		}
	}
	if !unconditional(s.in, s.node, add) || s.in.obj == nil {
		return
	}
	for _, c := range u.calls[s.in.obj] {
		if _, seen := reached[c.in.node]; u.reached[c.in] && !seen {
			u.reaches(site{c.in, c.expr, s.what}, reached, depth+1)
		}
	}
}

// unconditional tells whether a node is evaluated whenever its function gets to
// its place. It calls in with each function for which that is so: first the
// function literals around it.
func unconditional(f *function, n ast.Node, in func(ast.Node)) bool {
	for below, at := n, f.parents[n]; at != nil; below, at = at, f.parents[at] {
		switch at := at.(type) {
		case *ast.IfStmt:
			if below != at.Cond && below != at.Init {
				return false
			}
		case *ast.CaseClause, *ast.CommClause, *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.BinaryExpr:
			if (at.Op == token.LAND || at.Op == token.LOR) && below == at.Y {
				return false
			}
		case *ast.FuncLit:
			in(at)
			if c, ok := f.parents[at].(*ast.CallExpr); !ok || ast.Unparen(c.Fun) != at {
				return false
			}
		}
	}
	in(f.node)
	return true
}

// leaves tells whether a function may be left between two places of it, or go
// elsewhere, for another reason than an error.
func leaves(scope ast.Node, from, to token.Pos, info *types.Info) bool {
	leaves := false
	ast.Inspect(scope, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == scope
		case *ast.IfStmt:
			cond, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
			if ok && n.Else == nil && cond.Op == token.NEQ && isNil(info, cond.Y) && types.Identical(info.TypeOf(cond.X), types.Universe.Lookup("error").Type()) {
				return false
			}
		case *ast.ReturnStmt, *ast.BranchStmt:
			leaves = leaves || from < n.Pos() && n.Pos() < to
		}
		return true
	})
	return leaves
}
