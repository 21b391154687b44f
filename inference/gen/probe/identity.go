package probe

import (
	"cmp"
	"errors"
	"go/ast"
	"go/types"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// identity finds what a runtime calls itself to plugins. The expressions are
// those handed to the adaptation; what they name is a constant, or a variable
// that the linker fills in as the Makefile says.
type identity struct {
	// Name and Version are the expressions, with places.
	name, version Text
}

// identityOf reads the expressions.
func (g *glue) identityOf() identity {
	failed := func(why string) identity { return identity{Text{Why: why}, Text{Why: why}} }
	f := g.domain.method("New")
	if f == nil {
		return failed("the function New of package nri is not where it used to be")
	}
	for _, call := range callsOf(f.decl.Body, "New") {
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) < 4 {
			continue
		}
		if fun, ok := f.code.Info.Uses[s.Sel].(*types.Func); !ok || fun.Pkg() != g.lib.adaptationTypes {
			continue
		}
		return identity{g.expression(f, call.Args[0]), g.expression(f, call.Args[1])}
	}
	return failed("New of package nri makes no adaptation")
}

// expression returns an argument in dotted form, a string in quotes, with a
// local variable replaced by what it was given.
func (g *glue) expression(f *fn, e ast.Expr) Text {
	if id, ok := e.(*ast.Ident); ok {
		ast.Inspect(f.decl.Body, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, name := range spec.Names {
					if name.Name == id.Name && i < len(spec.Values) {
						e = spec.Values[i]
					}
				}
			}
			return true
		})
	}
	at := f.code.where(e)
	switch v := e.(type) {
	case *ast.BasicLit:
		return Text{Value: v.Value, At: at}
	case *ast.CallExpr:
		if selected(v.Fun) == "path.Base" && len(v.Args) == 1 {
			return Text{Value: "path.Base(" + selected(v.Args[0]) + ")", At: at}
		}
	case *ast.SelectorExpr:
		return Text{Value: selected(v), At: at}
	}
	return Text{At: at, Why: "an argument of New of the adaptation is not understood"}
}

// resolve turns the expressions into what an upstream build of a release sends.
func (id identity) resolve(t *source.Tree) (name, form Text, err error) {
	files, _, err := parseDirs(t, "version", "internal/version")
	if err != nil {
		return name, form, err
	}
	linked, err := linkedPackage(t)
	if err != nil {
		return name, form, err
	}
	name = id.name
	switch {
	case name.Why != "":
	case strings.HasPrefix(name.Value, `"`):
		name.Value, _ = strconv.Unquote(name.Value)
	case name.Value == "version.Name":
		name.Value, _ = constantIn(files, "Name")
	case name.Value == "path.Base(version.Package)":
		pkg := linked
		if pkg == "" {
			pkg, _ = constantIn(files, "Package")
		}
		name.Value = path.Base(pkg)
	default:
		name = Text{At: name.At, Why: "the name is " + name.Value + ", which is not understood"}
	}
	if name.Why == "" && (name.Value == "" || name.Value == ".") {
		name.Why = "what the name is made of is not where it used to be"
	}
	form = id.version
	constant, ok := constantIn(files, "Version")
	switch {
	case form.Why != "":
	case form.Value == "version.Version" && ok:
		form.Value = "the tag with \"v\" in upstream's binaries, " + strconv.Quote(constant) + " if nothing is linked in"
	case strings.HasSuffix(form.Value, ".Version") && ok:
		form.Value = strconv.Quote(constant)
	default:
		form = Text{At: form.At, Why: "the version is " + form.Value + ", which is not understood"}
	}
	return name, form, nil
}

// linkedPackage returns what the Makefile links into version.Package, empty if
// it has no such variable.
func linkedPackage(t *source.Tree) (string, error) {
	data, err := t.Read("Makefile")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "PACKAGE="); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", nil
}

// registrationDirs are where plugins of containerd are registered and the
// types and names for it are declared.
func registrationDirs() []string {
	return []string{
		"plugins/nri", "pkg/nri/plugin", "plugins/cri/runtime", "pkg/cri/server/base", "plugins/cri", "pkg/cri",
		"plugins/services/tasks", "services/tasks", "plugins/services", "services", "plugins", "plugin",
	}
}

// tables returns the table of containerd's configuration file that belongs to
// a registration in the first of the directories that has one.
func tables(files []syntaxFile, dirs ...string) (table, at string, ok bool) {
	for _, dir := range dirs {
		for _, f := range files {
			if path.Dir(f.name) != dir {
				continue
			}
			for _, lit := range literals(f.ast, "Registration") {
				keys := literalKeys(lit, "Registration")
				if keys["Config"] == nil || keys["Type"] == nil || keys["ID"] == nil {
					continue
				}
				typ, ok1 := constantIn(files, last(selected(keys["Type"].Value)))
				id, ok2 := constantIn(files, last(selected(keys["ID"].Value)))
				if lit, ok := keys["ID"].Value.(*ast.BasicLit); ok {
					id, _ = strconv.Unquote(lit.Value)
					ok2 = true
				}
				if ok1 && ok2 {
					return typ + "." + id, f.where(lit), true
				}
			}
		}
	}
	return "", "", false
}

func last(dotted string) string { return dotted[strings.LastIndex(dotted, ".")+1:] }

// settings finds the defaults of the settings that conditions of the table
// are about, and the keys of the NRI configuration.
func settings(t *source.Tree, c *configs) (map[string]Setting, []Setting, error) {
	out := map[string]Setting{}
	if c.places.runtime == "cri-o" {
		out["nri.enabled"] = c.setting("nri.enabled", "Enabled", "crio.conf: [crio.nri] enable_nri = true", false)
		out["nri.external_connections"] = c.setting("nri.external_connections", "DisableConnections", "crio.conf: [crio.nri] nri_disable_connections = false", true)
		out["blockio_config_file"] = c.setting("blockio_config_file", "BlockIOConfigFile", "crio.conf: [crio.runtime] blockio_config_file", false)
		return out, c.keys(), nil
	}
	files, _, err := parseDirs(t, registrationDirs()...)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range []struct {
		name, field, want string
		negated           bool
		dirs              []string
	}{
		{"nri.enabled", "Disable", " = false", true, []string{"plugins/nri", "pkg/nri/plugin"}},
		{"nri.external_connections", "DisableConnections", " = false", true, []string{"plugins/nri", "pkg/nri/plugin"}},
		{"cri.enable_cdi", "EnableCDI", " = true", false, []string{"plugins/cri/runtime", "pkg/cri/server/base", "pkg/cri"}},
		{"cri.disable_hugetlb_controller", "DisableHugetlbController", " = false", false, []string{"plugins/cri/runtime", "pkg/cri/server/base", "pkg/cri"}},
		{"blockio_config_file", "BlockIOConfigFile", "", false, []string{"plugins/services/tasks", "services/tasks"}},
	} {
		set := c.setting(s.name, s.field, "", s.negated)
		table, _, ok := tables(files, s.dirs...)
		if !ok && set.Why == "" && !set.Absent {
			set.Why = "the registration of the plugin with " + s.field + " is not where it used to be"
		}
		set.Key = "config.toml: [plugins.\"" + table + "\"] " + set.Key + s.want
		out[s.name] = set
	}
	return out, c.keys(), nil
}

// setting returns the default of a setting by its field; a switch whose field
// says the opposite is turned round.
func (c *configs) setting(name, field, key string, opposite bool) Setting {
	d := c.defaultOf(field)
	out := Setting{Name: name, Value: d.Value, Key: key, At: d.At, Absent: d.Absent, Why: d.Why}
	if key == "" {
		out.Key = d.Key
	}
	if opposite && d.Why == "" {
		switch d.Value {
		case "true":
			out.Value = "false"
		case "false":
			out.Value = "true"
		}
	}
	return out
}

// keys returns the keys of the NRI configuration with their defaults.
func (c *configs) keys() []Setting {
	var out []Setting
	for _, f := range c.files {
		if path.Dir(f.name) != c.places.config[0] {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			st, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, fd := range st.Fields.List {
				if fd.Tag == nil || len(fd.Names) == 0 {
					continue
				}
				tag, _ := strconv.Unquote(fd.Tag.Value)
				key := tomlKey(tag)
				if key == "" {
					continue
				}
				d := c.keyDefault(fd.Names[0].Name)
				if d == "" && typeName(fd.Type) == "bool" {
					d = "false"
				}
				out = append(out, Setting{Name: fd.Names[0].Name, Key: key, Value: d, At: f.where(fd)})
			}
			return true
		})
	}
	return out
}

// keyDefault is the default as it is written in the source; empty for none.
func (c *configs) keyDefault(field string) string {
	out := ""
	for _, f := range c.files {
		if path.Dir(f.name) != c.places.config[0] {
			continue
		}
		for _, d := range f.ast.Decls {
			fun, ok := d.(*ast.FuncDecl)
			if !ok || fun.Body == nil || !strings.HasPrefix(fun.Name.Name, "Default") && fun.Name.Name != "New" {
				continue
			}
			if kv := literalKeys(fun.Body, "Config")[field]; kv != nil {
				out = types.ExprString(kv.Value)
				if value, ok := c.constant(kv.Value); ok {
					out = value
				} else if s, ok := kv.Value.(*ast.SelectorExpr); ok {
					out = cmp.Or(c.library[s.Sel.Name], out)
				}
			}
		}
	}
	return out
}
