// Notaplugin is the other side: a small runtime that takes NRI plugins. It has
// no expect.txt, because a reader must refuse it.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/adaptation"
)

func main() {
	sync := func(context.Context, adaptation.SyncCB) error { return nil }
	update := func(context.Context, []*adaptation.ContainerUpdate) ([]*adaptation.ContainerUpdate, error) {
		return nil, nil
	}
	a, err := adaptation.New("notaplugin", "1.0.0", sync, update)
	if err != nil {
		os.Exit(1)
	}
	if err := a.Start(); err != nil {
		os.Exit(1)
	}
}
