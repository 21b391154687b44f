package source

import (
	"go/ast"
	"go/types"
)

// conversion is that a message of the API is put into an interface, whose
// methods are then those of the message.
type conversion struct{ message, iface string }

func (p *program) convert(value, to types.Type) {
	if value == nil || to == nil || !types.IsInterface(to) {
		return
	}
	iface, ok := to.Underlying().(*types.Interface)
	if name := p.apiType(value); ok && name != "" && iface.NumMethods() > 0 {
		p.converted[conversion{name, types.TypeString(to, nil)}] = true
	}
}

// convertArguments handles calls and explicit conversions.
func (p *program) convertArguments(info *types.Info, c *ast.CallExpr) {
	if tv := info.Types[c.Fun]; tv.IsType() {
		if len(c.Args) == 1 {
			p.convert(info.TypeOf(c.Args[0]), tv.Type)
		}
		return
	}
	sig := signatureOf(info, c)
	if sig == nil {
		return
	}
	for i, arg := range c.Args {
		p.convert(info.TypeOf(arg), parameterType(sig, i, c.Ellipsis.IsValid()))
	}
}

// convertFields handles the elements of composite literals.
func (p *program) convertFields(info *types.Info, lit *ast.CompositeLit) {
	t := info.TypeOf(lit)
	if t == nil {
		return
	}
	for i, e := range lit.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			e = kv.Value
		}
		switch u := deref(t).Underlying().(type) {
		case *types.Slice:
			p.convert(info.TypeOf(e), u.Elem())
		case *types.Array:
			p.convert(info.TypeOf(e), u.Elem())
		case *types.Map:
			p.convert(info.TypeOf(e), u.Elem())
		case *types.Struct:
			if !keyed {
				p.convert(info.TypeOf(e), u.Field(min(i, u.NumFields()-1)).Type())
			} else if id, ok := kv.Key.(*ast.Ident); ok {
				p.convert(info.TypeOf(e), info.TypeOf(id))
			}
		}
	}
}

// convertResults handles what a function returns, not what a closure does.
func (p *program) convertResults(f *function, r *ast.ReturnStmt) {
	if f.obj == nil || p.inClosure(f, r) {
		return
	}
	results := f.obj.Signature().Results()
	for i, e := range r.Results {
		if i < results.Len() {
			p.convert(f.pkg.TypesInfo.TypeOf(e), results.At(i).Type())
		}
	}
}

// signatureOf returns the signature of what is called; nil for a conversion and
// for some builtin functions.
func signatureOf(info *types.Info, c *ast.CallExpr) *types.Signature {
	t := info.TypeOf(c.Fun)
	if t == nil || info.Types[c.Fun].IsType() {
		return nil
	}
	sig, _ := t.Underlying().(*types.Signature)
	return sig
}
