//go:build !cdi

package main

import "github.com/containerd/nri/pkg/api"

func change(a *api.ContainerAdjustment) {
	a.AddDevice(&api.LinuxDevice{Path: "/dev/gpu0", Type: "c", Major: 195})
}
