package cmd

import (
	"fmt"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type matrixOptions struct {
	*app
	targetOptions
	pluginOptions
	capabilities []string
	by           enum
	changed      bool
}

func newMatrix(a *app) *cobra.Command {
	o := &matrixOptions{app: a, by: enum{value: "line", allowed: []string{"line", "release"}}}
	c := &cobra.Command{
		Use:     "matrix [PLUGIN...]",
		GroupID: groupExplore,
		Short:   "Print capabilities, or plugins, by runtime releases",
		Long: `Print capabilities, or plugins, by runtime releases.

With plugins the cells tell in which releases of a line each of them works, the
oldest first.

` + referenceHelp + `

Without --runtime and --capabilities it is about NRI; 'kubelet@all' or
'DEVICE_*' ask about the kubelet.

By line, a cell tells since which release of the line a capability works:
"yes" and "no" for the whole line, "1.7.26+" from that release on,
"2.2.1–2.2.9 crashes", "with cri.enable_cdi" if a setting is needed.`,
		Example: `  nri-compat matrix --capabilities 'ADJUST_*' --changed
  nri-compat matrix --capabilities ADJUST_CDI_DEVICES --by release --runtime 'containerd@>=1.7.25 <2.2'
  nri-compat matrix ./bin/*
  nri-compat matrix -o csv=matrix.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := c.Flags()
	f.StringSliceVar(&o.capabilities, "capabilities", nil, "`PATTERNS` of capability names, such as 'ADJUST_*'; all by default")
	f.Var(&o.by, "by", "what a column is: line or release")
	f.BoolVar(&o.changed, "changed", false, "leave out capabilities that are the same in every column")
	o.targetOptions.addFlags(c)
	o.pluginOptions.addFlags(c)
	complete(c, "capabilities", capabilityNames)
	return c
}

func (o *matrixOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.acceptOutputs(&report.Matrix{}); err != nil {
		return err
	}
	refs, err := o.references(args, o.pluginOptions)
	if err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	ids, err := o.matched(t)
	if err != nil {
		return err
	}
	if len(o.runtimes) == 0 && o.by.value == "release" {
		for _, name := range inference.RuntimesFor(ids...) {
			o.runtimes = append(o.runtimes, name+"@all")
		}
	}
	values, err := o.values(t)
	if err != nil {
		return err
	}
	only, err := o.selected(t, true)
	if err != nil {
		return err
	}
	if len(refs) > 0 && o.config != "" {
		return usagef("--runtime-config is of one runtime: use it with check")
	}
	head := o.head("matrix", t)
	if len(refs) > 0 {
		return o.plugins(cmd, t, head, refs, only, values)
	}
	var m *report.Matrix
	if o.by.value == "release" {
		if values, err = o.withConfig(o.log, t, values, only); err != nil {
			return err
		}
		m = report.NewMatrixByRelease(head, t, ids, only, values)
	} else {
		m = report.NewMatrixByLine(head, t, ids, only)
		if len(m.Columns) == 0 {
			return usagef("no release line in the table for %v", o.runtimes)
		}
		if len(o.assume) > 0 || o.config != "" {
			return usagef("--assume and --runtime-config decide single releases: use them with --by release")
		}
	}
	if o.changed {
		m.DropSame()
	}
	return o.write(m)
}

// plugins writes the matrix of plugins by release lines.
func (o *matrixOptions) plugins(cmd *cobra.Command, t *inference.Table, head report.Head, refs []string,
	only []inference.Runtime, values inference.Values) error {
	if len(o.capabilities) > 0 || o.changed || o.by.value != "line" {
		return usagef("--capabilities, --changed and --by are about capabilities: leave them out with plugins")
	}
	ctx, cancel := o.deadline(cmd)
	defer cancel()
	answers := o.inspectAll(ctx, refs, o.pluginOptions)
	failed := o.reportErrors(answers)
	names := uniqueNames(answers)
	var rows []report.PluginNeeds
	for i := range answers {
		for j := range answers[i].Plugins {
			p := &answers[i].Plugins[j]
			rows = append(rows, report.PluginNeeds{Name: names[p], Needs: p.Needs()})
		}
	}
	if err := o.write(report.NewMatrixOfPlugins(head, t, rows, only, values)); err != nil {
		return err
	}
	if len(failed) > 0 {
		return statusError(exitError)
	}
	return nil
}

// matched returns the capabilities that any of the patterns matches, sorted by
// name; without a pattern those that the runtimes asked for decide about, or
// those of NRI.
func (o *matrixOptions) matched(t *inference.Table) ([]capability.ID, error) {
	if o.capabilities == nil {
		runtimes, err := o.selected(t, true)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(capability.All(), func(id capability.ID) bool {
			if len(runtimes) == 0 {
				return id.Kind().Family() != capability.NRI
			}
			return !slices.ContainsFunc(runtimes, func(r inference.Runtime) bool {
				return inference.FamilyOf(r.Name) == id.Kind().Family()
			})
		}), nil
	}
	var ids []capability.ID
	for _, p := range o.capabilities {
		found, err := capability.Match(p)
		if err != nil {
			return nil, usage(err)
		}
		ids = append(ids, found...)
	}
	if len(ids) == 0 {
		return nil, usage(fmt.Errorf("--capabilities is empty: give a name or a pattern such as 'ADJUST_*'"))
	}
	return slices.DeleteFunc(capability.All(), func(id capability.ID) bool { return !slices.Contains(ids, id) }), nil
}
