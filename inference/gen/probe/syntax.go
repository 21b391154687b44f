package probe

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// The questions that probes put to syntax trees.

// trail returns the nodes from root down to target, both included; nil if
// target is not below root.
func trail(root, target ast.Node) []ast.Node {
	var stack, found []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if found != nil {
			return false
		}
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if n == target {
			found = append([]ast.Node(nil), stack...)
		}
		return true
	})
	return found
}

// callsOf returns the calls of functions or methods of a name.
func callsOf(root ast.Node, name string) []*ast.CallExpr {
	var out []*ast.CallExpr
	if root == nil {
		return nil
	}
	ast.Inspect(root, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && calledName(call) == name {
			out = append(out, call)
		}
		return true
	})
	return out
}

// calledName is the last part of what a call calls.
func calledName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	case *ast.IndexExpr:
		if id, ok := fun.X.(*ast.Ident); ok {
			return id.Name
		}
	}
	return ""
}

// selected is the dotted form of an expression of identifiers and selectors,
// such as "a.cri.Config"; calls are left out: a.Config().X is "a.Config.X".
func selected(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return selected(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return selected(e.Fun)
	case *ast.ParenExpr:
		return selected(e.X)
	case *ast.StarExpr:
		return selected(e.X)
	case *ast.UnaryExpr:
		return selected(e.X)
	case *ast.IndexExpr:
		return selected(e.X)
	}
	return ""
}

// mentions tells whether a name is used below a node.
func mentions(root ast.Node, name string) bool {
	found := false
	if root == nil {
		return false
	}
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// mentionsPart returns an identifier that contains a word, whatever its case.
func mentionsPart(root ast.Node, word string) ast.Node {
	var found ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && strings.Contains(strings.ToLower(id.Name), word) {
			found = id
		}
		return found == nil
	})
	return found
}

// literalKeys returns the keys of the composite literals of a type.
func literalKeys(root ast.Node, typ string) map[string]*ast.KeyValueExpr {
	out := map[string]*ast.KeyValueExpr{}
	ast.Inspect(root, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || typeName(lit.Type) != typ {
			return true
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok {
					out[key.Name] = kv
				}
			}
		}
		return true
	})
	return out
}

// literals tells whether there is a composite literal of a type.
func literals(root ast.Node, typ string) []*ast.CompositeLit {
	var out []*ast.CompositeLit
	ast.Inspect(root, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && typeName(lit.Type) == typ {
			out = append(out, lit)
		}
		return true
	})
	return out
}

// derefOfNil finds "*x = ..." for a local pointer x that is declared without
// a value and never given one: it ends the process.
func derefOfNil(f *fn) ast.Node {
	info := f.code.Info
	empty := map[types.Object]bool{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && len(spec.Values) == 0 {
			if _, pointer := spec.Type.(*ast.StarExpr); pointer {
				for _, name := range spec.Names {
					empty[info.Defs[name]] = true
				}
			}
		}
		return true
	})
	var derefs []*ast.StarExpr
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, l := range assign.Lhs {
			switch l := l.(type) {
			case *ast.Ident:
				delete(empty, info.Uses[l])
			case *ast.StarExpr:
				derefs = append(derefs, l)
			}
		}
		return true
	})
	for _, d := range derefs {
		if id, ok := d.X.(*ast.Ident); ok && empty[info.Uses[id]] {
			return d
		}
	}
	return nil
}

// nilReturns tells whether a function returns nothing but nil.
func nilReturns(f *fn) bool {
	only := true
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for _, e := range r.Results {
				if id, ok := e.(*ast.Ident); !ok || id.Name != "nil" {
					only = false
				}
			}
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return only
}

// boolean reads true or false.
func boolean(e ast.Expr) (value, ok bool) {
	id, isIdent := e.(*ast.Ident)
	if !isIdent || id.Name != "true" && id.Name != "false" {
		return false, false
	}
	return id.Name == "true", true
}

func negated(e ast.Expr) (ast.Expr, bool) {
	u, ok := e.(*ast.UnaryExpr)
	if ok && u.Op == token.NOT {
		return u.X, true
	}
	return e, false
}
