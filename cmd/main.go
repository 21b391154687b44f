// Package cmd is the command line of nri-compat: one file a command, each
// joining the packages that do the work.
//
// # Exit status
//
//	0    the question was answered; if it was a gate, compatible
//	1    could not do the work: unreadable file, bad table, write failed
//	2    usage: unknown command, flag or value, missing argument, no command
//	3    incompatible: something required is missing or harmful
//	4    inconclusive: something required could not be decided
//	130  interrupted
//
// The status is the same in every format.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
)

// Main runs the program and returns its exit status. args[0] is its name; env
// has the form of os.Environ.
func Main(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	a := newApp(env, stdin, stdout, stderr)
	root := newRoot(a)
	a.name = programName(args[0])
	callIt(root, a.name)
	root.SetArgs(args[1:])
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		return exitInterrupted // whatever it was doing, a signal ended it
	}
	code := status(err, a.started)
	a.complain(err, code)
	return code
}

// complain writes an error as one line, and for a mistake in what was typed
// where to read on.
func (a *app) complain(err error, code int) {
	var silent statusError
	if err == nil || errors.As(err, &silent) {
		return
	}
	text := a.errorText(err)
	fmt.Fprintf(a.stderr, "nri-compat: %s\n", text)
	a.tellCauses(err, text)
	if code == exitUsage {
		command := a.path
		if command == "" {
			command = a.name
		}
		fmt.Fprintf(a.stderr, "Run '%s --help' for usage.\n", command)
	}
}

// errorText is an error as one line for a person.
func (a *app) errorText(err error) string {
	text := oneLine(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		gaveUp := fmt.Sprintf("gave up after %s (--timeout)", a.timeout)
		text = strings.ReplaceAll(text, context.DeadlineExceeded.Error(), gaveUp)
	}
	return text
}

// oneLine keeps an error on one line and free of control characters.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	s = strings.ReplaceAll(s, "\n\nDid you mean this?\n\t", ": did you mean ")
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
