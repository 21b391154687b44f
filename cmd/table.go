package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/nri-compat/nri-compat/inference"
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
	return &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check the built-in table or a table file for mistakes",
		Long: `Check the built-in table, or a file that is meant for --table, for mistakes:
form, references, order, and for a whole table that no release lacks an answer.
Every mistake is printed with its line; exit status 1 if there is any.`,
		Example: "  nri-compat table verify\n  nri-compat table verify vendor.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(a.outputs.list) > 0 {
				return usagef("table verify has one format only: leave out --output")
			}
			if len(args) == 0 {
				return a.verdict("the built-in table", inference.VerifyBuiltin())
			}
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			return a.verdict(args[0], inference.Verify(f, args[0]))
		},
	}
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
