package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// Adjustments remove something by putting "-" in front of its name. The API has
// methods for it, but a plugin may write the marker itself.

// removalFields are the fields that hold such a name.
func removalFields() map[[2]string]capability.ID {
	return map[[2]string]capability.ID{
		{"KeyValue", "Key"}:        capability.AdjustEnvRemoval,
		{"Mount", "Destination"}:   capability.AdjustMountsRemoval,
		{"LinuxDevice", "Path"}:    capability.AdjustLinuxDevicesRemoval,
		{"LinuxNamespace", "Type"}: capability.AdjustLinuxNamespacesRemoval,
	}
}

// removalMaps are the fields whose keys are such names.
func removalMaps() map[[2]string]capability.ID {
	return map[[2]string]capability.ID{
		{"ContainerAdjustment", "Annotations"}:     capability.AdjustAnnotationsRemoval,
		{"LinuxContainerAdjustment", "NetDevices"}: capability.AdjustLinuxNetworkDevicesRemoval,
		{"LinuxContainerAdjustment", "Sysctl"}:     capability.AdjustLinuxSysctlRemoval,
	}
}

// removalArguments are the methods whose first argument is such a name.
func removalArguments() map[string]capability.ID {
	return map[string]capability.ID{
		"AddAnnotation":     capability.AdjustAnnotationsRemoval,
		"AddEnv":            capability.AdjustEnvRemoval,
		"AddLinuxNetDevice": capability.AdjustLinuxNetworkDevicesRemoval,
		"SetLinuxSysctl":    capability.AdjustLinuxSysctlRemoval,
	}
}

// intoField handles a value that is put into a field of an API type.
func (w *walker) intoField(owner, field string, value ast.Expr) {
	if id, ok := removalFields()[[2]string{owner, field}]; ok && w.isMarker(value, maxTrace) {
		w.removal(id, "api."+owner+"."+field, value.Pos())
	}
}

// mapLiteral handles a map that is put into a field as a literal.
func (w *walker) mapLiteral(owner, field string, value ast.Expr) {
	id, ok := removalMaps()[[2]string{owner, field}]
	lit, isLiteral := ast.Unparen(value).(*ast.CompositeLit)
	if !ok || !isLiteral {
		return
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && w.isMarker(kv.Key, maxTrace) {
			w.removal(id, "api."+owner+"."+field, kv.Pos())
		}
	}
}

// intoMap handles assignments to a field, and to a key of a field.
func (w *walker) intoMap(lhs, rhs ast.Expr) {
	switch x := ast.Unparen(lhs).(type) {
	case *ast.SelectorExpr:
		if sel := w.info.Selections[x]; sel != nil {
			if owner := w.owner(sel); owner != "" {
				w.intoField(owner, x.Sel.Name, rhs)
				w.mapLiteral(owner, x.Sel.Name, rhs)
			}
		}
	case *ast.IndexExpr:
		field, ok := ast.Unparen(x.X).(*ast.SelectorExpr)
		if !ok || w.info.Selections[field] == nil {
			return
		}
		owner := w.owner(w.info.Selections[field])
		if id, ok := removalMaps()[[2]string{owner, field.Sel.Name}]; ok && w.isMarker(x.Index, maxTrace) {
			w.removal(id, "api."+owner+"."+field.Sel.Name, x.Pos())
		}
	}
}

// markedArgument handles a call such as AddAnnotation("-name", "").
func (w *walker) markedArgument(fn *types.Func, c *ast.CallExpr) {
	id, ok := removalArguments()[fn.Name()]
	if ok && len(c.Args) > 0 && w.apiType(fn.Signature().Recv().Type()) == "ContainerAdjustment" && w.isMarker(c.Args[0], maxTrace) {
		w.removal(id, "api.(*ContainerAdjustment)."+fn.Name(), c.Pos())
	}
}

func (w *walker) removal(id capability.ID, symbol string, at token.Pos) {
	ev := w.evidence(w.f, at)
	ev.Kind, ev.Symbol, ev.Detail = string(symbols.Write), symbol, "the name starts with the marker for removal"
	w.f.removals = append(w.f.removals, capability.Requirement{
		Capability: id, Source: capability.FromSource, Evidence: []capability.Evidence{ev},
	})
}

// isMarker tells whether a string starts with "-": a constant, a constant in
// front of something else, the API's own function for it, or a variable that
// was set to one of these.
func (w *walker) isMarker(e ast.Expr, depth int) bool {
	if depth == 0 {
		return false
	}
	if tv, ok := w.info.Types[e]; ok && tv.Value != nil {
		return tv.Value.Kind() == constant.String && strings.HasPrefix(constant.StringVal(tv.Value), "-")
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return x.Op == token.ADD && w.isMarker(x.X, depth-1)
	case *ast.CallExpr:
		fn := callee(w.info, x)
		return fn != nil && fn.Name() == "MarkForRemoval" && fn.Pkg() != nil && w.api[fn.Pkg()]
	case *ast.Ident:
		for _, rhs := range w.f.defs[w.info.ObjectOf(x)] {
			if w.isMarker(rhs, depth-1) {
				return true
			}
		}
	}
	return false
}
