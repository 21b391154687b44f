package probe

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"reflect"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// configs are the packages with the configuration of a runtime: the structs
// and what their defaults are.
type configs struct {
	places places
	files  []syntaxFile
	unread []string
	server *server
	// library are the string constants of the adaptation, such as
	// DefaultSocketPath.
	library map[string]string
}

// syntaxFile is a parsed file.
type syntaxFile struct {
	name string
	fset *token.FileSet
	ast  *ast.File
}

func (f syntaxFile) where(n ast.Node) string {
	return f.name + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// setting is a default value that was found.
type setting struct {
	Value string
	// Key is the key in the configuration file, by the field's tag.
	Key string
	At  string
	// Absent is set if there is no such setting in the release.
	Absent bool
	// Why says why nothing is known.
	Why string
}

// parseDirs parses the Go files in directories that exist, tests left out.
func parseDirs(t *source.Tree, dirs ...string) (files []syntaxFile, unread []string, err error) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		entries, err := t.List(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if e.Dir || !strings.HasSuffix(e.Name, ".go") || strings.HasSuffix(e.Name, "_test.go") || otherSystem(e.Name) {
				continue
			}
			name := path.Join(dir, e.Name)
			data, err := t.Read(name)
			if errors.Is(err, gitrepo.ErrMissing) {
				unread = append(unread, name)
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, data, parser.SkipObjectResolution)
			if err != nil {
				unread = append(unread, name)
				continue
			}
			files = append(files, syntaxFile{name, fset, file})
		}
	}
	return files, unread, nil
}

func readConfigs(t *source.Tree, p places, s *server, lib *Library) (*configs, error) {
	c := &configs{places: p, server: s, library: map[string]string{}}
	for _, pkg := range []*types.Package{lib.apiTypes, lib.adaptationTypes} {
		for _, name := range pkg.Scope().Names() {
			if k, ok := pkg.Scope().Lookup(name).(*types.Const); ok && k.Val().Kind() == constant.String {
				c.library[name] = constant.StringVal(k.Val())
			}
		}
	}
	var err error
	c.files, c.unread, err = parseDirs(t, append(p.config, p.options, "services/tasks", "plugins/services/tasks")...)
	return c, err
}

// defaultOf returns the default of a field of a configuration struct: what the
// literal of that struct in a function that makes defaults gives it, or nothing
// if that literal leaves it out.
func (c *configs) defaultOf(field string) setting {
	in, owner, declared := c.declaration(field)
	switch {
	case declared == nil && len(c.unread) > 0:
		return setting{Why: strings.Join(c.unread, ", ") + " could not be read"}
	case declared == nil:
		return setting{Absent: true}
	}
	tag, _ := strconv.Unquote(declared.Tag.Value)
	out := setting{Key: tomlKey(tag), At: in.where(declared), Why: "nothing makes a default " + owner + ", of which " + field + " is a part"}
	for _, f := range c.files {
		if path.Dir(f.name) != path.Dir(in.name) {
			continue
		}
		for _, d := range f.ast.Decls {
			fun, ok := d.(*ast.FuncDecl)
			if !ok || fun.Body == nil || !makesDefaults(fun.Name.Name) {
				continue
			}
			for _, lit := range literals(fun.Body, owner) {
				kv := literalKeys(lit, owner)[field]
				if kv == nil {
					if out.Why != "" && typeName(declared.Type) == "bool" {
						out.Value = "false"
					}
					out.Why = ""
					continue
				}
				value, ok := c.constant(kv.Value)
				out.Value, out.At, out.Why = value, f.where(kv), ""
				if !ok {
					out.Why = "the default of " + field + " in " + fun.Name.Name + " is not understood"
				}
				return out
			}
		}
	}
	return out
}

// makesDefaults tells whether a function is one that makes a default
// configuration, by its name; a registration in init has it in place.
func makesDefaults(name string) bool {
	return strings.HasPrefix(name, "Default") || name == "New" || name == "init"
}

// declaration finds the struct in which a field of a configuration is declared.
func (c *configs) declaration(field string) (in syntaxFile, owner string, declared *ast.Field) {
	for _, f := range c.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || declared != nil {
				return true
			}
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, fd := range st.Fields.List {
				for _, name := range fd.Names {
					if name.Name == field && fd.Tag != nil {
						in, owner, declared = f, spec.Name.Name, fd
					}
				}
			}
			return true
		})
	}
	return in, owner, declared
}

func tomlKey(tag string) string {
	key, _, _ := strings.Cut(reflect.StructTag(tag).Get("toml"), ",")
	return key
}

// constant returns the value of true, false, a string, a constant of these
// packages, or a pointer to true or false made on the spot.
func (c *configs) constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.Ident:
		if v, ok := boolean(e); ok {
			return strconv.FormatBool(v), true
		}
		return constantIn(c.files, e.Name)
	case *ast.CallExpr:
		lit, ok := e.Fun.(*ast.FuncLit)
		if !ok || len(lit.Body.List) == 0 {
			return "", false
		}
		if assign, ok := lit.Body.List[0].(*ast.AssignStmt); ok {
			if v, ok := boolean(assign.Rhs[0]); ok {
				return strconv.FormatBool(v), true
			}
		}
	}
	return "", false
}

// constantIn returns the value of a constant or variable with a string value.
func constantIn(files []syntaxFile, name string) (string, bool) {
	value, found := "", false
	for _, f := range files {
		for _, d := range f.ast.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range decl.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, n := range spec.Names {
					if n.Name != name || i >= len(spec.Values) {
						continue
					}
					if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						if s, err := strconv.Unquote(lit.Value); err == nil && !found {
							value, found = s, true
						}
					}
				}
			}
		}
	}
	return value, found
}

// function returns a function of the packages.
func (c *configs) function(name string) (syntaxFile, *ast.FuncDecl) {
	for _, f := range c.files {
		for _, d := range f.ast.Decls {
			if fun, ok := d.(*ast.FuncDecl); ok && fun.Name.Name == name && fun.Recv == nil && fun.Body != nil {
				return f, fun
			}
		}
	}
	return syntaxFile{}, nil
}

// appliesResource tells whether a field of CRI resources is applied to the
// spec of a container, and whether a setting keeps it from being applied.
func (c *configs) appliesResource(field string) Verdict {
	f, fun := c.function("WithResources")
	if fun == nil {
		return unknown("WithResources is not where it used to be")
	}
	if field == "" {
		return no(fun.Name.Name, f.where(fun))
	}
	read := append(callsOf(fun.Body, "Get"+field), callsOf(fun.Body, field)...)
	if len(read) == 0 {
		for _, other := range c.files {
			if path.Dir(other.name) == path.Dir(f.name) && len(callsOf(other.ast, "Get"+field)) > 0 {
				return unknown("%s is applied in %s, but not by %s", field, other.name, fun.Name.Name)
			}
		}
		return no(fun.Name.Name, f.where(fun))
	}
	v := yes(fun.Name.Name, f.where(read[0]))
	ast.Inspect(fun.Body, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if !ok || !mentions(cond.Body, field) {
			return true
		}
		inner, not := negated(cond.Cond)
		if not && selected(inner) == "disableHugetlbController" {
			v = when(hugetlbEnabled, capability.Dropped, fun.Name.Name, f.where(cond))
			return false
		}
		return true
	})
	return v
}

// everSet is partial if nothing in the runtime ever puts a value into a field
// of the resources of a container's spec: neither its own code nor a base spec
// that an administrator can configure.
func (c *configs) everSet(field string) Verdict {
	setter, ok := map[string]string{
		"LinuxMemory.Reservation":      "SetLinuxResourcesMemoryReservation",
		"LinuxMemory.Kernel":           "SetLinuxResourcesMemoryKernel",
		"LinuxMemory.KernelTcp":        "SetLinuxResourcesMemoryKernelTCP",
		"LinuxMemory.Swappiness":       "SetLinuxResourcesMemorySwappiness",
		"LinuxMemory.DisableOomKiller": "SetLinuxResourcesMemoryDisableOOMKiller",
		"LinuxMemory.UseHierarchy":     "SetLinuxResourcesMemoryUseHierarchy",
		"LinuxCPU.RealtimeRuntime":     "SetLinuxResourcesCPURealtimeRuntime",
		"LinuxCPU.RealtimePeriod":      "SetLinuxResourcesCPURealtimePeriod",
	}[field]
	if !ok {
		return yes("") // CRI has it, or the runtime has it from elsewhere
	}
	if _, _, base := c.declaration("BaseRuntimeSpec"); c.places.runtime == "containerd" && base != nil {
		return yes("")
	}
	if len(c.unread) > 0 {
		return unknown("%s could not be read", strings.Join(c.unread, ", "))
	}
	if len(c.server.unread) > 0 {
		return unknown("%s could not be read", strings.Join(c.server.unread, ", "))
	}
	for _, fns := range c.server.funcs {
		for _, f := range fns {
			if f.calls[setter] {
				return yes("")
			}
		}
	}
	for _, f := range c.server.extra {
		if f.calls[setter] {
			return yes("")
		}
	}
	return partial("calls of " + setter)
}

// defaultValidator tells whether the configuration can switch the library's
// own validator on.
func (c *configs) defaultValidator() Verdict {
	var options syntaxFile
	var in *ast.FuncDecl
	for _, f := range c.files {
		for _, d := range f.ast.Decls {
			fun, ok := d.(*ast.FuncDecl)
			if !ok || fun.Body == nil || !strings.EqualFold(fun.Name.Name, "toOptions") {
				continue
			}
			options, in = f, fun
			if calls := callsOf(fun.Body, "WithDefaultValidator"); len(calls) > 0 {
				return yes(fun.Name.Name, f.where(calls[0]))
			}
		}
	}
	if in == nil {
		return unknown("the function that makes the options of the adaptation is not where it used to be")
	}
	return no(in.Name.Name, options.where(in))
}
