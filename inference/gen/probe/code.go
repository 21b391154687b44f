package probe

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// code is a package with what its functions use. The uses are resolved by the
// compiler's own rules, so that a field is known by the message it belongs to,
// through aliases, getters and local variables.
type code struct {
	*source.Package
	funcs  map[*types.Func]*fn
	byName map[string]*fn // "name" or "Receiver.name"
}

// fn is a function with a body.
type fn struct {
	code  *code
	decl  *ast.FuncDecl
	name  string // "name" or "Receiver.name"
	uses  []use
	calls []*types.Func
	// unresolved are the messages of which something is used that their type,
	// as far as it was read, does not have.
	unresolved []string
}

// use is a field of a message that is read or written.
type use struct {
	field string // "LinuxMemory.Limit"
	write bool
	node  ast.Node
}

func newCode(p *source.Package) *code {
	c := &code{Package: p, funcs: map[*types.Func]*fn{}, byName: map[string]*fn{}}
	for _, file := range p.Files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			f := &fn{code: c, decl: decl, name: funcName(decl)}
			f.collect()
			c.byName[f.name] = f
			if obj, ok := p.Info.Defs[decl.Name].(*types.Func); ok {
				c.funcs[obj] = f
			}
		}
	}
	return c
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	return typeName(d.Recv.List[0].Type) + "." + d.Name.Name
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// where returns the place of a node as evidence.
func (c *code) where(n ast.Node) string { return c.Line(n.Pos()) }

func (f *fn) where() string { return f.code.where(f.decl) }

// method finds a function by its name, such as "result.adjust".
func (c *code) method(name string) *fn {
	if c == nil {
		return nil
	}
	return c.byName[name]
}

// methods returns the methods of a type, by name.
func (c *code) methods(typ string) []*fn {
	var out []*fn
	for name, f := range c.byName {
		if strings.HasPrefix(name, typ+".") {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *fn) int { return strings.Compare(a.name, b.name) })
	return out
}

// collect finds the uses and calls in the body.
func (f *fn) collect() {
	info := f.code.Info
	written := map[ast.Expr]bool{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if ix, ok := l.(*ast.IndexExpr); ok {
					l = ix.X
				}
				written[l] = true
			}
		case *ast.SelectorExpr:
			if field := fieldOf(info, n); field != "" {
				f.uses = append(f.uses, use{field, written[n], n})
			} else if message := namedOf(info.TypeOf(n.X)); message != "" && info.Selections[n] == nil {
				f.unresolved = append(f.unresolved, message)
			}
		case *ast.CompositeLit:
			message := namedOf(info.TypeOf(n))
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && message != "" {
					if key, ok := kv.Key.(*ast.Ident); ok {
						f.uses = append(f.uses, use{message + "." + key.Name, true, kv})
					}
				}
			}
		case *ast.Ident:
			if fun, ok := info.Uses[n].(*types.Func); ok {
				f.calls = append(f.calls, fun)
			}
		}
		return true
	})
}

// fieldOf returns the field that a selector reads, itself or by its getter.
func fieldOf(info *types.Info, s *ast.SelectorExpr) string {
	sel := info.Selections[s]
	if sel == nil {
		return ""
	}
	owner := namedOf(sel.Recv())
	if owner == "" {
		return ""
	}
	if sel.Kind() == types.FieldVal {
		return owner + "." + s.Sel.Name
	}
	if name, ok := strings.CutPrefix(s.Sel.Name, "Get"); ok && name != "" {
		return owner + "." + name
	}
	return ""
}

// namedOf returns the name of a named type, or of what a pointer points to.
func namedOf(t types.Type) string {
	if t == nil {
		return ""
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// reach returns the functions of the package that can be reached from f, f
// first. Functions of the given other packages are followed too.
func (f *fn) reach(others ...*code) []*fn {
	if f == nil {
		return nil
	}
	seen := map[*fn]bool{f: true}
	queue := []*fn{f}
	for i := 0; i < len(queue); i++ {
		for _, call := range queue[i].calls {
			next := queue[i].code.funcs[call]
			for _, o := range others {
				if next == nil && o != nil {
					next = o.funcs[call]
				}
			}
			if next != nil && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return queue
}

// find returns the first use of a field in some functions.
func find(fns []*fn, field string, write bool) (use, *fn, bool) {
	for _, f := range fns {
		for _, u := range f.uses {
			if u.field == field && u.write == write {
				return u, f, true
			}
		}
	}
	return use{}, nil, false
}

// hasField tells whether a struct type of the package has a field, or a getter
// for it.
func (c *code) hasField(message, field string) (ast.Node, bool) {
	obj, ok := c.Types.Scope().Lookup(message).(*types.TypeName)
	if !ok {
		return nil, false
	}
	st, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return nil, false
	}
	for v := range st.Fields() {
		if v.Name() == field {
			return posNode(v.Pos()), true
		}
	}
	if named, ok := obj.Type().(*types.Named); ok {
		for m := range named.Methods() {
			if m.Name() == "Get"+field {
				return posNode(m.Pos()), true
			}
		}
	}
	return nil, false
}

// posNode is a node that is nothing but its position.
type posNode token.Pos

func (p posNode) Pos() token.Pos { return token.Pos(p) }
func (p posNode) End() token.Pos { return token.Pos(p) }

// absent is the answer no if the package is complete, otherwise unknown: what
// was not found may be in a file that could not be read.
func (c *code) absent(in string, at ...ast.Node) Verdict {
	if len(c.Unread) > 0 {
		return unknown("%s could not be read", strings.Join(c.Unread, ", "))
	}
	v := no(in)
	for _, n := range at {
		v.Files = append(v.Files, c.where(n))
	}
	return v
}

func sortFuncs(fns []*fn) {
	slices.SortFunc(fns, func(a, b *fn) int { return strings.Compare(a.name, b.name) })
}
