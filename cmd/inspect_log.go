package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/pluginlog"
	"github.com/nri-compat/nri-compat/internal/report"
)

// maxQuote is the length of what is shown of an entry of a log.
const maxQuote = 500

// checkLog tells what does not go together with --log.
func (o *inspectOptions) checkLog(args []string) error {
	switch {
	case o.log == "":
		return nil
	case o.manifest:
		return usagef("--manifest and --log do not go together: use one of them")
	case o.log == "-" && slices.Contains(args, "-"):
		return usagef("standard input cannot be both the list of plugins and the log: name a file for one of them")
	}
	return nil
}

// readLog reads the log of a plugin, a file or "-" for standard input.
func (a *app) readLog(ctx context.Context, name string) (*pluginlog.Tail, error) {
	tail := &pluginlog.Tail{}
	start := time.Now()
	done := make(chan error, 1)
	// A pipe may never end, and cannot be told to.
	go func() {
		r := a.stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				done <- err
				return
			}
			defer f.Close()
			r = f
		}
		_, err := io.Copy(tail, r)
		if err != nil && name == "-" {
			err = fmt.Errorf("standard input: %w", err)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			a.log.Info("read a log", "file", name, "lines", tail.Lines(), took(start))
		}
		return tail, err
	case <-ctx.Done():
		if name == "-" {
			name = "standard input"
		}
		return nil, fmt.Errorf("read %s: %w", name, context.Cause(ctx))
	}
}

// logReport says what a log tells of why a plugin failed.
func logReport(t *inference.Table, name string, tail *pluginlog.Tail) report.Log {
	entries := tail.Entries()
	out := report.Log{File: name, Lines: tail.Lines()}
	for _, r := range pluginlog.Reasons(entries) {
		out.Reasons = append(out.Reasons, logReason(t, r))
	}
	if n := len(entries); n > 0 {
		last := entries[n-1]
		last.Message = last.Message[strings.LastIndexByte(last.Message, '\n')+1:]
		out.Last = quote(last)
	}
	return out
}

// logReason describes a reason for the report.
func logReason(t *inference.Table, r pluginlog.Reason) report.LogReason {
	out := report.LogReason{
		Severity: r.Entry.Severity.String(), Source: r.Entry.Source, Line: r.Entry.Line,
		Text: r.Text, Quote: quote(r.Entry), Refusal: r.Refusal, Certain: r.Certain,
	}
	for _, id := range r.Capabilities {
		out.Capabilities = append(out.Capabilities, report.NewLogCapability(t, id))
	}
	return out
}

// quote is an entry of a log in one line.
func quote(e pluginlog.Entry) string {
	text := e.Message
	if e.Err != "" && !strings.Contains(text, e.Err) {
		text = strings.TrimSuffix(text, ":") + ": " + e.Err
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxQuote {
		text = strings.ToValidUTF8(text[:maxQuote], "") + "…"
	}
	return text
}

// errNoPlugin is what inspect says if there is nothing to look at.
var errNoPlugin = errors.New("no plugin: name an executable, a directory or an image, or a log with --log")
