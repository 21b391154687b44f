package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// maxTrace bounds how far a value is followed through variables and calls.
const maxTrace = 6

// program is the walked code of all main packages together.
type program struct {
	root  string // directory of the main module
	fset  *token.FileSet
	pkgs  []*packages.Package
	api   map[*types.Package]bool
	stubs map[*types.Package]bool
	// funcs holds the functions with a body, by the object of their declaration,
	// and in order.
	funcs map[*types.Func]*function
	order []*function
	// named are the named types of the walked packages.
	named []*types.Named
	// wanted holds the methods that interfaces of other packages ask for.
	wanted map[*types.Func]bool
	// messages are the message types of the API.
	messages []*types.Named
	// calls are the static calls of each function.
	calls map[*types.Func][]call
	// What is known of the objects that variables, parameters and results hang
	// off or are put into; see [program.origin].
	ofVar    map[variable]symbols.Context
	ofParam  map[*types.Var]symbols.Context
	ofReturn map[*function]symbols.Context
	// converted holds which messages are put into which interfaces.
	converted map[conversion]bool
}

// function is a function or method with its closures, or what a package's
// variables are initialised with.
type function struct {
	pkg  *packages.Package
	obj  *types.Func // nil for variables
	node ast.Node
	name string // as a stack trace has it
	refs []reference
	// dynamic are the interface methods that it calls.
	dynamic []reference
	parents map[ast.Node]ast.Node
	// defs are what variables are set to, mentions where they are named.
	defs     map[types.Object][]ast.Expr
	mentions map[types.Object][]*ast.Ident
	facts
}

// reference is the mention of a function. It is apart if the mention is in a
// "go" statement, so that the function does not run before its user goes on.
type reference struct {
	to    *types.Func
	apart bool
}

// call is one static call.
type call struct {
	in   *function
	expr *ast.CallExpr
}

func emptyProgram(root string) *program {
	return &program{
		root: root, api: map[*types.Package]bool{}, stubs: map[*types.Package]bool{},
		funcs: map[*types.Func]*function{}, calls: map[*types.Func][]call{},
		ofVar: map[variable]symbols.Context{}, ofParam: map[*types.Var]symbols.Context{},
		ofReturn: map[*function]symbols.Context{}, converted: map[conversion]bool{},
	}
}

func newProgram(root string, pkgs []*packages.Package) (*program, error) {
	p := emptyProgram(root)
	seen := map[*types.Package]bool{}
	for _, pkg := range pkgs {
		p.fset = pkg.Fset
		p.classify(pkg.Types, seen)
	}
	if len(p.api) == 0 {
		return nil, fmt.Errorf("the NRI API package has none of the types of the NRI API")
	}
	p.read(pkgs, seen)
	for _, f := range p.order {
		p.collect(f)
	}
	return p, nil
}

// read lists the functions of the walked packages and what they mention.
// imported are all packages, walked or not.
func (p *program) read(pkgs []*packages.Package, imported map[*types.Package]bool) {
	for _, pkg := range pkgs {
		if !p.api[pkg.Types] && !p.stubs[pkg.Types] {
			p.pkgs = append(p.pkgs, pkg)
		}
	}
	for _, pkg := range p.pkgs {
		p.declarations(pkg)
	}
	p.wantedMethods(imported)
	for _, f := range p.order {
		p.scan(f)
	}
}

// classify finds the packages that define the API and the stub, by their types.
func (p *program) classify(pkg *types.Package, seen map[*types.Package]bool) {
	if seen[pkg] {
		return
	}
	seen[pkg] = true
	scope := pkg.Scope()
	isStruct := func(name string) bool {
		tn, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			return false
		}
		_, ok = tn.Type().Underlying().(*types.Struct)
		return ok
	}
	if isStruct("ContainerAdjustment") && isStruct("CreateContainerResponse") && isStruct("PodSandbox") {
		p.api[pkg] = true
		for _, name := range scope.Names() {
			if tn, ok := scope.Lookup(name).(*types.TypeName); ok && isStruct(name) && !tn.IsAlias() {
				p.messages = append(p.messages, tn.Type().(*types.Named))
			}
		}
	}
	if tn, ok := scope.Lookup("Stub").(*types.TypeName); ok && scope.Lookup("Option") != nil {
		if _, isNew := scope.Lookup("New").(*types.Func); isNew && hasMethod(tn.Type(), "UpdateContainers") {
			p.stubs[pkg] = true
		}
	}
	for _, q := range pkg.Imports() {
		p.classify(q, seen)
	}
}

func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// declarations lists the functions and named types of one package.
func (p *program) declarations(pkg *packages.Package) {
	short := pkg.PkgPath
	if pkg.Name == "main" {
		short = "main"
	}
	for _, file := range pkg.Syntax {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				obj, ok := pkg.TypesInfo.Defs[d.Name].(*types.Func)
				if !ok || d.Body == nil {
					continue
				}
				f := &function{pkg: pkg, obj: obj, node: d, name: short + "." + methodName(obj)}
				p.funcs[obj] = f
				p.order = append(p.order, f)
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					p.order = append(p.order, &function{pkg: pkg, node: d, name: short + ".init"})
				}
			}
		}
	}
	for _, obj := range pkg.TypesInfo.Defs {
		if tn, ok := obj.(*types.TypeName); ok && !tn.IsAlias() {
			if n, ok := tn.Type().(*types.Named); ok && !types.IsInterface(n) {
				p.named = append(p.named, n)
			}
		}
	}
}

// methodName is "F", "T.F" or "(*T).F".
func methodName(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	n := namedOf(recv.Type())
	if n == nil {
		return f.Name()
	}
	if _, ok := types.Unalias(recv.Type()).(*types.Pointer); ok {
		return "(*" + n.Obj().Name() + ")." + f.Name()
	}
	return n.Obj().Name() + "." + f.Name()
}

// namedOf returns the named type that t is or points to, nil if it is neither.
func namedOf(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// apiType returns the name of the API message type that t is or points to,
// empty for any other type.
func (p *program) apiType(t types.Type) string {
	n := namedOf(t)
	if n == nil || n.Obj().Pkg() == nil || !p.api[n.Obj().Pkg()] {
		return ""
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return ""
	}
	return n.Obj().Name()
}

// evidence says where a node is.
func (p *program) evidence(f *function, at token.Pos) capability.Evidence {
	file, line := p.place(f.pkg, at)
	return capability.Evidence{Function: f.name, File: file, Line: line}
}

// place returns the file, relative to the main module or led by its own module
// and version, and the line.
func (p *program) place(pkg *packages.Package, at token.Pos) (string, int) {
	pos := p.fset.Position(at)
	if rel, err := filepath.Rel(p.root, pos.Filename); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), pos.Line
	}
	if m := pkg.Module; m != nil && m.Dir != "" {
		if rel, err := filepath.Rel(m.Dir, pos.Filename); err == nil && filepath.IsLocal(rel) {
			return m.Path + "@" + m.Version + "/" + filepath.ToSlash(rel), pos.Line
		}
	}
	return pkg.PkgPath + "/" + filepath.Base(pos.Filename), pos.Line
}

// shown is the place of a node for a sentence.
func (p *program) shown(f *function, at token.Pos) string {
	file, line := p.place(f.pkg, at)
	return fmt.Sprintf("%s:%d", file, line)
}
