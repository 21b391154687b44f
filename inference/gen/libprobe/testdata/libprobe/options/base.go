package main

import nrigen "github.com/containerd/nri/pkg/runtime-tools/generate"

// options are those of a version without CDI.
func options() []nrigen.GeneratorOption { return classOptions() }
