package cmd

import (
	"fmt"
	"io"
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
			if err := a.acceptOutputs(&versionDocument{}); err != nil {
				return err
			}
			t, err := a.loadTable()
			if err != nil {
				return err
			}
			return a.write(&versionDocument{
				Head: a.head("version", t), Go: runtime.Version(),
				NRI: inference.NewestNRI, Releases: len(t.Releases("")),
			})
		},
	}
}

type versionDocument struct {
	report.Head
	Go string `json:"go"`
	// NRI is the newest version of the NRI library that was read.
	NRI      string `json:"nri"`
	Releases int    `json:"releases"`
}

// Text writes the versions, one a line.
func (v *versionDocument) Text(w io.Writer, _ report.Style) error {
	_, err := fmt.Fprintf(w, "nri-compat %s (%s)\ntable %s (%s), %d releases, NRI up to %s\n",
		v.Tool.Version, v.Go, v.Table.Version, v.Table.Origin, v.Releases, v.NRI)
	return err
}

// toolVersion is the version of the module the program was built from.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
