package cmd

import (
	"fmt"
	"strings"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type inferOptions struct {
	*app
	targetOptions
}

func newInfer(a *app) *cobra.Command {
	o := &inferOptions{app: a}
	c := &cobra.Command{
		Use:     "infer RUNTIME",
		Aliases: []string{"runtime"},
		GroupID: groupCheck,
		Short:   "Tell what a container runtime release does about NRI",
		Long: `Tell what a container runtime release does about NRI: its NRI version, whether
NRI is on by default, the state of every capability, known bugs.

RUNTIME is a release in any form that is met in the field, a line for its
newest release, or nri@VERSION for what a version of the NRI library does by
itself. Exit status 4 if nothing is known of it.`,
		Example: `  nri-compat infer containerd://2.0.5-k3s1.32
  nri-compat infer "$(containerd --version)" -o wide
  nri-compat infer nri@v0.8.0 -o json`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return releaseNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	o.addAssume(c)
	return c
}

func (o *inferOptions) run(input string) error {
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	if version, ok := strings.CutPrefix(strings.TrimSpace(input), "nri@"); ok {
		return o.library(t, version)
	}
	if err := o.acceptOutputs(&report.Infer{}); err != nil {
		return err
	}
	values, err := o.values(t)
	if err != nil {
		return err
	}
	runtimes, err := t.Select(input)
	if err != nil {
		return usage(err)
	}
	if len(runtimes) > 1 {
		return usage(fmt.Errorf("%q names %d releases: name one, or use matrix --runtime", input, len(runtimes)))
	}
	s := t.Lookup(runtimes[0], values)
	if err := o.write(report.NewInfer(o.head("infer", t), input, t, s)); err != nil {
		return err
	}
	if s.Match == inference.NoMatch {
		return statusError(exitInconclusive)
	}
	return nil
}

// library answers for a version of the NRI library instead of a runtime.
func (o *inferOptions) library(t *inference.Table, version string) error {
	if err := o.acceptOutputs(&report.Library{}); err != nil {
		return err
	}
	v, err := inference.ParseNRIVersion(version)
	if err != nil {
		return usage(err)
	}
	return o.write(report.NewLibrary(o.head("library", t), t, v))
}
