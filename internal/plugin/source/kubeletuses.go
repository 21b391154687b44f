package source

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// kubeletUses are the uses of the kubelet's APIs in the reachable code of one
// main package.
type kubeletUses struct {
	*program
	in      map[string]bool
	reached map[*function]bool

	reqs     []capability.Requirement
	warnings []string
	gaps     []string

	serves, registers []site // calls of Serve and of Register
	// requests tells that a RegisterRequest is made, asking that options are put
	// into one.
	requests, asking bool
	// answers are the methods GetDevicePluginOptions that the kubelet can call.
	answers []*function
	drivers []site // registrations of DRA services
	// switches are the calls of options that turn such a service on or off.
	switches []site
	nodes    bool // an allocation has device nodes or mounts too
}

// site is a place in the code of a function.
type site struct {
	in   *function
	node ast.Node
	what string
}

// written are the fields whose setting shows a capability, by message and Go
// name. The names changed with the generator of k8s.io/kubelet v0.34.
var written = map[string]capability.ID{
	"ContainerAllocateResponse.CDIDevices":                capability.DeviceCDIDevices,
	"ContainerAllocateResponse.CdiDevices":                capability.DeviceCDIDevices,
	"ContainerAllocateResponse.Annotations":               capability.DeviceContainerAnnotations,
	"Device.Topology":                                     capability.DeviceTopology,
	"DevicePluginOptions.PreStartRequired":                capability.DevicePrestartContainer,
	"DevicePluginOptions.GetPreferredAllocationAvailable": capability.DevicePreferredAllocation,
}

// called are the calls of clients and servers that show a capability, by API,
// version and name.
var called = map[string]capability.ID{
	"deviceplugin/v1beta1 Register":                   capability.DevicePluginV1beta1,
	"deviceplugin/v1beta1 RegisterDevicePluginServer": capability.DevicePluginV1beta1,
	"podresources/v1alpha1 List":                      capability.PodresV1alpha1List,
	"podresources/v1 List":                            capability.PodresV1List,
	"podresources/v1 Get":                             capability.PodresGet,
	"podresources/v1 GetAllocatableResources":         capability.PodresGetAllocatable,
	"pods/v1alpha1 ListPods":                          capability.PodsAPIV1alpha1,
	"pods/v1alpha1 GetPod":                            capability.PodsAPIV1alpha1,
	"pods/v1alpha1 WatchPods":                         capability.PodsAPIV1alpha1,
}

// handed are the variables and constants that show a capability, by API, version and
// name: a plugin may hand them to gRPC itself instead of calling what does so.
var handed = map[string]capability.ID{
	"deviceplugin/v1beta1 DevicePlugin_ServiceDesc":             capability.DevicePluginV1beta1,
	"deviceplugin/v1beta1 Registration_Register_FullMethodName": capability.DevicePluginV1beta1,
}

// read are the fields and getters of the pod resources API that show a
// capability.
var read = map[string]capability.ID{
	"ContainerResources.Memory":              capability.PodresMemory,
	"ContainerResources.GetMemory":           capability.PodresMemory,
	"ContainerResources.DynamicResources":    capability.PodresDynamicResources,
	"ContainerResources.GetDynamicResources": capability.PodresDynamicResources,
}

// look notes what one function does.
func (u *kubeletUses) look(f *function) {
	if f.obj != nil && f.obj.Name() == "GetDevicePluginOptions" && f.obj.Signature().Recv() != nil && u.wanted[f.obj] {
		u.answers = append(u.answers, f)
	}
	info := f.pkg.TypesInfo
	ast.Inspect(f.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			u.literal(f, n)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
				if !ok {
					continue
				}
				var value ast.Expr
				if len(n.Lhs) == len(n.Rhs) {
					value = n.Rhs[i]
				}
				u.set(f, message(info.TypeOf(sel.X)), sel.Sel.Name, value, n)
			}
		case *ast.SelectorExpr:
			if id, ok := read[message(info.TypeOf(n.X))+"."+n.Sel.Name]; ok {
				u.add(id, f, n, "read", message(info.TypeOf(n.X))+"."+n.Sel.Name)
			}
			u.hand(f, info.Uses[n.Sel], n)
		case *ast.CallExpr:
			u.call(f, n)
		}
		return true
	})
}

// hand notes the use of what is handed to gRPC.
func (u *kubeletUses) hand(f *function, obj types.Object, at ast.Node) {
	if obj == nil || obj.Pkg() == nil {
		return
	}
	if name, version, ok := symbols.KubeletAPI(obj.Pkg().Path()); ok {
		if id, ok := handed[name+"/"+version+" "+obj.Name()]; ok {
			u.add(id, f, at, "read", name+"/"+version+"."+obj.Name())
		}
	}
}

// message is the name of the message of the kubelet's APIs that a type is or
// points to, empty for any other type.
func message(t types.Type) string {
	n := namedOf(t)
	if n == nil || n.Obj().Pkg() == nil {
		return ""
	}
	if _, _, ok := symbols.KubeletAPI(n.Obj().Pkg().Path()); !ok {
		return ""
	}
	return n.Obj().Name()
}

func (u *kubeletUses) literal(f *function, lit *ast.CompositeLit) {
	name := message(f.pkg.TypesInfo.TypeOf(lit))
	if name == "" {
		return
	}
	if name == "RegisterRequest" {
		u.requests = true
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok {
			u.set(f, name, key.Name, kv.Value, kv)
		}
	}
}

// set notes that a field of a message is set. A value that is plainly nothing
// shows nothing.
func (u *kubeletUses) set(f *function, message, field string, value ast.Expr, at ast.Node) {
	if message == "" || value != nil && nothing(f.pkg.TypesInfo, value) {
		return
	}
	switch message + "." + field {
	case "RegisterRequest.Options":
		u.asking = true
	case "ContainerAllocateResponse.Devices", "ContainerAllocateResponse.Mounts":
		u.nodes = true
	}
	if id, ok := written[message+"."+field]; ok {
		u.add(id, f, at, "write", message+"."+field)
	}
}

// nothing tells whether an expression is nil, false, or an empty literal.
func nothing(info *types.Info, e ast.Expr) bool {
	e = ast.Unparen(e)
	if isNil(info, e) {
		return true
	}
	if v := info.Types[e].Value; v != nil {
		return v.Kind() == constant.Bool && !constant.BoolVal(v)
	}
	if ref, ok := e.(*ast.UnaryExpr); ok {
		e = ref.X
	}
	lit, ok := e.(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

// call notes what a call of an API shows.
func (u *kubeletUses) call(f *function, c *ast.CallExpr) {
	fn := callee(f.pkg.TypesInfo, c)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	if fn.Pkg().Path() == "google.golang.org/grpc" && fn.Name() == "Serve" {
		u.serves = append(u.serves, site{f, c, "Serve"})
		return
	}
	if symbols.DeviceFramework(fn.Pkg().Path()) {
		u.framework(f, c, fn)
		return
	}
	if services, ok := switched[fn.Name()]; ok && symbols.DRALibrary(fn.Pkg().Path()) {
		for _, service := range services {
			u.switches = append(u.switches, site{f, c, service})
		}
		return
	}
	name, version, ok := symbols.KubeletAPI(fn.Pkg().Path())
	if !ok {
		return
	}
	if id, ok := called[name+"/"+version+" "+fn.Name()]; ok {
		u.add(id, f, c, "call", name+"/"+version+"."+fn.Name())
	}
	switch {
	case name == "deviceplugin" && fn.Name() == "Register":
		u.registers = append(u.registers, site{f, c, fn.Name()})
	case strings.HasPrefix(name, "dra") && strings.HasPrefix(fn.Name(), "Register") && strings.HasSuffix(fn.Name(), "Server"):
		u.drivers = append(u.drivers, site{f, c, name + "/" + version})
	}
}

func (u *kubeletUses) add(id capability.ID, f *function, at ast.Node, kind, symbol string) {
	ev := u.evidence(f, at.Pos())
	ev.Kind, ev.Symbol = kind, symbol
	u.reqs = append(u.reqs, capability.Requirement{Capability: id, Source: capability.FromSource, Evidence: []capability.Evidence{ev}})
}

// requirements are the needs. CDI devices are only wanted by a plugin that
// returns device nodes or mounts as well.
func (u *kubeletUses) requirements() []capability.Requirement {
	reqs := slices.Clone(u.reqs)
	// What makes a RegisterRequest registers, however it sends it.
	plugin := u.requests || slices.ContainsFunc(reqs, func(r capability.Requirement) bool { return r.Capability == capability.DevicePluginV1beta1 })
	set := map[capability.ID]bool{}
	for _, id := range written {
		set[id] = true
	}
	for i := range reqs {
		if reqs[i].Capability == capability.DeviceCDIDevices && u.nodes {
			reqs[i].Level, reqs[i].Note = capability.Wants, "allocations have device nodes or mounts as well"
		}
		if set[reqs[i].Capability] && !plugin {
			// It fills in messages of the API, for itself: no kubelet gets them.
			reqs[i].Level, reqs[i].Note = capability.Wants, "nothing was found in it that serves the device plugin API"
		}
	}
	return capability.Normalize(reqs)
}
