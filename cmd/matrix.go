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
	capabilities []string
	by           enum
	changed      bool
}

func newMatrix(a *app) *cobra.Command {
	o := &matrixOptions{app: a, by: enum{value: "line", allowed: []string{"line", "release"}}}
	c := &cobra.Command{
		Use:     "matrix",
		GroupID: groupExplore,
		Short:   "Print capabilities by runtime releases",
		Long: `Print capabilities by runtime releases.

By line, a cell tells since which release of the line a capability works:
"yes" and "no" for the whole line, "1.7.26+" from that release on,
"2.2.1–2.2.9 crashes", "with cri.enable_cdi" if a setting is needed.`,
		Example: `  nri-compat matrix --capabilities 'ADJUST_*' --changed
  nri-compat matrix --capabilities ADJUST_CDI_DEVICES --by release --runtime 'containerd@>=1.7.25 <2.2'
  nri-compat matrix -o csv=matrix.csv`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run() },
	}
	f := c.Flags()
	f.StringSliceVar(&o.capabilities, "capabilities", nil, "`PATTERNS` of capability names, such as 'ADJUST_*'; all by default")
	f.Var(&o.by, "by", "what a column is: line or release")
	f.BoolVar(&o.changed, "changed", false, "leave out capabilities that are the same in every column")
	o.addFlags(c)
	complete(c, "capabilities", capabilityNames)
	return c
}

func (o *matrixOptions) run() error {
	if err := o.acceptOutputs(&report.Matrix{}); err != nil {
		return err
	}
	ids, err := matchCapabilities(o.capabilities)
	if err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	if len(o.runtimes) == 0 && o.by.value == "release" {
		for _, name := range inference.Runtimes() {
			o.runtimes = append(o.runtimes, name+"@all")
		}
	}
	var only []inference.Runtime
	values, err := o.values(t)
	if len(o.runtimes) > 0 {
		only, values, err = o.targets(t)
	}
	if err != nil {
		return err
	}
	head := o.head("matrix", t)
	var m *report.Matrix
	if o.by.value == "release" {
		m = report.NewMatrixByRelease(head, t, ids, only, values)
	} else {
		m = report.NewMatrixByLine(head, t, ids, only)
		if len(m.Columns) == 0 {
			return usagef("no release line in the table for %v", o.runtimes)
		}
		if len(o.assume) > 0 {
			return usagef("--assume decides single releases: use it with --by release")
		}
	}
	if o.changed {
		m.DropSame()
	}
	return o.write(m)
}

// matchCapabilities returns the capabilities that any of the patterns matches,
// all for no pattern, sorted by name.
func matchCapabilities(patterns []string) ([]capability.ID, error) {
	if patterns == nil {
		return capability.All(), nil
	}
	var ids []capability.ID
	for _, p := range patterns {
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
