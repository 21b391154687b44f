package binary

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// Inspect reads from an executable of the given size what NRI plugin it is and
// which capabilities it can use. name is what the plugin is called in the
// result and in errors, usually the path of the file.
//
// The error wraps [ErrNoAPI] or [ErrRuntime] for a Go program that is no NRI
// plugin, and another of the package's errors if nothing can be said. Where only a part can
// be said, the result has gaps.
func Inspect(ctx context.Context, r io.ReaderAt, size int64, name string) (found.Plugin, error) {
	p, err := inspect(ctx, r, size, name)
	if err != nil {
		return found.Plugin{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func inspect(ctx context.Context, r io.ReaderAt, size int64, name string) (found.Plugin, error) {
	format, err := sniff(r, size)
	if err != nil {
		return found.Plugin{}, err
	}
	info := buildInfo(r, size)
	p := found.Plugin{
		Name: path.Base(strings.ReplaceAll(name, `\`, "/")), Ref: name, Path: name, Reader: "binary", Identity: identity(info),
		Requirements: []capability.Requirement{}, Gaps: []string{}, Warnings: []string{}, Opaque: []string{},
	}
	if format != "ELF" {
		return foreignFormat(p, info, format)
	}
	im, err := openImage(r, size)
	if err != nil {
		return found.Plugin{}, err
	}
	p.Identity.Stripped, p.Identity.PIE = im.stripped, im.pie
	if im.machine != elf.EM_X86_64 && im.machine != elf.EM_AARCH64 || !im.little() {
		return foreignFormat(p, info, fmt.Sprintf("ELF for %v", im.machine))
	}
	prog, err := newProgram(ctx, im, p.Identity.Module)
	if err != nil {
		return withoutTables(p, info, err)
	}
	return prog.analyse(ctx, p, info)
}

// sniff tells what kind of file it is, without reading much of it.
func sniff(r io.ReaderAt, size int64) (string, error) {
	if size <= 0 {
		return "", fmt.Errorf("%w: the file is empty", ErrNotExecutable)
	}
	head := make([]byte, min(size, 4096))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("cannot read: %w", err)
	}
	has := func(magics ...string) bool {
		return slices.ContainsFunc(magics, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}
	switch {
	case has("#!"):
		return "", ErrScript
	case has("\x00asm"):
		return "", ErrWasm
	case has("\x7fELF"):
		if packed(r, size, head) {
			return "", ErrPacked
		}
		return "ELF", nil
	case has("\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xfe\xed\xfa\xce", "\xca\xfe\xba\xbe"):
		return "Mach-O", nil
	case has("MZ"):
		return "PE", nil
	}
	return "", ErrNotExecutable
}

// packed tells whether UPX has left its mark at the start or end of the file.
func packed(r io.ReaderAt, size int64, head []byte) bool {
	mark := []byte("UPX!")
	if bytes.Contains(head, mark) {
		return true
	}
	tail := make([]byte, min(size, 4096))
	n, _ := r.ReadAt(tail, size-int64(len(tail)))
	return bytes.Contains(tail[:n], mark)
}

// foreignFormat is the result for a program whose code cannot be read.
func foreignFormat(p found.Plugin, info *debug.BuildInfo, format string) (found.Plugin, error) {
	if info == nil {
		return p, ErrNotGo
	}
	p.NRI = apiModule(info, nil)
	if p.NRI.Module == "" {
		return p, ErrNoAPI
	}
	p.Gaps = append(p.Gaps, fmt.Sprintf("requirements cannot be read from this kind of executable (%s): build the plugin for linux on amd64 or arm64, or use its source", format))
	return p, nil
}

// withoutTables is the result for an ELF program whose tables could not be
// read: what the build information says is kept.
func withoutTables(p found.Plugin, info *debug.BuildInfo, err error) (found.Plugin, error) {
	if errors.Is(err, ErrNoAPI) || info == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return p, err
	}
	if p.NRI = apiModule(info, nil); p.NRI.Module == "" {
		return p, err
	}
	p.Gaps = append(p.Gaps, fmt.Sprintf("requirements could not be read: %v", err))
	return p, nil
}

// analyse does all that rests on the program's tables.
func (prog *program) analyse(ctx context.Context, p found.Plugin, info *debug.BuildInfo) (found.Plugin, error) {
	if prog.known.adaptation && len(prog.known.stubNew) == 0 && len(prog.services()) == 0 {
		return p, ErrRuntime
	}
	p.NRI = apiModule(info, prog.api.packages)
	var d descriptor
	var inliners []int
	fl := newFlow(prog)
	refs, err := prog.scan(ctx, fl.prepare,
		func() { d = findDescriptor(prog.im, prog.funcs.m.tables()...) },
		func() { prog.findInlinable(); inliners = prog.inliners() })
	if err != nil {
		return p, err
	}
	compareProtocol(&p.NRI, d)
	if len(d) == 0 {
		p.Warnings = append(p.Warnings, "the program has no description of the NRI protocol: which version it speaks is known from its modules only")
	}
	if info == nil {
		p.Warnings = append(p.Warnings, "the program has no Go build information: who it is cannot be told")
	}
	if err := fl.follow(ctx, refs); err != nil {
		return p, err
	}
	h := prog.findHandlers(fl)
	uses := prog.collect(refs, inliners, fl, h.entries)
	reqs := append(symbols.Requirements(uses, capability.FromBinary), h.reqs...)
	reqs = append(reqs, prog.updates(refs, fl, h.called)...)
	p.Requirements = tidy(capability.Normalize(reqs))
	p.Opaque = append(p.Opaque, prog.opaque(fl)...)
	p.Warnings = append(p.Warnings, h.warnings...)
	p.Gaps = append(p.Gaps, h.gaps...)
	if err := prog.im.failed.Load(); err != nil {
		return p, *err
	}
	if prog.damaged > 0 {
		p.Gaps = append(p.Gaps, fmt.Sprintf("the program is damaged: %d of its %d functions cannot be read", prog.damaged, prog.funcs.len()))
	}
	if len(fl.gaveUp) > 0 {
		slices.Sort(fl.gaveUp)
		p.Gaps = append(p.Gaps, fmt.Sprintf("fields used in %s could not be followed: too large", strings.Join(fl.gaveUp[:min(3, len(fl.gaveUp))], ", ")))
	}
	return p, nil
}
