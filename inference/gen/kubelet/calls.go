package kubelet

import (
	"go/ast"
)

// reach returns the functions that one leads to, itself included, within the
// code. A call goes to every function of its name, since types are not known;
// a call that a package outside the code qualifies goes nowhere. With background
// set, what is started as a goroutine counts too.
func (c *code) reach(from []*fn, background bool) []*fn {
	var out []*fn
	seen := map[*fn]bool{}
	var visit func(f *fn)
	visit = func(f *fn) {
		if seen[f] {
			return
		}
		seen[f] = true
		out = append(out, f)
		f.walk(background, func(n ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || f.in.from(call.Fun) != "" {
				return
			}
			for _, next := range c.funcs[called(call)] {
				visit(next)
			}
		})
	}
	for _, f := range from {
		visit(f)
	}
	return out
}

// walk visits the nodes of a function, without what it starts as a goroutine
// unless background is set.
func (f *fn) walk(background bool, visit func(ast.Node)) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok && !background {
			return false
		}
		if n != nil {
			visit(n)
		}
		return n != nil
	})
}

// called is the last part of what a call calls, empty for a function literal.
func called(call *ast.CallExpr) string {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// find returns the first node of some functions that fulfils a condition, with
// its function.
func find(fns []*fn, background bool, want func(f *fn, n ast.Node) bool) (node ast.Node, in *fn) {
	for _, f := range fns {
		f.walk(background, func(n ast.Node) {
			if node == nil && want(f, n) {
				node, in = n, f
			}
		})
		if node != nil {
			break
		}
	}
	return node, in
}

// ranges tells whether a node is a loop over a field of a name.
func ranges(field string) func(*fn, ast.Node) bool {
	return func(_ *fn, n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if !ok {
			return false
		}
		s, ok := ast.Unparen(r.X).(*ast.SelectorExpr)
		return ok && s.Sel.Name == field
	}
}

// mentions tells whether a node is a field or method of a name.
func mentions(name string) func(*fn, ast.Node) bool {
	return func(_ *fn, n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		return ok && s.Sel.Name == name
	}
}

// calls tells whether a node is a call of a function or method of a name.
func calls(name string) func(*fn, ast.Node) bool {
	return func(_ *fn, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && called(call) == name
	}
}

// callsOf tells whether a node is a call of one of the functions of a package.
func callsOf(pkg string, names ...string) func(*fn, ast.Node) bool {
	return func(f *fn, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !within(f.in.from(call.Fun), pkg) {
			return false
		}
		for _, name := range names {
			if called(call) == name {
				return true
			}
		}
		return false
	}
}

// methods returns the methods of a type and a name.
func (c *code) methods(typ, name string) []*fn {
	var out []*fn
	for _, f := range c.funcs[name] {
		if f.Recv != nil && len(f.Recv.List) == 1 && typeName(f.Recv.List[0].Type) == typ {
			out = append(out, f)
		}
	}
	return out
}

// typeName is the name of a type, without pointer and package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

// parameter returns the name of the parameter of a type, empty if there is none.
func (f *fn) parameter(typ string) string {
	for _, p := range f.Type.Params.List {
		if typeName(p.Type) == typ && len(p.Names) == 1 {
			return p.Names[0].Name
		}
	}
	return ""
}
