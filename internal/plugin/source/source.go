// Package source reads what a plugin needs from its Go source code, with full
// type information: which fields and methods of the NRI API it uses, which
// handlers it has, what it declares.
//
// [Inspect] runs "go list" in the directory, which compiles the packages that
// the plugin imports as "go build" would; it may therefore use the network for
// modules, or the Go release that go.mod asks for, that are not there yet, as
// far as the user's Go settings allow it.
// The module is read with -mod=readonly, or -mod=vendor if it has a vendor
// directory, so that nothing in the source tree is written, and with workspaces
// off. No code of the plugin is run.
//
// # What counts
//
// The packages that are walked are those of the main package's imports that
// import the API themselves, directly or not, other modules included. The
// package that defines the API is recognised by its types, so that a plugin
// with its own copy is read like any other; it is not walked, nor is the stub.
//
// A use counts as proven if the code can be reached: from main, from init and
// package variables, from the handlers of the type given to the stub, through
// static calls, mentions of functions, calls through interfaces to every walked
// type that implements them, and methods that an interface of some other
// package asks for. What is only reached from a method that is not is marked
// unproven, because the linker keeps methods; the rest is left out, because the
// linker drops functions that nothing names.
// Reachability knows no values: code behind a condition that is never true
// counts as reachable.
package source

import (
	"context"
	"fmt"

	"golang.org/x/tools/go/packages"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

// Options change how a module is read. The zero value is ready to use.
type Options struct {
	// Pattern chooses the packages, as "go list" takes it; empty for "./...".
	Pattern string
	// Tags are build tags.
	Tags []string
	// Progress, if not nil, is told in a few words what is being done. It is
	// called from the goroutine that calls Inspect.
	Progress func(stage string)
}

// Inspect returns one plugin for each main package in the module at dir that
// uses NRI, sorted by import path. It is an error if there is none, if the go
// command is missing or fails, or if the code of such a package does not
// compile.
func Inspect(ctx context.Context, dir string, o Options) ([]found.Plugin, error) {
	return o.inspect(dir, func(o Options) ([]found.Plugin, error) { return inspect(ctx, dir, o) })
}

// inspect fills in the options and names the directory in the error.
func (o Options) inspect(dir string, read func(Options) ([]found.Plugin, error)) ([]found.Plugin, error) {
	if o.Pattern == "" {
		o.Pattern = "./..."
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	plugins, err := read(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return plugins, nil
}

// load lists the packages, and reads those of the plugins with their types.
func (l *loader) load(o Options) (*graph, []*packages.Package, error) {
	o.Progress("listing packages")
	g, err := l.graph()
	if err != nil {
		return nil, nil, err
	}
	o.Progress(fmt.Sprintf("checking the types of %d packages", len(g.walked)))
	pkgs, err := l.types(g)
	if err != nil {
		return nil, nil, err
	}
	o.Progress("reading the code")
	return g, pkgs, nil
}

func inspect(ctx context.Context, dir string, o Options) ([]found.Plugin, error) {
	l, err := newLoader(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	l.api = api{"NRI", definesAPI, isLibrary}
	g, pkgs, err := l.load(o)
	if err != nil {
		return nil, err
	}
	prog, err := newProgram(l.root, pkgs)
	if err != nil {
		return nil, err
	}
	var plugins []found.Plugin
	for _, main := range g.mains {
		plugins = append(plugins, prog.plugin(main, g, l))
	}
	return plugins, nil
}
