package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

func newTable(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "table",
		GroupID: groupData,
		Short:   "Show, export or verify the release table",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(a.stderr)
			if err := cmd.Help(); err != nil {
				return err
			}
			return statusError(exitUsage)
		},
	}
	c.AddCommand(newTableShow(a), newTableExport(a), newTableVerify(a))
	return c
}

func newTableShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "List the releases of the table with their facts",
		Example: "  nri-compat table show\n  nri-compat table show -o csv",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.acceptOutputs(&report.Releases{}); err != nil {
				return err
			}
			t, err := a.loadTable()
			if err != nil {
				return err
			}
			return a.write(report.NewReleases(a.head("releases", t), t))
		},
	}
}

func newTableExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the whole table as JSON, in the form that --table reads",
		Long: `Print the whole table as JSON, in the form that --table reads. Its schema is
printed by 'nri-compat schema table'.`,
		Example: "  nri-compat table export > table.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if len(a.outputs.list) > 0 {
				return usagef("table export has one format only: leave out --output")
			}
			t, err := a.loadTable()
			if err != nil {
				return err
			}
			return t.WriteJSON(a.stdout)
		},
	}
}

func newTableVerify(a *app) *cobra.Command {
	against := ""
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check the built-in table or a table file for mistakes",
		Long: `Check the built-in table, or a file that is meant for --table, for mistakes:
form, references, order, and for a whole table that no release lacks an answer.
Every mistake is printed with its line; exit status 1 if there is any.

--against compares the row of one release with the build information of a real
containerd or CRI-O executable; exit status 3 if they differ, 4 if the table has
no row for it.`,
		Example: "  nri-compat table verify\n  nri-compat table verify vendor.json\n  nri-compat table verify --against /usr/bin/containerd",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(a.outputs.list) > 0 {
				return usagef("table verify has one format only: leave out --output")
			}
			if len(args) > 0 {
				return a.verifyFile(args[0], against)
			}
			if err := a.verdict("the built-in table", inference.VerifyBuiltin()); err != nil || against == "" {
				return err
			}
			return a.compareBinary(inference.Builtin(), against)
		},
	}
	c.Flags().StringVar(&against, "against", "", "`FILE`, the executable of a runtime")
	return c
}

func (a *app) verifyFile(path, against string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := a.verdict(path, inference.Verify(f, path)); err != nil || against == "" {
		return err
	}
	a.table = path
	t, err := a.loadTable()
	if err != nil {
		return err
	}
	return a.compareBinary(t, against)
}

// compareBinary compares a row of the table with a real executable.
func (a *app) compareBinary(t *inference.Table, path string) error {
	b, err := node.InspectBinary(path)
	if err != nil {
		return err
	}
	s := t.Observe(inference.Observation{Binary: binaryEvidence(b)}, nil)
	if s.Row == nil || s.Match == inference.NewerThanTable || s.Match == inference.NearestOlder {
		fmt.Fprintf(a.stdout, "%s: %s %s has no row: %s\n", path, b.Runtime, b.Version(), s.Why)
		return statusError(exitInconclusive)
	}
	if s.Row.NRI != b.NRI.Version {
		fmt.Fprintf(a.stdout, "%s: %s %s has NRI %s, the table says %s\n", path, s.Runtime.Name, s.Row.Version, b.NRI.Version, s.Row.NRI)
		return statusError(exitIncompatible)
	}
	if !a.quiet {
		fmt.Fprintf(a.stdout, "%s: %s %s with NRI %s, as the table says\n", path, s.Runtime.Name, s.Row.Version, s.Row.NRI)
	}
	return nil
}

// verdict prints the mistakes of a table, the last one as the error.
func (a *app) verdict(name string, mistakes []error) error {
	if len(mistakes) == 0 {
		if !a.quiet {
			fmt.Fprintf(a.stdout, "%s is sound\n", name)
		}
		return nil
	}
	for _, m := range mistakes[:len(mistakes)-1] {
		fmt.Fprintf(a.stderr, "nri-compat: %s\n", oneLine(m.Error()))
	}
	return errors.New(mistakes[len(mistakes)-1].Error())
}
