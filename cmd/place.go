package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/nri-compat/nri-compat/internal/config"
	"github.com/nri-compat/nri-compat/internal/plugin"
	"github.com/nri-compat/nri-compat/internal/report"
	"golang.org/x/mod/modfile"
)

// nriModule is the module of the NRI library.
const nriModule = "github.com/containerd/nri"

// sourceOf finds where the source code of a plugin lies, if it is at hand: the
// directory of its main module, and the line of its go.mod that asks for the
// NRI library. An executable has its source at hand if the current directory is
// in its module. Both are left out where that cannot be told: they only serve
// to point at.
func sourceOf(p *plugin.Plugin) (dir string, place *report.Place) {
	start := "."
	if p.Reader == "source" {
		start = p.Ref
	} else if p.Reader != "binary" {
		return "", nil
	}
	root, file := mainModule(start)
	if file == nil || file.Module == nil || p.Reader == "binary" && file.Module.Mod.Path != p.Identity.Module {
		return "", nil
	}
	dir = filepath.ToSlash(root)
	name := filepath.ToSlash(filepath.Join(root, "go.mod"))
	for _, r := range file.Replace {
		if r.Old.Path == nriModule && r.Syntax != nil {
			return dir, &report.Place{File: name, Line: r.Syntax.Start.Line}
		}
	}
	for _, r := range file.Require {
		if r.Mod.Path == nriModule && r.Syntax != nil {
			return dir, &report.Place{File: name, Line: r.Syntax.Start.Line}
		}
	}
	return dir, &report.Place{File: name, Line: 1}
}

// configPlace is where the configuration names a plugin, or for an empty
// reference the file as a whole: something to point at for what has no file in
// the repository. It is nil if the configuration does not name it.
func configPlace(file *config.File, ref string) *report.Place {
	if ref == "" && file.Name != "" {
		return &report.Place{File: filepath.ToSlash(file.Name), Line: 1}
	}
	for _, t := range file.Plugins {
		if t.Value == ref {
			return &report.Place{File: filepath.ToSlash(file.Name), Line: t.Line}
		}
	}
	return nil
}

// mainModule returns the nearest directory with a go.mod, at or above start,
// relative to the current one if start is, and what the file says.
func mainModule(start string) (string, *modfile.File) {
	for dir := filepath.Clean(start); ; {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			file, err := modfile.Parse("go.mod", text, nil)
			if err != nil {
				return "", nil
			}
			return dir, file
		}
		up := filepath.Join(dir, "..")
		if filepath.IsAbs(dir) {
			up = filepath.Dir(dir)
		}
		// A module above the current directory is not below where the check runs.
		if up == dir || up == ".." || strings.HasPrefix(up, ".."+string(filepath.Separator)) {
			return "", nil
		}
		dir = up
	}
}
