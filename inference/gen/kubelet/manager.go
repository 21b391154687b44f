package kubelet

import (
	"go/ast"

	"github.com/nri-compat/nri-compat/capability"
)

// What the device manager keeps, and how it is built in.

// checkpointsNUMA: an entry of the checkpoint has the ids of devices by NUMA
// node, not as a list.
func (r *release) checkpointsNUMA() verdict {
	if v, broken := r.devices.broken(); broken {
		return v
	}
	// The entry was declared in the device manager before the checkpoint got a
	// package.
	for _, name := range []string{"PodDevicesEntry", "podDevicesCheckpointEntry"} {
		entry := r.devices.structType(name)
		if entry == nil {
			continue
		}
		for _, f := range entry.Fields.List {
			if len(f.Names) != 1 || f.Names[0].Name != "DeviceIDs" {
				continue
			}
			typ := f.Type
			if id, ok := typ.(*ast.Ident); ok {
				typ = r.devices.typeOf(id.Name)
			}
			switch typ := typ.(type) {
			case *ast.ArrayType:
				return no(name+".DeviceIDs", r.devices.line(f))
			case *ast.MapType:
				if typeName(typ.Key) == "int64" {
					return yes(name+".DeviceIDs", r.devices.line(f))
				}
			}
			return unclear("the type of %s.DeviceIDs is not understood", name)
		}
	}
	return lost("the entry of the checkpoint")
}

// tellsHealth: the device manager writes the health of devices into the status of
// a pod, and the kubelet asks it to.
func (r *release) tellsHealth() verdict {
	const name = "UpdateAllocatedResourcesStatus"
	has := method(r.devices, "ManagerImpl", name)
	if has.State == capability.No {
		// AllocatedResourcesStatus is the field of the status.
		if at, in := find(r.devices.every, true, mentions("AllocatedResourcesStatus")); at != nil {
			return unclear("%s uses AllocatedResourcesStatus in a way that is not understood", in.Name.Name)
		}
	}
	return all(has, asks(r.root, name))
}

// isChecked: the device manager has a health check, and the container manager
// hands it on.
func (r *release) isChecked() verdict {
	const name = "GetHealthChecker"
	has := method(r.devices, "ManagerImpl", name)
	if has.State == capability.No {
		for _, f := range r.devices.files {
			for _, imported := range f.imports {
				if within(imported, "server/healthz") {
					return unclear("the device manager has a health check that was not found")
				}
			}
		}
	}
	return all(has, asks(r.linux, name))
}

// method: a type has a method.
func method(c *code, typ, name string) verdict {
	if v, broken := c.broken(); broken {
		return v
	}
	if c.structType(typ) == nil {
		return lost("the type " + typ)
	}
	if m := c.methods(typ, name); len(m) > 0 {
		return yes(typ+"."+name, c.line(m[0].FuncDecl))
	}
	return no(typ + " has no " + name)
}

// asks: something of the code calls a method that there is.
func asks(c *code, name string) verdict {
	if v, broken := c.broken(); broken {
		return v
	}
	at, in := find(c.every, true, calls(name))
	if at == nil {
		return unclear("nothing calls %s where it used to", name)
	}
	return yes(in.Name.Name, c.line(at))
}

// keepsInstances: a resource may have several plugins, in the server and in the
// device manager.
func (r *release) keepsInstances() verdict {
	if v, broken := r.devices.broken(); broken {
		return v
	}
	one, several := r.byResource("ManagerImpl")
	if !one && !several {
		return lost("the map of endpoints by resource")
	}
	if r.devices.structType("server") == nil { // until 1.24 the device manager served itself
		return yesIf(several, "ManagerImpl")
	}
	oneClient, clients := r.byResource("server")
	switch {
	case !oneClient && !clients:
		return lost("the map of clients by resource")
	case clients != several:
		return unclear("the server and the device manager keep different numbers of plugins for a resource")
	}
	return yesIf(several, "server.clients, ManagerImpl", r.devices.line(r.devices.structType("server")))
}

// byResource tells whether a type has a map from resources to a client or an
// endpoint, and one to several of them.
func (r *release) byResource(typ string) (one, several bool) {
	s := r.devices.structType(typ)
	if s == nil {
		return false, false
	}
	for _, f := range s.Fields.List {
		m, ok := f.Type.(*ast.MapType)
		if !ok || len(f.Names) != 1 || typeName(m.Key) != "string" {
			continue
		}
		switch value := m.Value.(type) {
		case *ast.ArrayType:
			several = several || keeps(value.Elt)
		case *ast.MapType:
			several = several || keeps(value.Value)
		default:
			one = one || keeps(value)
		}
	}
	return one, several
}

// keeps tells whether a type is that of a plugin that is kept.
func keeps(e ast.Expr) bool {
	switch typeName(e) {
	case "Client", "endpoint", "endpointInfo":
		return true
	}
	return false
}

// onWindows: the container manager of Windows has a real device manager.
func (r *release) onWindows() verdict {
	if v, broken := r.windows.broken(); broken {
		return v
	}
	if len(r.windows.files) == 0 {
		return lost("the container manager of Windows")
	}
	if at := r.windows.qualified(deviceManager, "NewManagerImpl"); len(at) > 0 {
		return yes("NewManagerImpl", r.windows.line(at[0]))
	}
	for _, f := range r.windows.files {
		for _, imported := range f.imports {
			if within(imported, deviceManager) {
				return unclear("the container manager of Windows uses the device manager in a way that is not understood")
			}
		}
	}
	return no("the container manager of Windows has no device manager")
}

// watchesPlugins: sockets of device plugins in the directory of plugins are
// handed to the device manager.
func (r *release) watchesPlugins() verdict {
	for _, c := range []*code{r.root, r.linux} {
		if v, broken := c.broken(); broken {
			return v
		}
		for _, pkg := range []string{"pluginregistration/v1", "pluginregistration/v1alpha1", "pluginregistration/v1beta1"} {
			if at := c.qualified(pkg, "DevicePlugin"); len(at) > 0 {
				return yes("the handler of device plugins", c.line(at[0]))
			}
		}
	}
	// Up to 1.10 there are no handlers at all.
	if added, _ := find(r.root.every, true, calls("AddHandler")); len(r.root.files) == 0 || added == nil && r.version.Minor > 10 {
		return lost("what adds handlers of plugins")
	}
	at, in := find(r.root.every, true, func(_ *fn, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || called(call) != "AddHandler" || len(call.Args) == 0 {
			return false
		}
		switch kind := call.Args[0].(type) {
		case *ast.BasicLit:
			return false
		case *ast.SelectorExpr:
			return kind.Sel.Name != "CSIPlugin" && kind.Sel.Name != "DRAPlugin"
		}
		return true
	})
	if at != nil {
		return unclear("%s adds a handler of plugins that are not known", in.Name.Name)
	}
	return no("no handler of device plugins is added")
}
