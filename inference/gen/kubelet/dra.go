package kubelet

import (
	"go/ast"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// decideDRA decides which services of DRA drivers the kubelet calls.
func (r *release) decideDRA(out map[capability.ID]probe.Verdict) error {
	for id, api := range map[capability.ID]string{
		capability.DRAV1alpha1:           "dra/v1alpha1",
		capability.DRAV1alpha2:           "dra/v1alpha2",
		capability.DRAV1alpha3Classic:    "dra/v1alpha3",
		capability.DRAV1alpha3Structured: "dra/v1alpha4", // the service is v1alpha3.Node all the same
		capability.DRAV1beta1:            "dra/v1beta1",
		capability.DRAV1:                 "dra/v1",
	} {
		v, err := r.drives(api, "NewNodeClient", "NewDRAPluginClient")
		if err != nil {
			return err
		}
		out[id] = r.gated(v, id, "DynamicResourceAllocation", r.linux)
	}
	for id, api := range map[capability.ID]string{
		capability.DRAHealthV1alpha1: "dra-health/v1alpha1",
		capability.DRAHealthV1:       "dra-health/v1",
	} {
		v, err := r.drives(api, "NewDRAResourceHealthClient")
		if err != nil {
			return err
		}
		out[id] = r.gated(v, id, "ResourceHealthStatus", r.drivers)
	}
	out[capability.DRAUnknownServices] = r.gated(r.takesUnknown(), capability.DRAUnknownServices, "DynamicResourceAllocation", r.linux)
	return nil
}

// drives: the kubelet makes a client for an API of drivers, and names it among
// the services that it takes, if it has such a list.
func (r *release) drives(name string, clients ...string) (verdict, error) {
	api, err := r.protocol(name)
	if err != nil {
		return verdict{}, err
	}
	if v, missing := api.missing(); missing {
		return v, nil
	}
	if !r.drivers.has(draManager + "/plugin") {
		return lost("the code that calls DRA drivers"), nil
	}
	if v, broken := r.drivers.broken(); broken {
		return v, nil
	}
	family, _, _ := strings.Cut(name, "/")
	made, in := find(r.drivers.every, true, callsOf(name, clients...))
	listed, lists := r.listed(name, family)
	switch {
	case made == nil && lists && listed == nil:
		return no("the list of services has no " + name), nil
	case made == nil:
		return unclear("nothing calls %s, which there is", name), nil
	case lists && listed == nil:
		return no("the list of services has no "+name, r.drivers.line(made)), nil
	}
	v := yes(in.Name.Name, r.drivers.line(made))
	if listed != nil {
		v.Files = append(v.Files, r.drivers.line(listed))
	}
	return v, nil
}

// listed returns where an API stands in a list of services of its family, and
// whether there is such a list.
func (r *release) listed(api, family string) (at ast.Node, lists bool) {
	r.drivers.each(func(f *file, n ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		list, ok := lit.Type.(*ast.ArrayType)
		if !ok || typeName(list.Elt) != "string" {
			return
		}
		for _, e := range lit.Elts {
			from := f.from(e)
			if !strings.Contains(from, "/"+family+"/") {
				continue
			}
			lists = true
			if within(from, api) {
				at = e
			}
		}
	})
	return at, lists
}

// takesUnknown: a driver that names no service the kubelet knows is taken for
// one of some version.
func (r *release) takesUnknown() verdict {
	if !r.drivers.has(draManager + "/plugin") {
		if r.dra.has(draManager) {
			return lost("the code that calls DRA drivers")
		}
		return no("there is no DRA")
	}
	if v, broken := r.drivers.broken(); broken {
		return v
	}
	if from := r.drivers.funcs["validateSupportedServices"]; len(from) == 1 {
		return r.withoutService(from[0])
	}
	from := r.drivers.funcs["validateVersions"]
	if at, _ := find(r.drivers.reach(from, false), false, callsOf("util/version", "ParseGeneric", "HighestSupportedVersion")); at != nil {
		return unclear("drivers name versions, not services: one that names a version 1.x is accepted, one that names services alone is refused")
	}
	return lost("the check of what a driver names")
}

// withoutService reads what is done if no service was chosen.
func (r *release) withoutService(f *fn) verdict {
	var v *verdict
	f.walk(false, func(n ast.Node) {
		i, ok := n.(*ast.IfStmt)
		if !ok || !isEmpty(i.Cond) {
			return
		}
		found := unclear("%s does without a service in a way that is not understood", f.Name.Name)
		if len(i.Body.List) == 1 {
			switch s := i.Body.List[0].(type) {
			case *ast.ReturnStmt:
				if returnsError(s) {
					found = no(f.Name.Name, r.drivers.line(s))
				}
			case *ast.AssignStmt:
				if len(s.Lhs) == 1 && typeName(s.Lhs[0]) == typeName(i.Cond.(*ast.BinaryExpr).X) {
					found = yes(f.Name.Name, r.drivers.line(s))
				}
			}
		}
		v = &found
	})
	if v == nil {
		return unclear("%s does without a service in a way that is not understood", f.Name.Name)
	}
	return *v
}

// isEmpty reads a comparison of a variable with the empty string.
func isEmpty(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	lit, ok := b.Y.(*ast.BasicLit)
	_, variable := b.X.(*ast.Ident)
	return ok && variable && b.Op.String() == "==" && literal(lit) == ""
}
