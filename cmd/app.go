package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

// app is what all commands share: streams, environment, the flags that every
// command has.
type app struct {
	env            []string
	stdin          io.Reader
	stdout, stderr io.Writer

	outputs    outputs
	table      string
	configFile string
	color      enum
	quiet      bool
	verbose    int
	timeout    time.Duration

	log *slog.Logger // for -v; without it nothing comes out

	started bool   // a command runs: errors from now on are not cobra's
	name    string // how the program is called
	path    string // the command that was asked for, with its parents
}

func newApp(env []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{
		env: env, stdin: stdin, stdout: stdout, stderr: stderr,
		log:   slog.New(slog.DiscardHandler),
		color: enum{value: "auto", allowed: []string{"auto", "always", "never"}},
	}
}

// getenv returns an environment variable; the last setting counts.
func (a *app) getenv(name string) string {
	value := ""
	for _, e := range a.env {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// loadTable returns the built-in table, with the overlay of --table or
// NRI_COMPAT_TABLE laid over it.
func (a *app) loadTable() (*inference.Table, error) {
	path := a.table
	if path == "" {
		path = a.getenv("NRI_COMPAT_TABLE")
	}
	start := time.Now()
	if path == "" {
		t := inference.Builtin()
		a.log.Info("read the table", "from", "built in", "version", t.Version(), "releases", len(t.Releases("")), took(start))
		return t, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory, not a table file")}
	}
	t, err := inference.Builtin().Overlay(f, path)
	if err == nil {
		a.log.Info("read the table", "from", path, fileSize(path), "version", t.Version(), "releases", len(t.Releases("")), took(start))
	}
	return t, err
}

func (a *app) head(kind string, t *inference.Table) report.Head {
	return report.NewHead(kind, toolVersion(), t)
}

// write puts a document out in every format that was asked for. Files appear
// whole or not at all; all of them are tried, the first error is returned.
func (a *app) write(d report.Document) error {
	targets := a.outputs.list
	if len(targets) == 0 {
		if a.quiet {
			return nil
		}
		targets = []output{{format: report.Text}}
	}
	var errs []error
	for _, o := range targets {
		style := report.Style{}
		if o.file == "" {
			style = a.style()
		}
		var b bytes.Buffer
		err := report.Write(&b, d, o.format, style)
		if err == nil && o.file == "" {
			_, err = a.stdout.Write(b.Bytes())
		} else if err == nil {
			err = writeFile(o.file, b.Bytes())
		}
		if err == nil {
			a.log.Debug("wrote the report", "format", string(o.format), "to", cmp.Or(o.file, "standard output"), "bytes", b.Len())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// acceptOutputs checks the formats asked for against those of a document.
func (a *app) acceptOutputs(d report.Document) error {
	allowed := report.Formats(d)
	toStdout := 0
	for _, o := range a.outputs.list {
		if !slices.Contains(allowed, o.format) {
			return usagef("format %q is not one of this command: use %s", o.format, joinFormats(allowed))
		}
		if o.file == "" {
			toStdout++
		}
	}
	if toStdout > 1 {
		return usagef("only one --output may go to standard output: write the others as FORMAT=FILE")
	}
	return nil
}

func joinFormats(formats []report.Format) string {
	words := make([]string, len(formats))
	for i, f := range formats {
		words[i] = string(f)
	}
	return strings.Join(words, ", ")
}

func (a *app) warnf(format string, args ...any) {
	fmt.Fprintf(a.stderr, "nri-compat: warning: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// deadline bounds the work of a command that does I/O by --timeout.
func (a *app) deadline(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return context.WithTimeout(cmd.Context(), a.timeout)
}
