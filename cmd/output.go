package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nri-compat/nri-compat/internal/report"
	"golang.org/x/term"
)

// output is one --output: a format, and a file unless it goes to standard
// output.
type output struct {
	format report.Format
	file   string
}

// outputs is the value of the repeatable --output flag.
type outputs struct{ list []output }

func (o *outputs) String() string { return "" }

// Type names the value in the help.
func (o *outputs) Type() string { return "format[=file]" }

func (o *outputs) Set(s string) error {
	format, file, named := strings.Cut(s, "=")
	if named && file == "" {
		return fmt.Errorf("no file behind %q", s)
	}
	switch format {
	case "jsonpath", "go-template", "template":
		return fmt.Errorf("unknown format %q: use -o json with jq", format)
	case "md":
		format = "markdown"
	case "yml":
		format = "yaml"
	}
	for _, known := range report.AllFormats() {
		if format == string(known) {
			o.list = append(o.list, output{known, file})
			return nil
		}
	}
	return fmt.Errorf("unknown format %q: use one of %s", format, joinFormats(report.AllFormats()))
}

// enum is a flag that takes one of a few words.
type enum struct {
	value   string
	allowed []string
}

func (e *enum) String() string { return e.value }

// Type names the value in the help.
func (e *enum) Type() string { return strings.Join(e.allowed, "|") }

func (e *enum) Set(s string) error {
	for _, word := range e.allowed {
		if s == word {
			e.value = s
			return nil
		}
	}
	return fmt.Errorf("use one of %s", strings.Join(e.allowed, ", "))
}

// style finds out how text to standard output may look.
func (a *app) style() report.Style {
	s := report.Style{}
	f, ok := a.stdout.(*os.File)
	tty := ok && term.IsTerminal(int(f.Fd()))
	if tty {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.Width = width
		}
	}
	s.Color = a.wantColor(tty)
	return s
}

// wantColor decides on colour: the flag, then NO_COLOR, then CLICOLOR_FORCE or
// FORCE_COLOR, then whether it is a terminal that can.
func (a *app) wantColor(tty bool) bool {
	forced := func(name string) bool { v := a.getenv(name); return v != "" && v != "0" }
	switch {
	case a.color.value != "auto":
		return a.color.value == "always"
	case a.getenv("NO_COLOR") != "":
		return false
	case forced("CLICOLOR_FORCE"), forced("FORCE_COLOR"):
		return true
	}
	return tty && a.getenv("TERM") != "dumb"
}

// writeFile writes a file through a temporary one next to it, so that there is
// never half a file. A device or pipe is written to as it is.
func writeFile(path string, data []byte) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return appendTo(path, data)
		}
		mode = info.Mode().Perm()
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Chmod(mode); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func appendTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
