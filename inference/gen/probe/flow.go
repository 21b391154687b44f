package probe

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// flow follows what came in through some parameters of a function: through
// fields, getters, local variables, loops and calls of functions whose bodies
// are known. It knows which fields of it are read. That a function reads a
// field of some other value of the same type does not count.
type flow struct {
	reads []use
	by    []*fn // the function of each read
	// handlers are the functions that are handed a field, by the field.
	handlers map[string][]*fn
	others   []*code
	seen     map[flowKey]bool
	// escapes are places where what came in goes where it is not followed:
	// into a field, or to a function that is a value.
	escapes []string
}

type flowKey struct {
	f     *fn
	param types.Object
}

// follow starts at the given parameters of f; -1 is its receiver.
func follow(f *fn, params []int, others ...*code) *flow {
	w := &flow{handlers: map[string][]*fn{}, others: others, seen: map[flowKey]bool{}}
	if f != nil {
		for _, n := range params {
			w.into(f, n)
		}
	}
	return w
}

// read returns where a field is read.
func (w *flow) read(field string) (use, *fn, bool) {
	for i, u := range w.reads {
		if u.field == field {
			return u, w.by[i], true
		}
	}
	return use{}, nil, false
}

// verdict is yes with the place if the field is read.
func (w *flow) verdict(from *fn, field string) Verdict {
	if from == nil {
		return unknown("the function that handles %s is not where it used to be", field)
	}
	if u, f, ok := w.read(field); ok {
		return yes(f.name, f.code.where(u.node))
	}
	if len(w.escapes) > 0 {
		return unknown("what %s gets is not followed from %s on", from.name, w.escapes[0])
	}
	message, _, _ := strings.Cut(field, ".")
	for _, f := range from.reach(w.others...) {
		if slices.Contains(f.unresolved, message) {
			return unknown("%s uses something of %s that was not found", f.name, message)
		}
	}
	return from.code.absent(from.name, from.decl)
}

// param returns the n-th parameter as the body sees it, nil if it has no name.
func (f *fn) param(n int) types.Object {
	fields := f.decl.Type.Params.List
	if n < 0 {
		if f.decl.Recv == nil {
			return nil
		}
		fields, n = f.decl.Recv.List, 0
	}
	for _, field := range fields {
		for _, name := range field.Names {
			if n == 0 {
				return f.code.Info.Defs[name]
			}
			n--
		}
		if len(field.Names) == 0 {
			n--
		}
	}
	return nil
}

func (w *flow) into(f *fn, param int) {
	obj := f.param(param)
	if obj == nil || w.seen[flowKey{f, obj}] {
		return
	}
	w.seen[flowKey{f, obj}] = true
	t := &taint{info: f.code.Info, objects: map[types.Object]bool{obj: true}}
	t.spread(f.decl.Body)
	for _, u := range f.uses {
		if s, ok := u.node.(*ast.SelectorExpr); ok && !u.write && t.of(s.X) {
			w.reads = append(w.reads, u)
			w.by = append(w.by, f)
		}
	}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			w.call(f, t, n)
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if _, field := l.(*ast.SelectorExpr); field && len(n.Lhs) == len(n.Rhs) && t.whole(n.Rhs[i]) {
					w.escapes = append(w.escapes, f.code.where(n))
				}
			}
		}
		return true
	})
}

// whole tells whether an expression is one of the messages that everything
// else is a part of, as it came in.
func (t *taint) whole(e ast.Expr) bool {
	switch namedOf(t.info.TypeOf(e)) {
	case "ContainerAdjustment", "LinuxContainerAdjustment", "ContainerUpdate", "LinuxResources":
		return t.of(e)
	}
	return false
}

// call follows into a function that is handed something.
func (w *flow) call(f *fn, t *taint, call *ast.CallExpr) {
	callee := w.callee(f, call)
	if callee == nil {
		if isValue(f.code.Info, call.Fun) && slices.ContainsFunc(call.Args, t.whole) {
			w.escapes = append(w.escapes, f.code.where(call))
		}
		return
	}
	if s, ok := call.Fun.(*ast.SelectorExpr); ok && t.of(s.X) {
		w.into(callee, -1)
	}
	for i, arg := range call.Args {
		if !t.of(arg) {
			continue
		}
		if s, ok := lastField(arg); ok {
			if field := fieldOf(f.code.Info, s); field != "" {
				w.handlers[field] = append(w.handlers[field], callee)
			}
		}
		w.into(callee, i)
	}
}

// callee returns the function that is called, if its body is known.
func (w *flow) callee(f *fn, call *ast.CallExpr) *fn {
	var id *ast.Ident
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return nil
	}
	obj, ok := f.code.Info.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	if g := f.code.funcs[obj]; g != nil {
		return g
	}
	for _, o := range w.others {
		if o != nil && o.funcs[obj] != nil {
			return o.funcs[obj]
		}
	}
	return nil
}

// isValue tells whether what is called is a variable or a field, so that it is
// not known here which function it is.
func isValue(info *types.Info, fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		_, ok := info.Uses[fun].(*types.Var)
		return ok
	case *ast.SelectorExpr:
		_, ok := info.Uses[fun.Sel].(*types.Var)
		return ok
	}
	return false
}

// lastField returns the selector that an argument is, itself or as a getter.
func lastField(e ast.Expr) (*ast.SelectorExpr, bool) {
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun
	}
	s, ok := e.(*ast.SelectorExpr)
	return s, ok
}

// taint is the set of variables of a function that hold something of what came in.
type taint struct {
	info    *types.Info
	objects map[types.Object]bool
}

// spread adds variables until there are no more.
func (t *taint) spread(body ast.Node) {
	for grown := true; grown; {
		before := len(t.objects)
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					r := n.Rhs[0]
					if len(n.Rhs) == len(n.Lhs) {
						r = n.Rhs[i]
					}
					if t.of(r) {
						t.add(l)
					}
				}
			case *ast.RangeStmt:
				if t.of(n.X) {
					t.add(n.Key)
					t.add(n.Value)
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && t.of(n.Values[i]) {
						t.add(name)
					}
				}
			}
			return true
		})
		grown = len(t.objects) > before
	}
}

// add adds the variable that an assignment fills, whole or in part. A field of
// another message is not a variable of this function.
func (t *taint) add(l ast.Expr) {
	if ix, ok := l.(*ast.IndexExpr); ok {
		l = ix.X
	}
	id, ok := l.(*ast.Ident)
	if !ok {
		return
	}
	obj := t.info.Defs[id]
	if obj == nil {
		obj = t.info.Uses[id]
	}
	if v, ok := obj.(*types.Var); ok && !v.IsField() {
		t.objects[obj] = true
	}
}

// of tells whether an expression is part of what came in.
func (t *taint) of(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		obj := t.info.Uses[e]
		if obj == nil {
			obj = t.info.Defs[e]
		}
		return obj != nil && t.objects[obj]
	case *ast.SelectorExpr:
		return t.of(e.X)
	case *ast.IndexExpr:
		return t.of(e.X)
	case *ast.SliceExpr:
		return t.of(e.X)
	case *ast.ParenExpr:
		return t.of(e.X)
	case *ast.StarExpr:
		return t.of(e.X)
	case *ast.TypeAssertExpr:
		return t.of(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.AND && t.of(e.X)
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok {
			return t.of(s.X) // a getter or a copy
		}
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "append" {
			for _, a := range e.Args {
				if t.of(a) {
					return true
				}
			}
		}
	}
	return false
}
