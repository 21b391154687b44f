//go:build cdi

package main

import "github.com/containerd/nri/pkg/api"

func change(a *api.ContainerAdjustment) {
	a.AddCDIDevice(&api.CDIDevice{Name: "example.com/gpu=0"})
}
