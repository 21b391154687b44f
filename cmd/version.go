package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupData,
		Short:   "Print the versions of the program and of its release table",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.acceptOutputs(&report.Version{}); err != nil {
				return err
			}
			t, err := a.loadTable()
			if err != nil {
				return err
			}
			return a.write(&report.Version{
				Head: a.head("version", t), Go: runtime.Version(),
				NRI: inference.NewestNRI, Releases: len(t.Releases("")),
			})
		},
	}
}

// toolVersion is the version of the module the program was built from.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
