package source

import (
	"go/ast"
	"go/types"
	"slices"
)

// scan notes which functions a function mentions and calls, and what its
// variables are set to.
func (p *program) scan(f *function) {
	f.defs, f.mentions = map[types.Object][]ast.Expr{}, map[types.Object][]*ast.Ident{}
	f.parents = parents(f.node)
	info := f.pkg.TypesInfo
	apart := 0
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			// The arguments are evaluated by the caller; the call is not.
			for _, arg := range n.Call.Args {
				ast.Inspect(arg, walk)
			}
			apart++
			ast.Inspect(n.Call.Fun, walk)
			apart--
			p.noteCall(f, n.Call)
			p.convertArguments(info, n.Call)
			return false
		case *ast.CallExpr:
			p.noteCall(f, n)
			p.convertArguments(info, n)
		case *ast.CompositeLit:
			p.convertFields(info, n)
		case *ast.ReturnStmt:
			p.convertResults(f, n)
		case *ast.Ident:
			switch obj := info.Uses[n].(type) {
			case *types.Func:
				p.mention(f, obj, apart > 0)
			case *types.Var:
				f.mentions[obj] = append(f.mentions[obj], n)
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					f.define(lhs, n.Rhs[i])
					p.convert(info.TypeOf(n.Rhs[i]), info.TypeOf(lhs))
				} else {
					f.define(lhs, n.Rhs[0])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) {
					f.define(name, n.Values[i])
					p.convert(info.TypeOf(n.Values[i]), info.TypeOf(name))
				}
			}
		}
		return true
	}
	ast.Inspect(f.node, walk)
}

// parents maps every node below root to the one above.
func parents(root ast.Node) map[ast.Node]ast.Node {
	above := map[ast.Node]ast.Node{}
	var stack []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			above[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	return above
}

// define notes what a variable is set to.
func (f *function) define(lhs, rhs ast.Expr) {
	id, ok := ast.Unparen(lhs).(*ast.Ident)
	if !ok {
		return
	}
	if obj := f.pkg.TypesInfo.ObjectOf(id); obj != nil {
		f.defs[obj] = append(f.defs[obj], rhs)
	}
}

// mention notes that f names a function or method, which may be one of an
// interface.
func (p *program) mention(f *function, fn *types.Func, apart bool) {
	fn = fn.Origin()
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		f.dynamic = append(f.dynamic, reference{fn, apart})
		return
	}
	f.refs = append(f.refs, reference{fn, apart})
}

func (p *program) noteCall(f *function, c *ast.CallExpr) {
	if fn := callee(f.pkg.TypesInfo, c); fn != nil {
		p.calls[fn] = append(p.calls[fn], call{f, c})
	}
}

// callee returns the function that a call names, nil for a call through a value.
func callee(info *types.Info, c *ast.CallExpr) *types.Func {
	fun := ast.Unparen(c.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	fn, _ := info.Uses[id].(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// wantedMethods finds the methods of walked types that an interface of another
// package asks for, so that code which is not walked may call them. The
// interfaces of the API and the stub are left out: what the stub calls is told
// by the type that it is given.
func (p *program) wantedMethods(packages map[*types.Package]bool) {
	p.wanted = map[*types.Func]bool{}
	walked := map[*types.Package]bool{}
	for _, pkg := range p.pkgs {
		walked[pkg.Types] = true
	}
	asked := []*types.Interface{types.Universe.Lookup("error").Type().Underlying().(*types.Interface)}
	for pkg := range packages {
		if walked[pkg] || p.api[pkg] || p.stubs[pkg] || isLibrary(pkg.Path()) {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			tn, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || !tn.Exported() {
				continue
			}
			if i, ok := tn.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 && i.IsMethodSet() {
				asked = append(asked, i)
			}
		}
	}
	for _, n := range p.named {
		if n.NumMethods() == 0 && !embeds(n) {
			continue
		}
		set := types.NewMethodSet(types.NewPointer(n))
		for _, i := range asked {
			p.want(n, set, i)
		}
	}
}

// embeds tells whether a type can have methods of another one.
func embeds(n *types.Named) bool {
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i).Embedded() {
			return true
		}
	}
	return false
}

// want notes the methods of an interface if the type has them all.
func (p *program) want(n *types.Named, set *types.MethodSet, i *types.Interface) {
	for m := range i.Methods() {
		if set.Lookup(m.Pkg(), m.Name()) == nil {
			return
		}
	}
	if !implements(n, i) {
		return
	}
	for m := range i.Methods() {
		if fn, ok := set.Lookup(m.Pkg(), m.Name()).Obj().(*types.Func); ok {
			p.wanted[fn.Origin()] = true
		}
	}
}

// implements tells whether a pointer to the type implements an interface. A
// generic type, whose arguments are not known here, counts as doing so; the
// callers have looked at the names of its methods.
func implements(n *types.Named, i *types.Interface) bool {
	return n.TypeParams().Len() > 0 || types.Implements(types.NewPointer(n), i)
}

// implementations returns the methods of walked types that a call of an
// interface method can reach.
func (p *program) implementations(method *types.Func, in map[string]bool) []*types.Func {
	iface, ok := method.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var out []*types.Func
	for _, n := range p.named {
		if n.Obj().Pkg() == nil || !in[n.Obj().Pkg().Path()] {
			continue
		}
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), false, method.Pkg(), method.Name())
		fn, ok := obj.(*types.Func)
		if ok && implements(n, iface) {
			out = append(out, fn.Origin())
		}
	}
	return out
}

// reach returns what can run once the given functions run. With sync, what is
// only started in a goroutine is left out. Only functions of the packages in
// are followed.
func (p *program) reach(from []*function, in map[string]bool, sync bool) map[*function]bool {
	reached := map[*function]bool{}
	todo := slices.Clone(from)
	seen := map[*types.Func]bool{}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[f] {
			continue
		}
		reached[f] = true
		follow := func(fn *types.Func) {
			if g := p.funcs[fn]; g != nil && in[g.pkg.PkgPath] {
				todo = append(todo, g)
			}
		}
		for _, r := range f.refs {
			if !sync || !r.apart {
				follow(r.to)
			}
		}
		for _, r := range f.dynamic {
			if sync && r.apart || seen[r.to] {
				continue
			}
			seen[r.to] = true
			for _, fn := range p.implementations(r.to, in) {
				follow(fn)
			}
		}
	}
	return reached
}

// linkable returns the functions that the linker may keep: it follows static
// mentions, and keeps the methods of all types that it keeps.
func (p *program) linkable(roots []*function, in map[string]bool) map[*function]bool {
	roots = slices.Clone(roots)
	for _, f := range p.order {
		if f.obj != nil && f.obj.Signature().Recv() != nil && in[f.pkg.PkgPath] {
			roots = append(roots, f)
		}
	}
	return p.reach(roots, in, false)
}

// roots returns the functions that run without being called by walked code.
func (p *program) roots(in map[string]bool, main string) []*function {
	var roots []*function
	for _, f := range p.order {
		if !in[f.pkg.PkgPath] {
			continue
		}
		switch {
		case f.obj == nil, p.wanted[f.obj]:
			roots = append(roots, f)
		case f.obj.Signature().Recv() != nil:
		case f.obj.Name() == "init", f.obj.Name() == "main" && f.pkg.PkgPath == main:
			roots = append(roots, f)
		}
	}
	return roots
}
