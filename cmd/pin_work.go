package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nri-compat/nri-compat/internal/gomod"
	"github.com/nri-compat/nri-compat/internal/report"
)

// noWork refuses a go.work file in place of a go.mod: each module has pins of
// its own.
func noWork(path string) error {
	work := path
	if filepath.Base(path) == "go.mod" {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		work = filepath.Join(filepath.Dir(path), "go.work")
		if _, err := os.Stat(work); err != nil {
			return nil // that there is no go.mod is the mistake
		}
	} else if filepath.Ext(path) != ".work" {
		return nil
	}
	data, err := readModule(work)
	if err != nil {
		return err
	}
	w, err := gomod.ParseWork(work, data)
	if err != nil {
		return err
	}
	return usagef("%s is a workspace, and its modules are pinned one by one: name one of %s", work, strings.Join(w.Uses(), ", "))
}

// workspace looks for what in the workspace of the module contradicts the pins
// that its go.mod has, or is to have.
func (p *pinRun) workspace(path string) error {
	if !p.check && len(p.plan.Data) == 0 {
		return nil // it needs no pins
	}
	found, err := gomod.FindWork(filepath.Dir(path), p.getenv("GOWORK"))
	if err != nil || found == "" {
		return err
	}
	if err := p.contradicted(path, found); err != nil {
		return fmt.Errorf("%w (GOWORK=off leaves the workspace out)", err)
	}
	return nil
}

func (p *pinRun) contradicted(path, found string) error {
	name := shortPath(found)
	data, err := readModule(name)
	if err != nil {
		return err
	}
	work, err := gomod.ParseWork(name, data)
	if err != nil {
		return err
	}
	d := &report.PinWorkspace{File: filepath.ToSlash(name), Contradictions: []report.PinContradiction{}}
	p.doc.Workspace = d
	var others []*gomod.File
	for _, use := range work.Uses() {
		dir := use
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(found), dir)
		}
		if sameFile(filepath.Join(dir, "go.mod"), path) {
			d.Uses = true
			continue
		}
		other, err := readGoMod(shortPath(filepath.Join(dir, "go.mod")))
		if err != nil {
			return fmt.Errorf("%s uses %s: %w", name, use, err)
		}
		others = append(others, other)
	}
	if !d.Uses {
		p.notef("%s does not use this module: go commands in it need GOWORK=off", d.File)
		return nil
	}
	pinned := p.file
	if len(p.plan.Data) > 0 {
		if pinned, err = gomod.Parse(path, p.plan.Data); err != nil {
			return err
		}
	}
	for _, c := range work.Contradictions(pinned, others) {
		d.Contradictions = append(d.Contradictions, report.PinContradiction{
			File: filepath.ToSlash(c.File), Line: c.Line, Directive: c.Directive, Module: c.Module, Found: c.Found, Want: c.Want,
		})
	}
	return nil
}

// contradictions counts what in the workspace contradicts the pins.
func (p *pinRun) contradictions() int {
	if p.doc.Workspace == nil {
		return 0
	}
	return len(p.doc.Workspace.Contradictions)
}

// sameFile tells whether two paths are those of one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// shortPath is a path from the current directory where that is shorter.
func shortPath(path string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
