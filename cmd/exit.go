package cmd

import (
	"errors"
	"fmt"

	"github.com/nri-compat/nri-compat/capability"
)

// The exit statuses, the same for every command and every format.
const (
	exitOK           = 0   // the question was answered; if it was a gate, compatible
	exitError        = 1   // could not do the work
	exitUsage        = 2   // unknown command, flag or value, missing argument, no command
	exitIncompatible = 3   // something required is missing, or a comparison lost something
	exitInconclusive = 4   // something required could not be decided
	exitInterrupted  = 130 // SIGINT or SIGTERM
)

// statusError ends the program with a status and says nothing: the report
// said it already.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake in what was typed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// usage marks an error as a mistake in what was typed; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// status finds the exit status of an error. Before a command has started every
// error is one of usage: cobra found it.
func status(err error, started bool) int {
	if err == nil {
		return exitOK
	}
	var s statusError
	if errors.As(err, &s) {
		return int(s)
	}
	var u *usageError
	if errors.As(err, &u) || !started {
		return exitUsage
	}
	return exitError
}

// failOn says which outcomes make a check fail.
type failOn string

const (
	failOnUnknown  failOn = "unknown"   // 3 and 4
	failOnMissing  failOn = "missing"   // 3; what could not be decided passes
	failOnKnownBug failOn = "known-bug" // 3 and 4; a known bug counts as missing
	failOnNever    failOn = "never"     // neither
)

// gate turns verdicts into an exit status: incompatible beats inconclusive.
type gate struct {
	fail   failOn
	worst  capability.Verdict
	hasBug bool
}

func newGate(f failOn) *gate { return &gate{fail: f, worst: capability.Compatible} }

func (g *gate) add(v capability.Verdict, bug bool) {
	g.hasBug = g.hasBug || bug
	if g.worst == capability.Compatible || v == capability.Incompatible {
		g.worst = v
	}
}

func (g *gate) err() error {
	switch {
	case g.fail == failOnNever:
	case g.worst == capability.Incompatible, g.fail == failOnKnownBug && g.hasBug:
		return statusError(exitIncompatible)
	case g.worst == capability.Inconclusive && g.fail != failOnMissing:
		return statusError(exitInconclusive)
	}
	return nil
}
