package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// options finds out in which of the two ways the plugin tells its options. The
// kubelet takes them from the registration up to 1.24 and asks for them from
// 1.25 on; a plugin that only knows one way loses them in the other half.
func (u *kubeletUses) options() {
	if !u.requests {
		return
	}
	var told *capability.Requirement
	for i, r := range u.reqs {
		if r.Capability == capability.DevicePreferredAllocation || r.Capability == capability.DevicePrestartContainer {
			told = &u.reqs[i]
		}
	}
	answering := slices.ContainsFunc(u.answers, answersSomething)
	need := func(id capability.ID) {
		u.reqs = append(u.reqs, capability.Requirement{Capability: id, Source: capability.FromSource, Evidence: told.Evidence})
	}
	switch {
	case len(u.answers) == 0 && len(u.registers) > 0:
		u.add(capability.DeviceWithoutGetOptions, u.registers[0].in, u.registers[0].node, "call", "deviceplugin/v1beta1.Register")
	case told != nil && answering && !u.asking:
		need(capability.DeviceGetOptions)
		u.warnings = append(u.warnings, "RegisterRequest has no options: kubelets up to 1.24 know of none")
	case told != nil && u.asking && !answering:
		need(capability.DeviceRegisterOptions)
		u.warnings = append(u.warnings, "GetDevicePluginOptions returns no options: kubelets from 1.25 on know of none")
	}
}

// answersSomething tells whether a GetDevicePluginOptions can return options.
func answersSomething(f *function) bool {
	yes := false
	ast.Inspect(f.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			yes = yes || len(n.Results) > 0 && !nothing(f.pkg.TypesInfo, n.Results[0])
		}
		return true
	})
	return yes
}

// order finds out whether the plugin serves before it registers, as kubelets
// from 1.25 on demand: in each function that does both, by itself or by what it
// calls, the first of the two in the text comes first. A goroutine that is
// started to register before the function serves may wait until it does: then
// nothing is told.
func (u *kubeletUses) order() {
	if len(u.registers) == 0 {
		return
	}
	told := false
	for _, f := range u.program.order {
		if !u.in[f.pkg.PkgPath] || !u.reached[f] {
			continue
		}
		serve, register, apart := u.first(f)
		if serve == token.NoPos || register == token.NoPos || apart && register < serve {
			continue
		}
		told = true
		if register < serve {
			ev := u.evidence(f, register)
			ev.Kind, ev.Symbol, ev.Detail = "call", "deviceplugin/v1beta1.Register", "before Serve"
			u.reqs = append(u.reqs, capability.Requirement{
				Capability: capability.DeviceRegisterBeforeServe, Source: capability.FromSource, Evidence: []capability.Evidence{ev},
			})
		}
	}
	if !told {
		u.gaps = append(u.gaps, "whether the plugin serves before it registers, as kubelets from 1.25 on demand, could not be told")
	}
}

// first returns where a function first serves and where it first registers;
// apart tells that it registers in a goroutine.
func (u *kubeletUses) first(f *function) (serve, register token.Pos, apart bool) {
	depth := 0
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			depth++
			ast.Inspect(n.Call, walk)
			depth--
			return false
		case *ast.CallExpr:
			serves, registers := u.does(f, n)
			switch {
			case serves && !registers && serve == token.NoPos:
				serve = n.Pos()
			case registers && !serves && register == token.NoPos:
				register, apart = n.Pos(), depth > 0
			}
		}
		return true
	}
	ast.Inspect(f.node, walk)
	return serve, register, apart
}

// does tells whether a call serves or registers, directly or by what it calls.
func (u *kubeletUses) does(f *function, c *ast.CallExpr) (serves, registers bool) {
	at := func(sites []site) bool {
		return slices.ContainsFunc(sites, func(s site) bool { return s.node == c })
	}
	serves, registers = at(u.serves), at(u.registers)
	fn := callee(f.pkg.TypesInfo, c)
	if serves || registers || fn == nil {
		return serves, registers
	}
	targets := []*types.Func{fn}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		targets = u.implementations(fn, u.in)
	}
	var from []*function
	for _, t := range targets {
		if g := u.funcs[t]; g != nil && u.in[g.pkg.PkgPath] {
			from = append(from, g)
		}
	}
	below := u.reach(from, u.in, false)
	in := func(sites []site) bool {
		return slices.ContainsFunc(sites, func(s site) bool { return below[s.in] })
	}
	return in(u.serves), in(u.registers)
}

// framework finds what a plugin that is built on Intel's framework depends on.
// The framework serves before it registers, and tells the options in both ways;
// which of its optional interfaces the plugin has decides what is used.
func (u *kubeletUses) framework(f *function, c *ast.CallExpr, fn *types.Func) {
	params := fn.Signature().Params()
	switch {
	case fn.Name() == "NewManager":
		u.add(capability.DevicePluginV1beta1, f, c, "call", "deviceplugin.NewManager")
		for _, arg := range c.Args {
			for _, t := range u.concrete(f, arg, u.in, maxTrace) {
				for name, id := range map[string]capability.ID{
					"PreferredAllocator":  capability.DevicePreferredAllocation,
					"ContainerPreStarter": capability.DevicePrestartContainer,
				} {
					if optional(fn.Pkg(), name, t) {
						u.add(id, f, arg, "handler", "deviceplugin."+name)
					}
				}
			}
		}
	case strings.HasPrefix(fn.Name(), "NewDeviceInfo"):
		for i := range min(params.Len(), len(c.Args)) {
			if nothing(f.pkg.TypesInfo, c.Args[i]) {
				continue
			}
			switch name := strings.ToLower(params.At(i).Name()); {
			case name == "nodes" || name == "mounts":
				u.nodes = true
			case strings.HasPrefix(name, "cdi"):
				u.add(capability.DeviceCDIDevices, f, c.Args[i], "call", "deviceplugin."+fn.Name())
			case name == "annotations":
				u.add(capability.DeviceContainerAnnotations, f, c.Args[i], "call", "deviceplugin."+fn.Name())
			}
		}
		u.add(capability.DeviceTopology, f, c, "call", "deviceplugin."+fn.Name())
		u.reqs[len(u.reqs)-1].Level = capability.Wants // devices without a node are fine
	}
}

// optional tells whether a type has an optional interface of the framework. A
// framework that lacks the interface is older than it.
func optional(framework *types.Package, name string, t types.Type) bool {
	tn, ok := framework.Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return false
	}
	i, ok := tn.Type().Underlying().(*types.Interface)
	return ok && types.Implements(t, i)
}
