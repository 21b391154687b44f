package source

import (
	"go/ast"
	"go/types"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// compositeLiteral handles the making of a value and the fields it is given.
func (w *walker) compositeLiteral(n *ast.CompositeLit) {
	name := w.apiType(w.info.TypeOf(n))
	if name == "" {
		return
	}
	c := contextOfType(name)
	if c == symbols.Unclear {
		c = w.destination(w.f, n)
	}
	if name == "ContainerUpdate" {
		w.f.updates = true
	}
	if s, ok := symbols.LookupType(name); ok {
		w.noteUse(s, symbols.Construct, c, n.Pos())
	}
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		id, ok := kv.Key.(*ast.Ident)
		if !ok {
			continue
		}
		if s, ok := symbols.LookupField(name, id.Name); ok && !isNil(w.info, kv.Value) {
			w.noteUse(s, symbols.Write, c, kv.Pos())
		}
		w.passedOnTo(c, kv.Value)
		w.intoField(name, id.Name, kv.Value)
		w.mapLiteral(name, id.Name, kv.Value)
	}
}

// made handles new(T).
func (w *walker) made(c *ast.CallExpr) {
	name := w.apiType(w.info.TypeOf(c))
	if name == "ContainerUpdate" {
		w.f.updates = true
	}
	if s, ok := symbols.LookupType(name); ok {
		context := contextOfType(name)
		if context == symbols.Unclear {
			context = w.destination(w.f, c)
		}
		w.noteUse(s, symbols.Construct, context, c.Pos())
	}
}

func isNil(info *types.Info, e ast.Expr) bool {
	tv, ok := info.Types[ast.Unparen(e)]
	return ok && tv.IsNil()
}
