package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/config"
	"github.com/spf13/cobra"
)

// loadConfig reads the configuration file: of --config, else of
// NRI_COMPAT_CONFIG, else of the current directory if it has one. Without one it
// returns an empty configuration. What is wrong with the file is a mistake in
// what was typed; that it cannot be read is not.
func (a *app) loadConfig() (*config.File, error) {
	path := a.configFile
	if path == "" {
		path = a.getenv("NRI_COMPAT_CONFIG")
	}
	named := path != ""
	if !named {
		path = config.FileName
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return &config.File{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory, not a configuration file")}
	}
	file, err := config.Read(f, path)
	if err == nil {
		a.log.Info("read the configuration", "file", path, fileSize(path), "plugins", len(file.Plugins), "runtimes", len(file.Runtimes), "waivers", len(file.Waivers))
	}
	return file, usage(err)
}

// apply lets the configuration stand in for what was not typed. What it says is
// checked here, to be complained about with its line.
//
// Runtimes are for what was named: the plugins of a node have a runtime.
func (o *targetOptions) apply(file *config.File, t *inference.Table, named bool) error {
	if len(o.runtimes) == 0 && named {
		for _, text := range file.Runtimes {
			if _, err := t.Select(text.Value); err != nil && text.Value != "node" {
				return usage(file.At(text, err))
			}
			o.runtimes = append(o.runtimes, text.Value)
		}
	}
	var assume []string
	for _, text := range file.Assume {
		if _, _, err := t.ParseAssumption(text.Value); err != nil {
			return usage(file.At(text, err))
		}
		assume = append(assume, text.Value)
	}
	o.assume = append(assume, o.assume...) // the later one of a name counts
	return nil
}

// applyFailOn lets the configuration stand in for a --fail-on that was not
// typed.
func applyFailOn(c *cobra.Command, file *config.File, value *enum) error {
	if c.Flags().Changed("fail-on") || file.FailOn.Value == "" {
		return nil
	}
	if err := value.Set(file.FailOn.Value); err != nil {
		return usage(file.At(file.FailOn, fmt.Errorf("invalid failOn %q: %w", file.FailOn.Value, err)))
	}
	return nil
}
