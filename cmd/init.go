package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/nri-compat/nri-compat/internal/config"
	"github.com/spf13/cobra"
)

// newInit returns the command that begins a configuration file.
func newInit(a *app) *cobra.Command {
	var force bool
	var runtimes []string
	c := &cobra.Command{
		Use:     "init",
		GroupID: groupCheck,
		Short:   "Write a configuration file for check",
		Long: `Write ` + config.FileName + ` for check into the current directory, or into the file of
--config: the plugins that are found there, as source code or in bin, and the
runtimes of --runtime. An existing file is left alone unless --force is given.`,
		Example: `  nri-compat init
  nri-compat init --runtime 'containerd@>=2.0' --runtime cri-o@1.34.x`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if len(a.outputs.list) > 0 {
				return usagef("init writes a configuration file only: leave out --output")
			}
			t, err := a.loadTable()
			if err != nil {
				return err
			}
			if _, err := selectAll(t, runtimes); err != nil {
				return err
			}
			path := a.configFile
			if path == "" {
				path = config.FileName
			}
			if _, err := os.Lstat(path); !force && !errors.Is(err, os.ErrNotExist) {
				if err != nil {
					return err
				}
				return fmt.Errorf("%s exists already: --force replaces it", path)
			}
			plugins, err := config.Find(".")
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := config.Write(&b, plugins, runtimes); err != nil {
				return err
			}
			if err := writeFile(path, b.Bytes()); err != nil {
				return err
			}
			if !a.quiet {
				fmt.Fprintf(a.stdout, "wrote %s with %d plugins\n", path, len(plugins))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace an existing file")
	c.Flags().StringArrayVar(&runtimes, "runtime", []string{"containerd@>=1.7", "cri-o@>=1.31"}, "`RUNTIME`s to check, repeatable")
	complete(c, "runtime", releaseNames)
	return c
}
