package main

import (
	nrigen "github.com/containerd/nri/pkg/runtime-tools/generate"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

// options hands over an injector of CDI devices too: it leaves their names in
// the annotations.
func options() []nrigen.GeneratorOption {
	return append(classOptions(), nrigen.WithCDIDeviceInjector(func(spec *rspec.Spec, devices []string) error {
		if spec.Annotations == nil {
			spec.Annotations = map[string]string{}
		}
		for _, d := range devices {
			spec.Annotations["cdi"] = d
		}
		return nil
	}))
}
