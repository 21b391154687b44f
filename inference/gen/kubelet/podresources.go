package kubelet

import (
	"go/ast"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// decidePodResources decides what the kubelet tells of its pods.
func (r *release) decidePodResources(out map[capability.ID]probe.Verdict) error {
	old, err := r.protocol("podresources/v1alpha1")
	if err != nil {
		return err
	}
	api, err := r.protocol("podresources/v1")
	if err != nil {
		return err
	}
	pods, err := r.protocol("pods/v1alpha1")
	if err != nil {
		return err
	}
	const lister, server = "PodResourcesLister", "RegisterPodResourcesListerServer"
	out[capability.PodresV1alpha1List] = r.gated(all(old.method(lister, "List"), r.offers(old, server)),
		capability.PodresV1alpha1List, "KubeletPodResources", r.command, r.root)
	cpus, _ := api.field("ContainerResources", "cpu_ids")
	topology, _ := api.field("ContainerDevices", "topology")
	out[capability.PodresV1List] = r.gated(all(api.method(lister, "List"), r.offers(api, server), cpus, topology),
		capability.PodresV1List, "KubeletPodResources", r.command, r.root)
	out[capability.PodresGetAllocatable] = r.gated(r.answers(api, lister, "GetAllocatableResources"),
		capability.PodresGetAllocatable, "KubeletPodResourcesGetAllocatable", r.pods, r.root)
	out[capability.PodresGet] = r.gated(r.answers(api, lister, "Get"), capability.PodresGet, "KubeletPodResourcesGet", r.pods, r.root)
	out[capability.PodresMemory] = r.gated(r.fills(api, "ContainerResources", "memory"), capability.PodresMemory, "MemoryManager", r.linux)
	out[capability.PodresDynamicResources] = r.gated(r.fills(api, "ContainerResources", "dynamic_resources"),
		capability.PodresDynamicResources, "KubeletPodResourcesDynamicResources", r.pods)
	out[capability.PodresPodLevel] = r.gated(all(r.fills(api, "PodResources", "cpu_ids"), r.fills(api, "PodResources", "memory")),
		capability.PodresPodLevel, "PodLevelResourceManagers", r.pods)
	out[capability.PodresUnlimitedRate] = r.unlimited(old, api)
	out[capability.PodsAPIV1alpha1] = r.gated(
		all(pods.method("Pods", "ListPods"), pods.method("Pods", "GetPod"), pods.method("Pods", "WatchPods"), r.offers(pods, "RegisterPodsServer")),
		capability.PodsAPIV1alpha1, "PodsAPI", r.root)
	return nil
}

// offers: the kubelet serves a service of an API.
func (r *release) offers(api *protocol, register string) verdict {
	if v, broken := r.server.broken(); broken {
		return v
	}
	if at := r.server.qualified(api.name, register); len(at) > 0 {
		return yes(register, r.server.line(at[0]))
	}
	if len(r.server.files) == 0 {
		return lost("what the kubelet serves")
	}
	return unclear("the kubelet does not serve %s where it used to", api.name)
}

// answers: the API has a call, and the pod resources server answers it.
func (r *release) answers(api *protocol, service, name string) verdict {
	v := all(api.method(service, name), method(r.pods, "v1PodResourcesServer", name))
	if v.State == capability.No && api.method(service, name).State == capability.Yes {
		return unclear("the pod resources server does not answer %s, which the API has", name)
	}
	return v
}

// fills: a message has a field, and the pod resources server sets it, in a
// literal of the message or later.
func (r *release) fills(api *protocol, message, name string) verdict {
	has, goName := api.field(message, name)
	if has.State != capability.Yes {
		return has
	}
	if v, broken := r.pods.broken(); broken {
		return v
	}
	at, in := find(r.pods.every, false, func(f *fn, n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			return typeName(n.Type) == message && within(f.in.from(n.Type), api.name) && keyed(n)[goName] != nil
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				s, ok := to.(*ast.SelectorExpr)
				if ok && s.Sel.Name == goName && f.messageOf(s.X) == message {
					return true
				}
			}
		}
		return false
	})
	if at == nil {
		return unclear("nothing sets %s.%s, which the API has", message, goName)
	}
	return all(has, yes(in.Name.Name, r.pods.line(at)))
}

// messageOf is the type of a variable that a function declares with a literal,
// or of an element of Containers.
func (f *fn) messageOf(e ast.Expr) (name string) {
	switch e := e.(type) {
	case *ast.IndexExpr:
		if s, ok := e.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Containers" {
			return "ContainerResources"
		}
	case *ast.Ident:
		f.walk(true, func(n ast.Node) {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || typeName(a.Lhs[0]) != e.Name {
				return
			}
			value := a.Rhs[0]
			if u, ok := value.(*ast.UnaryExpr); ok {
				value = u.X
			}
			if lit, ok := value.(*ast.CompositeLit); ok {
				name = typeName(lit.Type)
			}
		})
	}
	return name
}

// unlimited: the server takes any number of calls. The catalogue names the
// limit, so another one is a question for a person.
func (r *release) unlimited(apis ...*protocol) verdict {
	if !slices.ContainsFunc(apis, (*protocol).there) {
		v := no("there is no pod resources API")
		v.Effect = capability.NeverCalled
		return v
	}
	from, v, ok := r.server.anchored("ListenAndServePodResources")
	if !ok {
		return v
	}
	at, in := find(from, true, callsOf(grpcPackage, "NewServer"))
	if at == nil {
		return lost("the pod resources server")
	}
	if len(at.(*ast.CallExpr).Args) == 0 {
		return yes("the server has no options", r.server.line(at))
	}
	limit, _ := find(from, true, calls("WithRateLimiter"))
	if limit == nil {
		return unclear("the options of the pod resources server are not understood")
	}
	args := limit.(*ast.CallExpr).Args
	for i, want := range []string{"10", "100"} { // the last argument is the burst
		if len(args) < 2 {
			return unclear("the limit of the pod resources server is not understood")
		}
		got, _ := r.pods.constant(typeName(args[len(args)-1-i]))
		if got != want {
			return unclear("the limit of the pod resources server is %q where it was %s", got, want)
		}
	}
	return no(in.Name.Name, r.server.line(limit))
}
