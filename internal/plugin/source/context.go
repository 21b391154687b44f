package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// contextOfType knows the objects that tell the context by their own type.
func contextOfType(name string) symbols.Context {
	switch name {
	case "Container", "LinuxContainer":
		return symbols.OfContainer
	case "PodSandbox", "LinuxPodSandbox":
		return symbols.OfPod
	case "ContainerAdjustment", "LinuxContainerAdjustment":
		return symbols.OfAdjustment
	case "ContainerUpdate", "LinuxContainerUpdate":
		return symbols.OfUpdate
	case "UpdateContainerRequest":
		return symbols.OfUpdateRequest
	case "UpdatePodSandboxRequest", "PostUpdatePodSandboxRequest":
		return symbols.OfPodUpdate
	}
	return symbols.Unclear
}

// side tells which end of a flow decides where both are known: what is read
// belongs to where it comes from, what is written to where it goes.
type side bool

const (
	from side = false
	into side = true
)

// origin tells which object an expression hangs off, such as the container in
// "container.Linux.Resources.Cpu".
func (p *program) origin(f *function, e ast.Expr, s side) symbols.Context {
	info := f.pkg.TypesInfo
	for e != nil {
		if c := contextOfType(p.apiType(info.TypeOf(e))); c != symbols.Unclear {
			return c
		}
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			if info.Selections[x] == nil {
				return symbols.Unclear // a name of another package
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return symbols.Unclear
			}
			e = x.X
		case *ast.CallExpr:
			// A getter hangs off what it is called on; the result of anything else
			// off where it is put.
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if !ok || info.Selections[sel] == nil || p.apiType(info.TypeOf(sel.X)) == "" {
				return p.destination(f, x)
			}
			e = sel.X
		case *ast.CompositeLit:
			return p.destination(f, x)
		case *ast.Ident:
			v, _ := info.ObjectOf(x).(*types.Var)
			return p.ofVariable(f, v, s)
		default:
			return symbols.Unclear
		}
	}
	return symbols.Unclear
}

// destination tells which object the value of an expression is put into: the
// literal around it, the field or variable it is assigned to, the parameter it
// is handed over as, or what the callers do with it if it is returned.
func (p *program) destination(f *function, e ast.Expr) symbols.Context {
	info := f.pkg.TypesInfo
	var n ast.Node = e
	for {
		parent := f.parents[n]
		switch x := parent.(type) {
		case *ast.ParenExpr:
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return symbols.Unclear
			}
		case *ast.KeyValueExpr:
		case *ast.CompositeLit:
			if c := contextOfType(p.apiType(info.TypeOf(x))); c != symbols.Unclear {
				return c
			}
		case *ast.AssignStmt:
			i := slices.IndexFunc(x.Rhs, func(r ast.Expr) bool { return r == n })
			if i < 0 || len(x.Lhs) != len(x.Rhs) && len(x.Rhs) != 1 {
				return symbols.Unclear // of several results the first is meant
			}
			return p.origin(f, x.Lhs[i], into)
		case *ast.ValueSpec:
			i := slices.IndexFunc(x.Values, func(r ast.Expr) bool { return r == n })
			if i < 0 || len(x.Names) != len(x.Values) {
				return symbols.Unclear
			}
			return p.origin(f, x.Names[i], into)
		case *ast.CallExpr:
			i := slices.IndexFunc(x.Args, func(a ast.Expr) bool { return a == n })
			if i < 0 {
				return symbols.Unclear
			}
			if id, ok := ast.Unparen(x.Fun).(*ast.Ident); ok && id.Name == "append" && i > 0 {
				break // goes where the list goes
			}
			return p.ofArgument(f, x, i)
		case *ast.ReturnStmt:
			return p.ofResult(f, x, n)
		default:
			return symbols.Unclear
		}
		n = parent
	}
}

// ofVariable follows a variable to what it is set to, a parameter also to what
// the callers hand over, and to where it is put. Places on the same side that
// disagree make it unclear.
func (p *program) ofVariable(f *function, v *types.Var, s side) symbols.Context {
	if v == nil {
		return symbols.Unclear
	}
	key := variable{v, s}
	if c, ok := p.ofVar[key]; ok {
		return c // or unclear while it is being found out
	}
	p.ofVar[key] = symbols.Unclear
	steps := []func() symbols.Context{
		func() symbols.Context { return p.setTo(f, v) },
		func() symbols.Context { return p.usedAs(f, v) },
	}
	if s == into {
		steps[0], steps[1] = steps[1], steps[0]
	}
	c := steps[0]()
	if c == symbols.Unclear {
		c = steps[1]()
	}
	p.ofVar[key] = c
	return c
}

// variable is a variable seen from one side.
type variable struct {
	*types.Var
	side
}

// setTo tells from which object the value of a variable comes.
func (p *program) setTo(f *function, v *types.Var) symbols.Context {
	var all []symbols.Context
	for _, rhs := range f.defs[v] {
		if !isLiteral(rhs) {
			all = append(all, p.origin(f, rhs, from))
		}
	}
	if n := parameter(f, v); n >= 0 {
		all = append(all, handlerParameter(f, n))
		for _, site := range p.calls[f.obj] {
			if n < len(site.expr.Args) {
				all = append(all, p.origin(site.in, site.expr.Args[n], from))
			}
		}
	}
	return agreed(all)
}

// isLiteral tells whether an expression is a composite literal or points to one.
func isLiteral(e ast.Expr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	_, ok := e.(*ast.CompositeLit)
	return ok
}

// usedAs tells into which object a variable is put.
func (p *program) usedAs(f *function, v *types.Var) symbols.Context {
	var all []symbols.Context
	for _, id := range f.mentions[v] {
		if assign, ok := f.parents[id].(*ast.AssignStmt); ok && slices.Contains(assign.Lhs, ast.Expr(id)) {
			continue
		}
		all = append(all, p.destination(f, id))
	}
	return agreed(all)
}

// ofArgument tells into which object an argument is put by the called function.
func (p *program) ofArgument(f *function, c *ast.CallExpr, i int) symbols.Context {
	fn := callee(f.pkg.TypesInfo, c)
	if fn == nil {
		return symbols.Unclear
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if c := contextOfType(p.apiType(recv.Type())); c != symbols.Unclear {
			return c
		}
	}
	g := p.funcs[fn]
	if g == nil || i >= fn.Signature().Params().Len() {
		return symbols.Unclear
	}
	v := fn.Signature().Params().At(i)
	if _, busy := p.ofParam[v]; !busy {
		p.ofParam[v] = symbols.Unclear
		p.ofParam[v] = p.usedAs(g, v)
	}
	return p.ofParam[v]
}

// ofResult tells into which object the callers put what is returned.
func (p *program) ofResult(f *function, r *ast.ReturnStmt, value ast.Node) symbols.Context {
	if f.obj == nil || len(r.Results) == 0 || ast.Node(r.Results[0]) != value || p.inClosure(f, r) {
		return symbols.Unclear
	}
	if c, ok := p.ofReturn[f]; ok {
		return c
	}
	p.ofReturn[f] = symbols.Unclear
	var all []symbols.Context
	for _, site := range p.calls[f.obj] {
		all = append(all, p.destination(site.in, site.expr))
	}
	p.ofReturn[f] = agreed(all)
	return p.ofReturn[f]
}

// inClosure tells whether a node belongs to a function inside of f.
func (p *program) inClosure(f *function, n ast.Node) bool {
	for n != nil && n != f.node {
		if _, ok := n.(*ast.FuncLit); ok {
			return true
		}
		n = f.parents[n]
	}
	return false
}

// agreed returns the one context that is known, unclear if there are several.
func agreed(all []symbols.Context) symbols.Context {
	found := symbols.Unclear
	for _, c := range all {
		if c == symbols.Unclear || c == found {
			continue
		}
		if found != symbols.Unclear {
			return symbols.Unclear
		}
		found = c
	}
	return found
}

// parameter returns the index of a parameter, -1 for another variable.
func parameter(f *function, v *types.Var) int {
	if f.obj == nil {
		return -1
	}
	params := f.obj.Signature().Params()
	for i := range params.Len() {
		if params.At(i) == v {
			return i
		}
	}
	return -1
}

// handlerParameter knows the resources that the stub hands to two handlers.
func handlerParameter(f *function, n int) symbols.Context {
	if f.obj.Signature().Recv() == nil {
		return symbols.Unclear
	}
	switch {
	case f.obj.Name() == "UpdateContainer" && n == 3:
		return symbols.OfUpdateRequest
	case f.obj.Name() == "UpdatePodSandbox" && (n == 2 || n == 3):
		return symbols.OfPodUpdate
	}
	return symbols.Unclear
}
