package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type compareOptions struct {
	*app
	targetOptions
	pluginOptions
	plugin string
	failOn enum
}

// newCompare returns the command that compares two releases of a plugin.
func newCompare(a *app) *cobra.Command {
	o := &compareOptions{app: a, failOn: enum{
		value: string(failOnUnknown), allowed: []string{string(failOnUnknown), string(failOnMissing), string(failOnNever)},
	}}
	c := &cobra.Command{
		Use:     "compare OLD NEW",
		GroupID: groupCheck,
		Short:   "Tell where a new release of a plugin no longer works",
		Long: `Tell what a new release of a plugin requires that the old one does not, and on
which runtime releases it therefore no longer works.

OLD and NEW are plugins as for inspect, or reports of inspect or check that were
saved with -o json=FILE. They are compared on the runtimes of --runtime, else of
.nri-compat.yaml, else on every release of the table, each for what it decides
about: a kubelet for what is needed of kubelets, a container runtime for NRI.

Exit status 3 if NEW fails where OLD works, 4 if that could not be decided.`,
		Example: `  nri-compat compare image:registry.example/plugin:v1 ./bin/plugin
  nri-compat compare released.json ./cmd/plugin --runtime 'containerd@>=2.0'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	c.Flags().StringVar(&o.plugin, "plugin", "", "`NAME` of the plugin, where a side has several")
	c.Flags().Var(&o.failOn, "fail-on", "what makes the exit status 3 or 4: unknown, missing or never")
	o.targetOptions.addFlags(c)
	o.pluginOptions.addFlags(c)
	return c
}

func (o *compareOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.acceptOutputs(&report.Compare{}); err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	file, err := o.loadConfig()
	if err != nil {
		return err
	}
	if err := o.apply(file, t, true); err != nil {
		return err
	}
	values, err := o.values(t)
	if err != nil {
		return err
	}
	ctx, cancel := o.deadline(cmd)
	defer cancel()
	var sides [2]report.PluginNeeds
	for i, arg := range args {
		if sides[i], err = o.side(ctx, arg); err != nil {
			return err
		}
	}
	if len(o.runtimes) == 0 {
		needs := capability.Needs{Requirements: slices.Concat(sides[0].Needs.Requirements, sides[1].Needs.Requirements)}
		for _, name := range inference.RuntimesForNeeds(needs) {
			o.runtimes = append(o.runtimes, name+"@all")
		}
	}
	runtimes, err := o.selected(t, false)
	if err != nil {
		return err
	}
	d := report.NewCompare(o.head("compare", t), sides[0], sides[1], [2]string{args[0], args[1]}, t.LookupAll(runtimes, values))
	if err := o.write(d); err != nil {
		return err
	}
	switch {
	case o.failOn.value == string(failOnNever):
	case d.Lost > 0:
		return statusError(exitIncompatible)
	case d.Undecided > 0 && o.failOn.value == string(failOnUnknown):
		return statusError(exitInconclusive)
	}
	return nil
}

// side reads one side: a saved report, or a plugin.
func (o *compareOptions) side(ctx context.Context, ref string) (report.PluginNeeds, error) {
	all, err := savedNeeds(ref)
	if err != nil {
		return report.PluginNeeds{}, err
	}
	if all == nil {
		answers := o.inspectAll(ctx, []string{ref}, o.pluginOptions)
		names := uniqueNames(answers)
		for i := range answers {
			if answers[i].Err != nil {
				return report.PluginNeeds{}, answers[i].Err
			}
			for j := range answers[i].Plugins {
				p := &answers[i].Plugins[j]
				all = append(all, report.PluginNeeds{Name: names[p], Needs: p.Needs()})
			}
		}
	}
	var found []report.PluginNeeds
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
		if o.plugin == "" || o.plugin == p.Name {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return report.PluginNeeds{}, usagef("%s has no plugin %q: it has %s", ref, o.plugin, strings.Join(names, ", "))
	}
	return report.PluginNeeds{}, usagef("%s has %d plugins: choose one with --plugin: %s", ref, len(found), strings.Join(names, ", "))
}

// savedNeeds reads a saved report; nil if the reference is none. A report is
// told by its first character, which no executable and no manifest begins with.
func savedNeeds(ref string) ([]report.PluginNeeds, error) {
	f, err := os.Open(ref)
	if err != nil {
		return nil, nil // whoever reads plugins says what it is
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	if !bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n"), []byte("{")) {
		return nil, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return report.ReadNeeds(f, ref)
}
