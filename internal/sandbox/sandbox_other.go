//go:build !linux

package sandbox

import (
	"context"
	"io"
	"time"
)

// Box is the running sandbox, as seen from outside.
type Box struct{}

// Start always fails here: see [ErrUnsupported].
func Start(context.Context, []string, Spec, any, io.Writer, io.Writer) (*Box, error) {
	return nil, ErrUnsupported
}

// Next always fails here.
func (*Box) Next(any) error { return ErrUnsupported }

// Wait always fails here.
func (*Box) Wait() error { return ErrUnsupported }

// Stage is the sandbox as seen from inside.
type Stage struct{}

// Enter always fails here: see [ErrUnsupported].
func Enter(io.Reader, any) (*Stage, error) { return nil, ErrUnsupported }

// Gone is never closed.
func (*Stage) Gone() <-chan struct{} { return nil }

// Send always fails here.
func (*Stage) Send(any) error { return ErrUnsupported }

// Fail returns the error.
func (*Stage) Fail(err error) error { return err }

// Run always fails here.
func (*Stage) Run() error { return ErrUnsupported }

// Ended is never closed.
func (*Stage) Ended() <-chan struct{} { return nil }

// Exit is always empty.
func (*Stage) Exit() string { return "" }

// Alive lists nothing.
func (*Stage) Alive() []string { return nil }

// Stop does nothing.
func (*Stage) Stop(time.Duration) bool { return true }
