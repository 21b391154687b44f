// Command nri-v0.12.5 is the runtime half of NRI v0.12.5.
package main

import (
	"path/filepath"

	nri "github.com/containerd/nri/pkg/adaptation"

	"github.com/nri-compat/nri-compat/testdata/runtimes/adaptation"
)

func main() {
	adaptation.Main(func(dir, socket string) ([]nri.Option, error) {
		return []nri.Option{
			nri.WithPluginPath(filepath.Join(dir, "plugins")),
			nri.WithPluginConfigPath(filepath.Join(dir, "conf.d")),
			nri.WithSocketPath(socket),
		}, nil
	})
}
