package cmd

import (
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type diffOptions struct {
	*app
	targetOptions
	exitCode bool
}

func newDiff(a *app) *cobra.Command {
	o := &diffOptions{app: a}
	c := &cobra.Command{
		Use:     "diff FROM TO",
		GroupID: groupExplore,
		Short:   "Print what changes from one runtime release to another",
		Long: `Print what changes from one runtime release to another: capabilities that are
lost, gained or changed, known bugs that come and go, whether NRI is on.

With --exit-code the exit status is 3 if TO lacks something that FROM has or
does more harm, 4 if something could not be compared.`,
		Example: `  nri-compat diff containerd@1.7.30 containerd@2.0.11
  nri-compat diff containerd@2.1.9 containerd@2.2 --exit-code`,
		Args: cobra.ExactArgs(2),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return releaseNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0], args[1]) },
	}
	c.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 3 if something is lost, 4 if something is not known")
	o.addAssume(c)
	return c
}

func (o *diffOptions) run(from, to string) error {
	if err := o.acceptOutputs(&report.Diff{}); err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	values, err := o.values(t)
	if err != nil {
		return err
	}
	var runtimes []inference.Runtime
	for _, expr := range []string{from, to} {
		selected, err := t.Select(expr)
		if err != nil {
			return usage(err)
		}
		if len(selected) > 1 {
			return usagef("%q names %d releases: name one", expr, len(selected))
		}
		runtimes = append(runtimes, selected[0])
	}
	if values, err = o.withConfig(o.log, t, values, runtimes); err != nil {
		return err
	}
	sides := t.LookupAll(runtimes, values)
	if inference.FamilyOf(sides[0].Runtime.Name) != inference.FamilyOf(sides[1].Runtime.Name) {
		return usagef("a kubelet and a container runtime have nothing in common to compare: %s, %s", from, to)
	}
	d := report.NewDiff(o.head("diff", t), sides[0], sides[1])
	if err := o.write(d); err != nil {
		return err
	}
	unknown := sides[0].Match == inference.NoMatch || sides[1].Match == inference.NoMatch
	switch {
	case o.exitCode && d.Loses():
		return statusError(exitIncompatible)
	case o.exitCode && (d.Unsure() || unknown):
		return statusError(exitInconclusive)
	}
	return nil
}
