package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/internal/gomod"
	"github.com/nri-compat/nri-compat/internal/report"
	"golang.org/x/mod/semver"
)

// pinRun is one run on one file: what it found out so far.
type pinRun struct {
	*pinOptions
	file *gomod.File
	plan gomod.Plan
	doc  *report.Pin
}

// pin finds what has to change for a release.
func (p *pinRun) pin(ctx context.Context, path string) error {
	imported := ""
	needed := p.file.Requires(gomod.Kubernetes)
	if !needed {
		var err error
		if imported, err = gomod.FindImport(ctx, filepath.Dir(path), gomod.Kubernetes); err != nil {
			return err
		}
		needed = imported != ""
	}
	p.doc.Needed = &needed
	release := p.kubernetes
	if !needed {
		p.doc.Kubernetes = strings.TrimPrefix(release, "v")
		p.notNeeded()
		return nil
	}
	if release == "" {
		var err error
		if release, err = p.required(imported); err != nil {
			return err
		}
	}
	p.doc.Kubernetes = strings.TrimPrefix(release, "v")
	start := time.Now()
	r, err := gomod.ReadRelease(ctx, release, p.env)
	p.log.Info("asked the go command for the go.mod of Kubernetes", "release", release, "answered", err == nil, took(start))
	if err != nil {
		if !p.check || ctx.Err() != nil {
			return err
		}
		p.incomplete(release, err)
		return nil
	}
	if p.plan, err = p.file.Pin(r); err != nil {
		return err
	}
	p.changes(p.plan.Changes)
	p.doc.Kept = append(p.doc.Kept, p.plan.Foreign...)
	if have := p.file.Go(); r.Go != "" && (have == "" || semver.Compare("v"+have, "v"+r.Go) < 0) {
		p.notef("Kubernetes %s needs go %s: 'go mod tidy' raises the go directive", p.doc.Kubernetes, r.Go)
	}
	return nil
}

// required is the release that the file requires.
func (p *pinRun) required(imported string) (string, error) {
	if imported != "" {
		return "", fmt.Errorf("%s imports %s, which go.mod does not require: name a release with --kubernetes", imported, gomod.Kubernetes)
	}
	v := p.file.Version(gomod.Kubernetes)
	if v == "" {
		return "", fmt.Errorf("%s: %s is replaced by something else than a release: name a release with --kubernetes", p.doc.File, gomod.Kubernetes)
	}
	if _, err := gomod.ParseVersion(v); err != nil {
		return "", fmt.Errorf("%s: %w", p.doc.File, err)
	}
	return v, nil
}

// notNeeded reports on a module that does without pins.
func (p *pinRun) notNeeded() {
	if pins := p.file.Pins(); len(pins) > 0 {
		p.notef("not needed, and taken out by --drop: replace directives of %s", strings.Join(pins, ", "))
	}
	if p.check {
		p.changes(p.file.Disagreements(""))
	}
}

// incomplete reports what the file itself says where the release could not be
// read.
func (p *pinRun) incomplete(release string, err error) {
	p.doc.Complete = false
	p.notef("only compared what stands in the file: %s", oneLine(err.Error()))
	p.changes(p.file.Disagreements(gomod.StagingVersion(release)))
}

func (p *pinRun) dropPins() error {
	var err error
	if p.plan, err = p.file.Drop(); err != nil {
		return err
	}
	p.changes(p.plan.Changes)
	p.doc.Kept = append(p.doc.Kept, p.plan.Foreign...)
	if p.file.Requires(gomod.Kubernetes) && len(p.plan.Changes) > 0 {
		p.notef("the file requires %s, which cannot be built without pins", gomod.Kubernetes)
	}
	return nil
}

func (p *pinRun) changes(list []gomod.Change) {
	for _, c := range list {
		p.doc.Changes = append(p.doc.Changes, report.PinChange{Directive: c.Directive, Module: c.Module, From: c.From, To: c.To})
	}
}

func (p *pinRun) notef(format string, args ...any) {
	p.doc.Notes = append(p.doc.Notes, fmt.Sprintf(format, args...))
}

// finish writes the file if it is to be written, then the report.
func (p *pinRun) finish(path string) error {
	n := len(p.plan.Changes)
	if n > 0 && p.diff {
		p.doc.Diff = string(p.file.Diff(p.plan))
	}
	if n > 0 && !p.diff && !p.check {
		if err := writeFile(path, p.plan.Data); err != nil {
			return err
		}
		p.doc.Written = true
	}
	p.doc.Summary = p.summary()
	if err := p.write(p.doc); err != nil {
		return err
	}
	switch {
	case p.check && (len(p.doc.Changes) > 0 || p.contradictions() > 0):
		return statusError(exitIncompatible)
	case p.check && !p.doc.Complete:
		return statusError(exitInconclusive)
	}
	return nil
}

func (p *pinRun) summary() string {
	d := p.doc
	n := len(d.Changes)
	changes := fmt.Sprintf("%d changes", n)
	if n == 1 {
		changes = "1 change"
	}
	unneeded := d.Needed != nil && !*d.Needed
	switch {
	case p.check && p.contradictions() > 0:
		lines := fmt.Sprintf("%d lines of the workspace %s contradict", p.contradictions(), d.Workspace.File)
		if p.contradictions() == 1 {
			lines = fmt.Sprintf("1 line of the workspace %s contradicts", d.Workspace.File)
		}
		if n > 0 {
			return fmt.Sprintf("drift: %s needs %s, and %s it", d.File, changes, lines)
		}
		return fmt.Sprintf("drift: %s %s", lines, d.File)
	case p.check && n > 0:
		return fmt.Sprintf("drift: %s needs %s", d.File, changes)
	case p.check && !d.Complete:
		return fmt.Sprintf("undecided: nothing in %s contradicts itself, but which pins it needs could not be read", d.File)
	case unneeded && p.check:
		return fmt.Sprintf("no drift: %s needs no pins, and its staging modules agree", d.File)
	case unneeded:
		return fmt.Sprintf("%s needs no pins: the module does not import %s; nothing was changed", d.File, gomod.Kubernetes)
	case p.check:
		return fmt.Sprintf("no drift: %s is pinned to Kubernetes %s", d.File, d.Kubernetes)
	case n == 0 && p.drop:
		return fmt.Sprintf("%s has no pins; nothing was changed", d.File)
	case n == 0:
		return fmt.Sprintf("%s is already pinned to Kubernetes %s; nothing was changed", d.File, d.Kubernetes)
	case p.diff:
		return fmt.Sprintf("%s would have %s; nothing was changed", d.File, changes)
	case p.drop:
		return fmt.Sprintf("%s: pins dropped, %s", d.File, changes)
	}
	return fmt.Sprintf("%s: pinned to Kubernetes %s, %s; run 'go mod tidy'", d.File, d.Kubernetes, changes)
}
