package kubelet

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// gate is a feature gate as one release has it.
type gate struct {
	name string
	// on is the default; locked is set if it cannot be changed.
	on, locked bool
	// stage is ALPHA, BETA, GA and the like, as the source names it.
	stage string
	at    string
	// gone is set if the release has no such gate.
	gone bool
	// why says why nothing is known of it.
	why string
}

// featurePackage is the package that declares the gates.
const featurePackage = "pkg/features"

// gate reads a gate out of the package of the gates. It stands in a map by name:
// up to 1.32 with one specification, from 1.31 on with one for each minor
// release that changed it. Up to now each gate is in one of the two.
func (r *release) gate(name string) gate {
	g := gate{name: name, gone: true}
	if len(r.features.files) == 0 {
		g.why = "the feature gates are not where they used to be"
		return g
	}
	if v, broken := r.features.broken(); broken {
		g.why = v.Why
		return g
	}
	var entries []*ast.KeyValueExpr
	var forms []string
	r.features.each(func(_ *file, n ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		m, ok := lit.Type.(*ast.MapType)
		if !ok {
			return
		}
		form := typeName(m.Value)
		if form != "FeatureSpec" && form != "VersionedSpecs" {
			return
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && typeName(kv.Key) == name {
				entries, forms = append(entries, kv), append(forms, form)
			}
		}
	})
	switch {
	case len(entries) == 0:
		if text, _ := r.features.constant(name); text != "" {
			g.why = "the gate has a name but no default where it used to be"
		}
		return g
	case len(entries) > 1:
		g.why = "the gate has several defaults"
		return g
	}
	g.gone, g.at = false, r.features.line(entries[0])
	lit, ok := entries[0].Value.(*ast.CompositeLit)
	if !ok {
		g.why = "the default of the gate is no literal"
		return g
	}
	if forms[0] == "VersionedSpecs" {
		lit, g.why = r.current(lit)
		if lit == nil {
			return g
		}
		g.at = r.features.line(lit)
	}
	g.read(lit)
	return g
}

// current returns the specification of a versioned gate that holds for the
// release: the newest that is not newer than it.
func (r *release) current(specs *ast.CompositeLit) (out *ast.CompositeLit, why string) {
	newest := uint64(0)
	for _, e := range specs.Elts {
		spec, ok := e.(*ast.CompositeLit)
		if !ok {
			return nil, "a specification of the gate is no literal"
		}
		values := keyed(spec)
		if values["MinCompatibilityVersion"] != nil {
			return nil, "the default of the gate depends on the version that the cluster is to be compatible with"
		}
		minor, ok := minorOf(values["Version"])
		if !ok {
			return nil, "the version of a specification of the gate is not understood"
		}
		if minor <= r.version.Minor && minor >= newest {
			out, newest = spec, minor
		}
	}
	if out == nil {
		return nil, "the gate has no specification for " + r.version.Line()
	}
	return out, ""
}

// minorOf reads version.MustParse("1.31").
func minorOf(e ast.Expr) (uint64, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || called(call) != "MustParse" || len(call.Args) != 1 {
		return 0, false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return 0, false
	}
	rest, ok := strings.CutPrefix(literal(lit), "1.")
	if !ok {
		return 0, false
	}
	minor, err := strconv.ParseUint(rest, 10, 64)
	return minor, err == nil
}

// read reads {Default: true, PreRelease: featuregate.GA, LockToDefault: true}.
func (g *gate) read(spec *ast.CompositeLit) {
	values := keyed(spec)
	for _, field := range []struct {
		name string
		to   *bool
		must bool
	}{{"Default", &g.on, true}, {"LockToDefault", &g.locked, false}} {
		e := values[field.name]
		id, ok := e.(*ast.Ident)
		switch {
		case e == nil && !field.must:
		case !ok || id.Name != "true" && id.Name != "false":
			g.why = field.name + " of the gate is not understood"
		default:
			*field.to = id.Name == "true"
		}
	}
	g.stage = typeName(values["PreRelease"])
}

// keyed returns the values of a literal by their keys.
func keyed(lit *ast.CompositeLit) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			out[typeName(kv.Key)] = kv.Value
		}
	}
	return out
}

// gated is the verdict on something that depends on a gate, if the gate can be
// switched and something of the code that is named asks for it. Gates of what is
// around it, such as DevicePlugins for every field of the API, are left to the
// capability that stands for that.
func (r *release) gated(v verdict, id capability.ID, name string, askers ...*code) verdict {
	g := r.gate(name)
	r.settings["featureGates."+name] = g.setting()
	if v.State != capability.Yes && v.State != capability.Partial {
		return v
	}
	switch {
	case g.why != "":
		return unclear("feature gate %s: %s", name, g.why)
	case g.gone && asked(name, askers):
		return unclear("feature gate %s is asked for, but not declared where it used to be", name)
	case g.gone:
		return v // it is on for good, or was never needed
	case g.locked && g.on:
		return v
	case g.locked:
		return no(fmt.Sprintf("feature gate %s, which is off for good", name), g.at)
	}
	for _, c := range askers {
		if at := c.qualified(featurePackage, name); len(at) > 0 {
			entry, _ := capability.Lookup(id)
			v.State, v.When, v.Effect = capability.Conditional, "featureGates."+name+"=true", entry.Effect
			v.Files = append(v.Files, c.line(at[0]), g.at)
			return v
		}
	}
	return unclear("feature gate %s can be switched, but nothing asks for it where it used to be", name)
}

// asked tells whether code uses a gate, from whatever package of feature gates.
func asked(name string, askers []*code) bool {
	for _, c := range askers {
		for _, f := range c.every {
			if at, _ := find([]*fn{f}, true, func(f *fn, n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				return ok && s.Sel.Name == name && strings.Contains(f.in.from(s), "feature")
			}); at != nil {
				return true
			}
		}
	}
	return false
}

// others are the gates that can be switched, that the code of plugins asks for and
// that no rule knows. One that is new may stand in the way of a capability.
func (r *release) others() []probe.Setting {
	at := map[string]string{}
	for _, c := range []*code{r.devices, r.dra, r.drivers, r.pods} {
		c.each(func(f *file, n ast.Node) {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !within(f.from(s), featurePackage) || at[s.Sel.Name] != "" {
				return
			}
			if _, known := r.settings["featureGates."+s.Sel.Name]; !known {
				at[s.Sel.Name] = c.line(s)
			}
		})
	}
	var out []probe.Setting
	for _, name := range slices.Sorted(maps.Keys(at)) {
		g := r.gate(name)
		if g.gone && g.why == "" || g.locked {
			continue
		}
		s := g.setting()
		s.Key, s.At = s.Name, at[name]
		out = append(out, s)
	}
	return out
}

// setting is the gate as a setting of the kubelet.
func (g gate) setting() probe.Setting {
	return probe.Setting{
		Name: "featureGates." + g.name, Value: strconv.FormatBool(g.on), At: g.at, Absent: g.gone, Why: g.why,
		Key: fmt.Sprintf("KubeletConfiguration: featureGates: %[1]s: true (or --feature-gates=%[1]s=true)", g.name),
	}
}

// policy reads the default of topologyManagerPolicy.
func (r *release) policy() probe.Setting {
	out := probe.Setting{
		Name: inference.TopologyManagerPolicy, Absent: true,
		Key: "KubeletConfiguration: topologyManagerPolicy: best-effort, restricted or single-numa-node",
	}
	if v, broken := r.defaults.broken(); broken {
		out.Why = v.Why
		return out
	}
	r.defaults.each(func(f *file, n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || typeName(a.Lhs[0]) != "TopologyManagerPolicy" {
			return
		}
		// The constant stands in the module k8s.io/kubelet, and under the same
		// name in the kubelet's own form of the configuration.
		for _, c := range r.configs {
			if value, at := c.constant(typeName(a.Rhs[0])); value != "" {
				out.Value, out.At, out.Absent = value, c.line(at), false
				return
			}
		}
		out.Why = "the value of " + typeName(a.Rhs[0]) + " was not found"
	})
	if len(r.defaults.files) == 0 {
		out.Why = "the defaults of the configuration are not where they used to be"
	}
	return out
}
