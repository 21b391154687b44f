// Command nri-v0.2.0 is the runtime half of NRI v0.2.0.
package main

import (
	"os"
	"path/filepath"

	nri "github.com/containerd/nri/pkg/adaptation"

	"github.com/nri-compat/nri-compat/testdata/runtimes/adaptation"
)

func main() {
	adaptation.Main(func(dir, socket string) ([]nri.Option, error) {
		// This release does not start without a configuration file of its own.
		config := filepath.Join(dir, "nri.conf")
		if err := os.WriteFile(config, []byte("disableConnections: false\n"), 0o600); err != nil {
			return nil, err
		}
		return []nri.Option{
			nri.WithConfigPath(config),
			nri.WithPluginPath(filepath.Join(dir, "plugins")),
			nri.WithSocketPath(socket),
		}, nil
	})
}
