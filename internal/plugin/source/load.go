package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loader runs the go command for one directory.
type loader struct {
	ctx     context.Context
	dir     string
	pattern string
	flags   []string
	env     []string
	api     api
	// root is the directory of the main module.
	root string
	// goVersion, os and arch are those of the go command's answers.
	goVersion, os, arch string
}

// api is what a plugin must use to be one.
type api struct {
	name    string
	defines func(*packages.Package) bool
	// library tells which packages are no code of the plugin although they use it.
	library func(path string) bool
}

// noUse is an [ErrNoUse] in words.
type noUse struct{ text string }

func (e *noUse) Error() string { return e.text }
func (e *noUse) Unwrap() error { return ErrNoUse }

// ErrNoUse is the cause of an error about a module whose programs use nothing of
// the API in question.
var ErrNoUse = errors.New("no main package uses it")

func newLoader(ctx context.Context, dir string, o Options) (*loader, error) {
	info, err := os.Stat(dir)
	if err != nil {
		if e := new(os.PathError); errors.As(err, &e) {
			err = e.Err
		}
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("not a directory")
	}
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("the go command is needed to read source code, and is not in PATH: install Go, or give the plugin's binary instead")
	}
	l := &loader{ctx: ctx, dir: dir, pattern: o.Pattern}
	pwd, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// Plugins run on Linux, whatever this machine is. A packages driver would be
	// another program than the one the documentation names.
	l.env = append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOPACKAGESDRIVER=off", "PWD="+pwd)
	if err := l.goEnv(); err != nil {
		return nil, err
	}
	mod := "-mod=readonly"
	if _, err := os.Stat(filepath.Join(l.root, "vendor", "modules.txt")); err == nil {
		mod = "-mod=vendor"
	}
	l.flags = []string{mod}
	if len(o.Tags) > 0 {
		l.flags = append(l.flags, "-tags="+strings.Join(o.Tags, ","))
	}
	return l, nil
}

// goEnv asks the go command for its version and the main module.
func (l *loader) goEnv() error {
	cmd := exec.CommandContext(l.ctx, "go", "env", "-json", "GOVERSION", "GOMOD", "GOOS", "GOARCH")
	cmd.Dir, cmd.Env = l.dir, l.env
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		return &failure{"go env: " + firstLine(stderr.String(), err.Error()), []string{stderr.String()}, err}
	}
	var env struct{ GOVERSION, GOMOD, GOOS, GOARCH string }
	if err := json.Unmarshal(out.Bytes(), &env); err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return errors.New("no go.mod here or above: give the directory of a Go module")
	}
	l.root, l.goVersion, l.os, l.arch = filepath.Dir(env.GOMOD), env.GOVERSION, env.GOOS, env.GOARCH
	return nil
}

// graph is what is known of the packages without their types.
type graph struct {
	mains  []*packages.Package // sorted, those that use NRI
	walked []string            // import paths, sorted
	// api holds the packages that define the API, by import path.
	api map[string]*packages.Package
	// uses holds the import paths that each main depends on and that are walked.
	uses map[string]map[string]bool
}

// graph lists the packages and finds those that depend on the API.
func (l *loader) graph() (*graph, error) {
	roots, err := packages.Load(&packages.Config{
		Context: l.ctx, Dir: l.dir, Env: l.env, BuildFlags: l.flags,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, l.pattern)
	if err != nil {
		return nil, l.loadError(err)
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("no packages match %q", l.pattern)
	}
	g := &graph{api: map[string]*packages.Package{}, uses: map[string]map[string]bool{}}
	dependent := g.dependent(roots, l.api.defines)
	all := map[string]bool{}
	var firstErr error
	for _, p := range roots {
		if err := firstError(p); err != nil && firstErr == nil {
			firstErr = l.relative(err)
		}
		if p.Name != "main" || !dependent[p] {
			continue
		}
		g.mains = append(g.mains, p)
		uses := map[string]bool{}
		packages.Visit([]*packages.Package{p}, func(q *packages.Package) bool {
			if dependent[q] && g.api[q.PkgPath] == nil && !l.api.library(q.PkgPath) {
				uses[q.PkgPath], all[q.PkgPath] = true, true
			}
			return dependent[q]
		}, nil)
		g.uses[p.PkgPath] = uses
	}
	if len(g.mains) == 0 {
		// Where something could not be listed, the use of NRI may be in it.
		if firstErr != nil {
			return nil, firstErr
		}
		return nil, &noUse{fmt.Sprintf("no main package in %q uses %s", l.pattern, l.api.name)}
	}
	for _, p := range g.mains {
		if err := firstError(p); err != nil {
			return nil, l.relative(err)
		}
	}
	slices.SortFunc(g.mains, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	for p := range all {
		g.walked = append(g.walked, p)
	}
	slices.Sort(g.walked)
	return g, nil
}

// dependent returns the packages that define the API or import one that does.
func (g *graph) dependent(roots []*packages.Package, defines func(*packages.Package) bool) map[*packages.Package]bool {
	dependent := map[*packages.Package]bool{}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if defines(p) {
			g.api[p.PkgPath] = p
			dependent[p] = true
		}
		for _, q := range p.Imports {
			if dependent[q] {
				dependent[p] = true
			}
		}
	})
	return dependent
}

// apiPackage is the import path of the API package of the NRI module.
const apiPackage = "github.com/containerd/nri/pkg/api"

// isLibrary tells whether a package is part of the NRI library, which is not
// the plugin's own code.
func isLibrary(path string) bool { return strings.HasPrefix(path, "github.com/containerd/nri/pkg/") }

// definesAPI tells whether a package defines the NRI API, under whatever import
// path: a generated file has its main types.
func definesAPI(p *packages.Package) bool {
	if p.PkgPath == apiPackage {
		return true
	}
	for _, name := range p.GoFiles {
		if !strings.HasSuffix(name, ".pb.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err == nil && bytes.Contains(data, []byte("\ntype ContainerAdjustment struct")) &&
			bytes.Contains(data, []byte("\ntype CreateContainerResponse struct")) {
			return true
		}
	}
	return false
}

// types loads the walked packages from source and all others from what the
// compiler exported.
func (l *loader) types(g *graph) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{
		Context: l.ctx, Dir: l.dir, Env: l.env, BuildFlags: l.flags, Fset: token.NewFileSet(),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
	}, g.walked...)
	if err != nil {
		return nil, l.loadError(err)
	}
	for _, p := range pkgs {
		if err := firstError(p); err != nil {
			return nil, l.relative(err)
		}
	}
	return pkgs, nil
}

// firstError returns the first error of a package or of what it imports. What
// the compiler says comes before what the go command makes of it.
func firstError(p *packages.Package) error {
	var compile, list []packages.Error
	packages.Visit([]*packages.Package{p}, nil, func(q *packages.Package) {
		for _, e := range q.Errors {
			if e.Kind == packages.TypeError || e.Kind == packages.ParseError {
				compile = append(compile, e)
			} else {
				list = append(list, e)
			}
		}
	})
	if len(list) > 0 {
		// That "C" cannot be imported follows from what cgo says of a missing library.
		compile = slices.DeleteFunc(compile, func(e packages.Error) bool { return strings.HasPrefix(e.Msg, "could not import C ") })
	}
	switch {
	case len(compile) > 0:
		return describe("does not compile: ", compile)
	case len(list) > 0:
		return describe("go list: ", list)
	}
	return nil
}

// describe makes one error of those of a package: the first in words, the
// others as what more there is to know.
func describe(what string, errs []packages.Error) error {
	e := errs[0]
	message := firstLine(e.Msg, "unknown error")
	if e.Pos != "" && e.Pos != "-" {
		message = e.Pos + ": " + message
	}
	if len(errs) > 1 {
		message += fmt.Sprintf(" (and %d more)", len(errs)-1)
	}
	f := &failure{text: what + message}
	for _, e := range errs {
		f.more = append(f.more, e.Error())
	}
	return f
}

// failure is an error in one line that keeps what else is known.
type failure struct {
	text string
	more []string // may have several lines each
	err  error    // the cause; nil if there is none
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// Details is what is known besides the one line.
func (f *failure) Details() []string { return f.more }

// relative shortens the paths below the module in an error.
func (l *loader) relative(err error) error {
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	shorten := func(s string) string { return strings.ReplaceAll(s, l.root+string(filepath.Separator), "") }
	out := &failure{text: shorten(err.Error())}
	if f := new(failure); errors.As(err, &f) {
		for _, line := range f.more {
			out.more = append(out.more, shorten(line))
		}
	}
	return out
}

// loadError makes one line of a failure of the go command.
func (l *loader) loadError(err error) error {
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, "stderr: "); ok {
		text = after
	}
	return l.relative(&failure{text: "go list: " + firstLine(strings.TrimPrefix(text, "err: "), "failed"), more: []string{err.Error()}})
}

// firstLine returns the first line of a text that says something.
func firstLine(text, otherwise string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading") {
			return line
		}
	}
	return otherwise
}
