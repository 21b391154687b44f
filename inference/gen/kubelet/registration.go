package kubelet

import (
	"go/ast"
	"go/token"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

const grpcPackage = "google.golang.org/grpc"

// decideRegistration decides what a plugin must do to be registered: what
// happens while Register runs, and what only afterwards.
func (r *release) decideRegistration(out map[capability.ID]probe.Verdict) error {
	out[capability.DeviceGRPCAuthorityLocalhost] = r.authority()
	decided := []capability.ID{
		capability.DeviceRegisterBeforeServe, capability.DeviceWithoutGetOptions,
		capability.DeviceGetOptions, capability.DeviceRegisterOptions,
	}
	register, v, ok := r.register()
	if !ok {
		for _, id := range decided {
			out[id] = v
		}
		return nil
	}
	during := r.devices.reach(register, false)
	sometime := r.devices.reach(register, true)
	dials := callsOf(grpcPackage, "Dial", "DialContext", "NewClient")
	if at, _ := find(sometime, true, dials); at == nil {
		v := unclear("Register leads to no connection with the plugin")
		for _, id := range decided {
			out[id] = v
		}
		return nil
	}

	options := calls("GetDevicePluginOptions")
	at, in := find(sometime, true, options)
	out[capability.DeviceGetOptions] = r.seen(at, in, "Register does not lead to GetDevicePluginOptions")

	at, in = find(during, false, options)
	switch {
	case at == nil:
		out[capability.DeviceWithoutGetOptions] = yes("nothing asks for the options while Register runs")
	case !in.fails(at):
		out[capability.DeviceWithoutGetOptions] = unclear("%s may put up with a plugin that has no GetDevicePluginOptions", in.Name.Name)
	default:
		out[capability.DeviceWithoutGetOptions] = no(in.Name.Name, r.devices.line(at))
	}

	out[capability.DeviceRegisterBeforeServe] = r.beforeServe(during, at != nil)

	at, in = find(sometime, true, func(f *fn, n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || s.Sel.Name != "Options" {
			return false
		}
		id, ok := s.X.(*ast.Ident)
		return ok && id.Name == f.parameter("RegisterRequest")
	})
	out[capability.DeviceRegisterOptions] = r.seen(at, in, "nothing reads RegisterRequest.Options")
	if out[capability.DeviceRegisterOptions].State == capability.No && out[capability.DeviceGetOptions].State == capability.No {
		v := unclear("Register leads neither to RegisterRequest.Options nor to GetDevicePluginOptions")
		out[capability.DeviceRegisterOptions], out[capability.DeviceGetOptions], out[capability.DeviceWithoutGetOptions] = v, v, v
	}
	return nil
}

// register returns the method that plugins call.
func (r *release) register() ([]*fn, verdict, bool) {
	all, v, ok := r.devices.anchored("Register")
	if !ok {
		return nil, v, false
	}
	var out []*fn
	for _, f := range all {
		if f.Recv != nil && f.parameter("RegisterRequest") != "" {
			out = append(out, f)
		}
	}
	if len(out) != 1 {
		return nil, lost("the method Register"), false
	}
	return out, v, true
}

// seen is the verdict on something that was looked for.
func (r *release) seen(at ast.Node, in *fn, otherwise string) verdict {
	if at == nil {
		return no(otherwise)
	}
	return yes(in.Name.Name, r.devices.line(at))
}

// beforeServe: a plugin may register before it serves, unless the kubelet
// connects to it while it registers and waits for that.
func (r *release) beforeServe(during []*fn, calls bool) verdict {
	at, in := find(during, false, callsOf(grpcPackage, "Dial", "DialContext", "NewClient"))
	if at == nil {
		return yes("the kubelet connects to the plugin after Register")
	}
	waits, _ := find([]*fn{in}, false, callsOf(grpcPackage, "WithBlock"))
	if waits == nil && !calls {
		return unclear("%s connects while Register runs, but may not wait for it", in.Name.Name)
	}
	return no(in.Name.Name, r.devices.line(at))
}

// fails tells whether a function returns an error that a call gave it.
func (f *fn) fails(call ast.Node) bool {
	name := ""
	f.walk(false, func(n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Rhs) == 1 && a.Rhs[0] == call {
			if id, ok := a.Lhs[len(a.Lhs)-1].(*ast.Ident); ok && id.Name != "_" {
				name = id.Name
			}
		}
	})
	fails := false
	f.walk(false, func(n ast.Node) {
		i, ok := n.(*ast.IfStmt)
		if !ok || name == "" || i.Pos() < call.Pos() || !isError(i.Cond, name) {
			return
		}
		ast.Inspect(i.Body, func(n ast.Node) bool {
			if ret, ok := n.(*ast.ReturnStmt); ok {
				fails = fails || returnsError(ret)
			}
			return true
		})
	})
	return fails
}

// returnsError tells whether the last thing that is returned is not plainly nil.
func returnsError(ret *ast.ReturnStmt) bool {
	return len(ret.Results) > 0 && typeName(ret.Results[len(ret.Results)-1]) != "nil"
}

// isError reads "err != nil".
func isError(e ast.Expr, name string) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && typeName(b.X) == name && typeName(b.Y) == "nil"
}

// authority: the kubelet calls plugins with the authority "localhost", not with
// the path of the socket.
func (r *release) authority() verdict {
	if v, broken := r.devices.broken(); broken {
		return v
	}
	at, in := find(r.devices.every, true, callsOf(grpcPackage, "Dial", "DialContext", "NewClient"))
	if at == nil {
		return lost("the connection with a plugin")
	}
	call := at.(*ast.CallExpr)
	if call.Ellipsis.IsValid() {
		return unclear("the options of %s are not understood", called(call))
	}
	for _, arg := range call.Args {
		option, ok := arg.(*ast.CallExpr)
		if !ok || called(option) != "WithAuthority" || len(option.Args) != 1 {
			continue
		}
		name, ok := option.Args[0].(*ast.BasicLit)
		if !ok {
			return unclear("the authority is no literal")
		}
		return yesIf(literal(name) == "localhost", in.Name.Name, r.devices.line(option))
	}
	if called(call) == "NewClient" {
		return unclear("NewClient takes the authority from the form of the address")
	}
	return no(in.Name.Name, r.devices.line(at))
}
