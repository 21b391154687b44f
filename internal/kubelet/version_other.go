//go:build !linux

package kubelet

import (
	"context"
	"errors"
	"os"
)

// runVersion is for Linux.
func runVersion(context.Context, *os.File) ([]byte, error) {
	return nil, errors.New("it can be asked on Linux only")
}

// trusted is for Linux.
func trusted(*os.File, string) error {
	return errors.New("can be asked on Linux only")
}
