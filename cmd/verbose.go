package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// startLog makes the logger that -v asks for: what is read and how long it
// takes, with a second -v every step. Without -v nothing is logged. There is no
// time in front of a line: what matters is how long something took.
func (a *app) startLog() {
	if a.verbose == 0 {
		return
	}
	level := slog.LevelInfo
	if a.verbose > 1 {
		level = slog.LevelDebug
	}
	a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
		if len(groups) == 0 && attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}}))
}

// took is the attribute that says how long something took.
func took(start time.Time) slog.Attr {
	return slog.Duration("took", time.Since(start).Round(time.Microsecond))
}

// fileSize is the attribute that says how long a file is; it is left out for
// what is no file.
func fileSize(path string) slog.Attr {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return slog.Int64("bytes", info.Size())
	}
	return slog.Attr{}
}

// The bounds of what is said of the causes of an error.
const (
	maxCauses    = 20
	maxCauseLine = 500 // runes
)

// tellCauses writes below an error what is known of its causes, if -v asks for
// more.
func (a *app) tellCauses(err error, said string) {
	if a.verbose == 0 {
		return
	}
	for _, line := range causes(err, said) {
		fmt.Fprintf(a.stderr, "  %s\n", line)
	}
}

// causes returns what the errors that err wraps know beyond what was said
// already, a line each, outermost first.
func causes(err error, said string) []string {
	var lines []string
	heard := []string{oneLine(strings.Join(strings.Fields(said), " "))}
	add := func(text string) {
		for line := range strings.Lines(text) {
			line = oneLine(strings.Join(strings.Fields(line), " "))
			known := slices.ContainsFunc(heard, func(h string) bool { return strings.Contains(h, line) })
			if line == "" || known || len(lines) > maxCauses {
				continue
			}
			heard = append(heard, line)
			if runes := []rune(line); len(runes) > maxCauseLine {
				line = string(runes[:maxCauseLine]) + "…"
			}
			if len(lines) == maxCauses {
				line = "…"
			}
			lines = append(lines, line)
		}
	}
	var walk func(error)
	walk = func(err error) {
		for _, fact := range facts(err) {
			add(fact)
		}
		switch e := err.(type) {
		case interface{ Unwrap() []error }:
			for _, cause := range e.Unwrap() {
				walk(cause)
			}
			return
		case interface{ Unwrap() error }:
			if cause := e.Unwrap(); cause != nil {
				walk(cause)
				return
			}
		}
		// What wraps nothing says it all. That it took too long was said in words
		// that name the flag.
		if err != context.DeadlineExceeded {
			// Some lists of errors cannot be walked, but asked.
			var call *os.SyscallError
			if errors.As(err, &call) && error(call) != err {
				walk(call)
			}
			add(err.Error())
		}
	}
	if err != nil {
		walk(err)
	}
	return lines
}

// facts are what an error of a known type holds, whether its text says so or
// not. Errors of this program tell it themselves.
func facts(err error) []string {
	switch e := err.(type) {
	case interface{ Details() []string }:
		return e.Details()
	case *fs.PathError:
		path := e.Path
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return []string{"system call " + e.Op + " of " + path + errno(e.Err)}
	case *os.SyscallError:
		return []string{"system call " + e.Syscall + errno(e.Err)}
	case *net.OpError:
		if e.Addr != nil {
			return []string{e.Op + " " + e.Net + " " + e.Addr.String()}
		}
	case *exec.ExitError:
		return []string{e.ProcessState.String(), string(e.Stderr)}
	case *url.Error:
		if u, err := url.Parse(e.URL); err == nil {
			// As the text of the error has it, where it says so.
			return []string{strings.Replace(u.Redacted(), ":xxxxx@", ":***@", 1)}
		}
	case *json.SyntaxError:
		return []string{fmt.Sprintf("JSON at byte %d", e.Offset)}
	case *json.UnmarshalTypeError:
		return []string{fmt.Sprintf("JSON at byte %d", e.Offset)}
	}
	return nil
}

// errno words the number of a system error, empty if it is none.
func errno(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return ""
	}
	return fmt.Sprintf(": error %d, %s", uintptr(number), number)
}
