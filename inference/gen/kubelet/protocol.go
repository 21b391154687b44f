package kubelet

import (
	"go/ast"
	"path"
	"reflect"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// protocol is a package of generated code: the messages and services of one
// version of an API. Names are those of the .proto file, which the generated
// code repeats whatever generator made it.
type protocol struct {
	*code
	// name is the path below the APIs, such as "deviceplugin/v1beta1".
	name string
	// lost is set if the kubelet imports the API, but it is not where it used to be.
	lost bool
}

// protocol reads a version of an API: from the module k8s.io/kubelet, or from
// where it was before it moved there. It has no files if the release has none.
func (r *release) protocol(name string) (*protocol, error) {
	for _, at := range []struct {
		tree *source.Tree
		dir  string
	}{{r.apis, path.Join("pkg/apis", name)}, {r.tree, path.Join("pkg/kubelet/apis", name)}} {
		if at.tree == nil {
			continue
		}
		c, err := load(at.tree, place{dir: at.dir})
		if err != nil {
			return nil, err
		}
		if len(c.files)+len(c.unread) > 0 {
			return &protocol{code: c, name: name}, nil
		}
	}
	p := &protocol{code: &code{}, name: name}
	for _, c := range []*code{r.devices, r.drivers, r.pods, r.server} {
		for _, f := range c.files {
			for _, imported := range f.imports {
				p.lost = p.lost || within(imported, "apis/"+name)
			}
		}
	}
	return p, nil
}

// there tells whether the release has the API, found or not.
func (p *protocol) there() bool { return p.lost || len(p.files)+len(p.unread) > 0 }

// missing is the verdict if the API is not there or not understood.
func (p *protocol) missing() (verdict, bool) {
	if p.lost {
		return lost("the API " + p.name), true
	}
	if !p.there() {
		return no("there is no API " + p.name), true
	}
	return p.broken()
}

// field is the verdict on a field of a message, with the name that it has in Go.
func (p *protocol) field(message, name string) (v verdict, goName string) {
	if v, ok := p.missing(); ok {
		return v, ""
	}
	s := p.structType(message)
	if s == nil {
		return unclear("%s has no message %s", p.name, message), ""
	}
	for _, f := range s.Fields.List {
		if f.Tag == nil || len(f.Names) != 1 {
			continue
		}
		tag := reflect.StructTag(literal(f.Tag)).Get("protobuf")
		for part := range strings.SplitSeq(tag, ",") {
			if part == "name="+name {
				return yes(message+"."+name, p.line(f)), f.Names[0].Name
			}
		}
	}
	return no(message + " has no field " + name), ""
}

// method is the verdict on a call of a service.
func (p *protocol) method(service, name string) verdict {
	if v, ok := p.missing(); ok {
		return v
	}
	description := p.service(service)
	if description == nil {
		return unclear("%s has no service %s", p.name, service)
	}
	var at ast.Node
	ast.Inspect(description, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isIdent := kv.Key.(*ast.Ident)
		value, isLit := kv.Value.(*ast.BasicLit)
		if isIdent && isLit && (key.Name == "MethodName" || key.Name == "StreamName") && literal(value) == name {
			at = kv
		}
		return true
	})
	if at == nil {
		return no(service + " has no method " + name)
	}
	return yes(service+"."+name, p.line(at))
}

// service returns the description of a service that gRPC is given.
func (p *protocol) service(name string) (out *ast.CompositeLit) {
	p.each(func(_ *file, n ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || typeName(lit.Type) != "ServiceDesc" {
			return
		}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, isIdent := kv.Key.(*ast.Ident)
			value, isLit := kv.Value.(*ast.BasicLit)
			if isIdent && isLit && key.Name == "ServiceName" && literal(value) == path.Base(p.name)+"."+name {
				out = lit
			}
		}
	})
	return out
}
