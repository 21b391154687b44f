package cmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type inferOptions struct {
	*app
	targetOptions
	binary string
}

func newInfer(a *app) *cobra.Command {
	o := &inferOptions{app: a}
	c := &cobra.Command{
		Use:     "infer RUNTIME | --binary FILE",
		Aliases: []string{"runtime"},
		GroupID: groupCheck,
		Short:   "Tell what a container runtime release does about NRI",
		Long: `Tell what a container runtime release does about NRI: its NRI version, whether
NRI is on by default, the state of every capability, known bugs.

RUNTIME is a release in any form that is met in the field, a line for its
newest release, or nri@VERSION for what a version of the NRI library does by
itself. --binary reads the executable of a containerd or CRI-O instead.
Exit status 4 if nothing is known of it.`,
		Example: `  nri-compat infer containerd://2.0.5-k3s1.32
  nri-compat infer "$(containerd --version)" -o wide
  nri-compat infer --binary /usr/bin/containerd
  nri-compat infer nri@v0.8.0 -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.binary != "" && len(args) == 0 {
				return nil
			}
			if o.binary != "" {
				return errors.New("--binary stands for the runtime: leave out " + args[0])
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return releaseNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.binary != "" {
				return o.executable()
			}
			return o.run(args[0])
		},
	}
	c.Flags().StringVar(&o.binary, "binary", "", "`FILE`, the executable of a runtime")
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
	if values, err = o.withConfig(o.log, t, values, runtimes); err != nil {
		return err
	}
	return o.answer(t, input, t.Lookup(runtimes[0], values))
}

// executable answers for the runtime in an executable.
func (o *inferOptions) executable() error {
	if err := o.acceptOutputs(&report.Infer{}); err != nil {
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
	start := time.Now()
	b, err := node.InspectBinary(o.binary)
	if err != nil {
		return err
	}
	o.log.Info("read an executable", "file", o.binary, fileSize(o.binary), "runtime", b.Runtime, "version", b.Version(), took(start))
	s := t.Observe(inference.Observation{Binary: binaryEvidence(b)}, values)
	if s.Match != inference.NoMatch {
		if values, err = o.withConfig(o.log, t, values, []inference.Runtime{s.Runtime}); err != nil {
			return err
		}
		s = t.Observe(inference.Observation{Binary: binaryEvidence(b)}, values)
	}
	return o.answer(t, o.binary, s)
}

func (o *inferOptions) answer(t *inference.Table, input string, s inference.Support) error {
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
