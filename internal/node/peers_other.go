//go:build !linux

package node

import (
	"context"
	"errors"
	"runtime"
)

// peers cannot be had: only Linux tells which processes use a socket.
func (h Host) peers(context.Context, string) (map[uint32]bool, []string, error) {
	return nil, nil, errors.New("not to be found out on " + runtime.GOOS + ": " + errors.ErrUnsupported.Error())
}

// listeners cannot be had either.
func (h Host) listeners(context.Context, []string) (map[uint32]string, []string, error) {
	return nil, nil, errors.New("not to be found out on " + runtime.GOOS + ": " + errors.ErrUnsupported.Error())
}
