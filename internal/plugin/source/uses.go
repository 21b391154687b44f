package source

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// facts are what one function shows.
type facts struct {
	uses []symbols.Use
	// removals are markers written directly: "-NAME" in place of a name.
	removals []capability.Requirement
	// unsolicited are calls of the stub's UpdateContainers, and where.
	unsolicited []placed
	// declared are capabilities given to WithRequiredRuntimeCapabilities.
	declared []capability.Requirement
	// updates tells that a ContainerUpdate is made.
	updates bool
	// given are the expressions handed to the stub or registered as a service.
	given []given
	// subscribed are the event constants that are named, and where.
	subscribed []event
	opaque     []string
	gaps       []string
}

// placed is evidence; apart tells that it is in a goroutine of its own.
type placed struct {
	capability.Evidence
	apart bool
}

// walker visits the nodes of one function.
type walker struct {
	*program
	f      *function
	info   *types.Info
	writes map[ast.Expr]bool // selectors that are written
	both   map[ast.Expr]bool // selectors that are read as well
	apart  int
}

// collect fills in the facts of a function.
func (p *program) collect(f *function) {
	w := &walker{program: p, f: f, info: f.pkg.TypesInfo, writes: map[ast.Expr]bool{}, both: map[ast.Expr]bool{}}
	ast.Inspect(f.node, w.visit)
}

func (w *walker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		w.apart++
		ast.Inspect(n.Call, w.visit)
		w.apart--
		return false
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			w.write(lhs, n.Tok != token.ASSIGN)
			if len(n.Lhs) == len(n.Rhs) {
				w.intoMap(lhs, n.Rhs[i])
				w.passedOn(lhs, n.Rhs[i])
			}
		}
	case *ast.IncDecStmt:
		w.write(n.X, true)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			w.write(n.X, true)
		}
	case *ast.RangeStmt:
		w.write(n.Key, false)
		w.write(n.Value, false)
	case *ast.CompositeLit:
		w.compositeLiteral(n)
	case *ast.CallExpr:
		w.call(n)
	case *ast.StarExpr:
		w.copied(n)
	case *ast.SelectorExpr:
		w.selector(n)
	case *ast.Ident:
		w.ident(n)
	}
	return true
}

// write marks the field at the end of an expression as written.
func (w *walker) write(e ast.Expr, alsoRead bool) {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			w.writes[x] = true
			w.both[x] = w.both[x] || alsoRead
			return
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return
		}
	}
}

// selector handles a field or method.
func (w *walker) selector(n *ast.SelectorExpr) {
	sel := w.info.Selections[n]
	if sel == nil {
		w.qualified(n)
		return
	}
	switch obj := sel.Obj().(type) {
	case *types.Func:
		w.method(n, sel, obj)
	case *types.Var:
		owner := w.owner(sel)
		s, ok := symbols.LookupField(owner, obj.Name())
		if owner == "" || !ok {
			return
		}
		if !w.writes[n] || w.both[n] {
			w.use(s, symbols.Read, n.X, n.Sel.Pos())
		}
		if w.writes[n] {
			w.use(s, symbols.Write, n.X, n.Sel.Pos())
		}
	}
}

// method handles a method of the API or the stub; it is used by being named.
func (w *walker) method(n *ast.SelectorExpr, sel *types.Selection, fn *types.Func) {
	recv := fn.Signature().Recv().Type()
	if t := w.apiType(recv); t != "" {
		if s, ok := symbols.LookupMethod(t, fn.Name()); ok {
			w.use(s, symbols.Call, n.X, n.Sel.Pos())
		}
		return
	}
	named := namedOf(recv)
	inStub := named != nil && named.Obj().Pkg() != nil && w.stubs[named.Obj().Pkg()]
	if !inStub && types.IsInterface(sel.Recv()) {
		w.throughInterface(n, fn)
	}
	if !inStub && !(types.IsInterface(sel.Recv()) && w.takesUpdates(fn)) {
		return
	}
	s, ok := symbols.Lookup("stub.Stub." + fn.Name())
	if !ok {
		return
	}
	w.use(s, symbols.Call, n.X, n.Sel.Pos())
	if fn.Name() == "UpdateContainers" {
		w.f.unsolicited = append(w.f.unsolicited, placed{w.evidence(w.f, n.Sel.Pos()), w.apart > 0})
	}
}

// throughInterface handles a method of an interface of the plugin's own that
// messages of the API implement.
func (w *walker) throughInterface(n *ast.SelectorExpr, fn *types.Func) {
	iface := types.TypeString(fn.Signature().Recv().Type(), nil)
	for _, t := range w.messages {
		s, ok := symbols.LookupMethod(t.Obj().Name(), fn.Name())
		if ok && w.converted[conversion{t.Obj().Name(), iface}] {
			w.noteUse(s, symbols.Call, contextOfType(t.Obj().Name()), n.Sel.Pos())
		}
	}
}

// takesUpdates tells whether a method of some interface is the stub's
// UpdateContainers under another roof.
func (w *walker) takesUpdates(fn *types.Func) bool {
	params := fn.Signature().Params()
	if fn.Name() != "UpdateContainers" || params.Len() != 1 {
		return false
	}
	slice, ok := params.At(0).Type().Underlying().(*types.Slice)
	return ok && w.apiType(slice.Elem()) == "ContainerUpdate"
}

// qualified handles a function of another package.
func (w *walker) qualified(n *ast.SelectorExpr) {
	obj := w.info.Uses[n.Sel]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	prefix := ""
	switch {
	case w.api[obj.Pkg()]:
		prefix = "api."
	case w.stubs[obj.Pkg()]:
		prefix = "stub."
	default:
		return
	}
	if s, ok := symbols.Lookup(prefix + obj.Name()); ok && s.Kind == symbols.Func {
		w.use(s, symbols.Call, nil, n.Sel.Pos())
	}
}

// ident handles the name of a constant of the API.
func (w *walker) ident(n *ast.Ident) {
	if c, ok := w.info.Uses[n].(*types.Const); ok && c.Pkg() != nil && w.api[c.Pkg()] {
		w.subscribe(c, n.Pos())
	}
}

// use notes one use of a symbol on an object.
func (w *walker) use(s symbols.Symbol, how symbols.How, on ast.Expr, at token.Pos) {
	c := symbols.Unclear
	if on != nil {
		c = w.origin(w.f, on, how == symbols.Write)
	}
	w.noteUse(s, how, c, at)
}

func (w *walker) noteUse(s symbols.Symbol, how symbols.How, c symbols.Context, at token.Pos) {
	w.f.facts.uses = append(w.f.facts.uses, symbols.Use{Symbol: s, How: how, Context: c, Evidence: w.evidence(w.f, at)})
}

// owner returns the API type that declares a selected field, also where it is
// embedded.
func (w *walker) owner(sel *types.Selection) string {
	t := sel.Recv()
	index := sel.Index()
	for _, i := range index[:len(index)-1] {
		s, ok := deref(t).Underlying().(*types.Struct)
		if !ok {
			return ""
		}
		t = s.Field(i).Type()
	}
	return w.apiType(t)
}

func deref(t types.Type) types.Type {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		return ptr.Elem()
	}
	return t
}
