package probe

import (
	"go/ast"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// The conditions that rows know.
const (
	cdiEnabled      = "cri.enable_cdi=true"
	hugetlbEnabled  = "cri.disable_hugetlb_controller=false"
	blockIOPrepared = "blockio_config_file=set"
)

// generator is how the runtime calls the library's spec generator.
type generator struct {
	call    *ast.CallExpr
	in      *fn
	options map[string]ast.Expr // what is handed to "WithCDIDeviceInjector" and so on
	opaque  ast.Node            // an argument that is not understood, nil if all are
	applied bool                // whether Adjust is called on it
}

// generator finds the call of SpecGenerator with its options.
func (g *glue) generator() *generator {
	for _, f := range sortedFuncs(g.cri) {
		calls := callsOf(f.decl.Body, "SpecGenerator")
		if len(calls) == 0 {
			continue
		}
		out := &generator{call: calls[0], in: f, options: map[string]ast.Expr{}}
		for _, arg := range calls[0].Args[min(1, len(calls[0].Args)):] {
			out.take(f, arg, 0)
		}
		out.applied = len(callsOf(f.decl.Body, "Adjust")) > 0
		return out
	}
	return nil
}

func sortedFuncs(c *code) []*fn {
	var out []*fn
	for _, f := range c.byName {
		out = append(out, f)
	}
	sortFuncs(out)
	return out
}

// take adds the options in an argument: a call that makes one, a variable, or
// a slice of them.
func (o *generator) take(f *fn, arg ast.Expr, depth int) {
	switch arg := arg.(type) {
	case *ast.CallExpr:
		name := calledName(arg)
		if strings.HasPrefix(name, "With") && len(arg.Args) == 1 {
			o.options[name] = arg.Args[0]
			return
		}
		if name == "append" {
			for _, a := range arg.Args {
				o.take(f, a, depth+1)
			}
			return
		}
	case *ast.CompositeLit:
		for _, e := range arg.Elts {
			o.take(f, e, depth+1)
		}
		return
	case *ast.Ident:
		if values := valuesOf(f, arg.Name); len(values) > 0 && depth < 8 {
			for _, v := range values {
				o.take(f, v, depth+1)
			}
			return
		}
	}
	o.opaque = arg
}

// valuesOf returns what a local variable is given in a function.
func valuesOf(f *fn, name string) []ast.Expr {
	var out []ast.Expr
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != len(assign.Rhs) {
			return true
		}
		for i, l := range assign.Lhs {
			if id, ok := l.(*ast.Ident); ok && id.Name == name && !mentions(assign.Rhs[i], name) {
				out = append(out, assign.Rhs[i])
			}
		}
		return true
	})
	return out
}

// applies is yes if what plugins adjusted is applied to the spec at all.
func (o *generator) applies() Verdict {
	switch {
	case o == nil:
		return unknown("nothing in the CRI layer calls SpecGenerator")
	case !o.applied:
		return unknown("%s does not call Adjust on what SpecGenerator returned", o.in.name)
	}
	return yes("")
}

// option returns the function that is handed over with an option; the verdict
// is no if the option is not used.
func (o *generator) option(name string) (ast.Expr, Verdict) {
	if v := o.applies(); v.State != capability.Yes {
		return nil, v
	}
	if fun, ok := o.options[name]; ok {
		return fun, yes(o.in.name, o.in.code.where(fun))
	}
	if o.opaque != nil {
		return nil, unknown("an argument of SpecGenerator in %s is not understood", o.in.name)
	}
	return nil, no(o.in.name, o.in.code.where(o.call))
}

// cdi decides on the injector for CDI devices: one that fails unless a setting
// is on makes it depend on that setting.
func (o *generator) cdi() Verdict {
	fun, v := o.option("WithCDIDeviceInjector")
	if v.State != capability.Yes {
		return v
	}
	lit, ok := fun.(*ast.FuncLit)
	if !ok {
		return unknown("the CDI injector in %s is not a function literal", o.in.name)
	}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		inner, not := negated(cond.Cond)
		if not && strings.HasSuffix(selected(inner), "EnableCDI") && returnsError(cond.Body) {
			v = when(cdiEnabled, capability.CreateError, o.in.name, o.in.code.where(cond))
			return false
		}
		if mentions(cond.Cond, "EnableCDI") {
			v = unknown("the CDI injector in %s asks for EnableCDI in a way that is not understood", o.in.name)
			return false
		}
		return true
	})
	return v
}

// returnsError tells whether a block ends with returning something else than nil.
func returnsError(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	ret, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return false
	}
	id, isIdent := ret.Results[len(ret.Results)-1].(*ast.Ident)
	return !isIdent || id.Name != "nil"
}

// blockIO decides on the resolver of block I/O classes. Classes exist only in
// a configuration file; what becomes of one that is not in it depends on
// whether the resolver fails.
func (o *generator) blockIO() Verdict {
	fun, v := o.option("WithBlockIOResolver")
	if v.State != capability.Yes {
		return v
	}
	lit, ok := fun.(*ast.FuncLit)
	if !ok {
		return unknown("the block I/O resolver in %s is not a function literal", o.in.name)
	}
	lookup := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && strings.Contains(strings.ToLower(selected(call.Fun)), "blockio") {
			lookup = true
		}
		return true
	})
	if !lookup {
		return unknown("the block I/O resolver in %s does not look a class up", o.in.name)
	}
	effect := capability.Dropped
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if cond, ok := n.(*ast.IfStmt); ok && returnsError(cond.Body) {
			effect = capability.CreateError
		}
		return true
	})
	return when(blockIOPrepared, effect, o.in.name, o.in.code.where(lit))
}

// rdt decides on the resolver of RDT classes.
func (o *generator) rdt() Verdict {
	fun, v := o.option("WithRdtResolver")
	if v.State != capability.Yes {
		return v
	}
	if !mentions(fun, "ClosID") {
		return unknown("the RDT resolver in %s sets no ClosID", o.in.name)
	}
	return v
}

// hugepages decides whether the resource checker takes hugepage limits away,
// because of a setting. What it does because of the host does not count.
func (o *generator) hugepages() Verdict {
	fun, v := o.option("WithResourceChecker")
	if v.State == capability.No {
		return o.applies()
	}
	if v.State != capability.Yes {
		return v
	}
	v.Files = nil
	ast.Inspect(fun, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		for _, s := range cond.Body.List {
			assign, ok := s.(*ast.AssignStmt)
			if !ok || !strings.HasSuffix(selected(assign.Lhs[0]), ".HugepageLimits") {
				continue
			}
			at := o.in.code.where(assign)
			inner, not := negated(cond.Cond)
			name := selected(inner)
			switch {
			case strings.HasSuffix(name, ".DisableHugetlbController") && !not:
				v = when(hugetlbEnabled, capability.Dropped, o.in.name, at)
			case strings.HasPrefix(name, "node."):
				v = yes(o.in.name, at)
			default:
				v = unknown("the resource checker in %s drops hugepage limits in a case that is not understood", o.in.name)
			}
		}
		return true
	})
	return v
}

// adjusts puts together what the library and the runtime do about adjustments.
func (g *glue) adjusts() map[capability.ID]Verdict {
	o := g.generator()
	out := map[capability.ID]Verdict{}
	for _, list := range [][]adjustment{adjustments(), removals()} {
		for _, a := range list {
			out[a.id] = all(g.lib.verdict(a.id), o.applies())
		}
	}
	for id, v := range map[capability.ID]Verdict{
		capability.AdjustCDIDevices:          o.cdi(),
		capability.AdjustLinuxBlockioClass:   o.blockIO(),
		capability.AdjustLinuxRDTClass:       o.rdt(),
		capability.AdjustLinuxHugepageLimits: o.hugepages(),
	} {
		out[id] = all(out[id], v)
	}
	return out
}
