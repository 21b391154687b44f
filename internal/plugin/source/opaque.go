package source

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// opaqueArguments notes whole objects that are handed to something that takes
// any value, such as a logger or an encoder.
func (w *walker) opaqueArguments(c *ast.CallExpr, fn *types.Func) {
	sig := signatureOf(w.info, c)
	if sig == nil {
		return
	}
	for i, arg := range c.Args {
		name := w.wholeObject(w.info.TypeOf(arg))
		if name == "" || !types.IsInterface(parameterType(sig, i, c.Ellipsis.IsValid())) {
			continue
		}
		to := types.ExprString(c.Fun)
		if fn != nil && fn.Pkg() != nil {
			to = fn.Pkg().Name() + "." + methodName(fn)
		}
		w.f.opaque = append(w.f.opaque, fmt.Sprintf("%s hands a whole %s to %s at %s", w.f.name, name, to, w.shown(w.f, arg.Pos())))
	}
}

// parameterType returns the type of the i-th argument's parameter.
func parameterType(sig *types.Signature, i int, spread bool) types.Type {
	params := sig.Params()
	if params.Len() == 0 {
		return types.Typ[types.Invalid]
	}
	if sig.Variadic() && i >= params.Len()-1 && !spread {
		if s, ok := params.At(params.Len() - 1).Type().Underlying().(*types.Slice); ok {
			return s.Elem()
		}
	}
	return params.At(min(i, params.Len()-1)).Type()
}

// wholeObject returns the name of the message type with data of the runtime that
// a value is made of, empty if it is of none. What the plugin makes itself, such
// as an adjustment, tells nothing when it is printed.
func (w *walker) wholeObject(t types.Type) string {
	if t == nil {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return w.wholeObject(u.Elem())
	case *types.Map:
		return w.wholeObject(u.Elem())
	}
	name := w.apiType(t)
	switch name {
	case "Container", "LinuxContainer", "PodSandbox", "LinuxPodSandbox", "LinuxResources", "LinuxCPU", "LinuxMemory":
		return name
	}
	if strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Event") {
		return name
	}
	return ""
}

// copied notes a whole object that is copied by value.
func (w *walker) copied(n *ast.StarExpr) {
	tv, ok := w.info.Types[n]
	if !ok || !tv.IsValue() || w.writes[n] {
		return
	}
	if name := w.wholeObject(tv.Type); name != "" {
		w.f.opaque = append(w.f.opaque, fmt.Sprintf("%s copies a whole %s at %s", w.f.name, name, w.shown(w.f, n.Pos())))
	}
}

// passedOn notes a whole object of the runtime that is assigned to a part of an
// adjustment or update.
func (w *walker) passedOn(lhs, rhs ast.Expr) {
	if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && w.info.Selections[sel] != nil {
		w.passedOnTo(w.origin(w.f, sel.X, into), rhs)
	}
}

func (w *walker) passedOnTo(to symbols.Context, value ast.Expr) {
	if to != symbols.OfAdjustment && to != symbols.OfUpdate {
		return
	}
	name := w.wholeObject(w.info.TypeOf(value))
	if name == "" {
		return
	}
	switch w.origin(w.f, value, from) {
	case symbols.OfContainer, symbols.OfPod, symbols.OfUpdateRequest, symbols.OfPodUpdate:
		w.f.opaque = append(w.f.opaque, fmt.Sprintf("%s passes on a whole %s at %s", w.f.name, name, w.shown(w.f, value.Pos())))
	}
}
