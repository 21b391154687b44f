package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "explain CAPABILITY | MASK | BUG",
		GroupID: groupExplore,
		Short:   "Explain a capability, an event mask or a known bug",
		Long: `Explain a capability: what it is, since when which release has it, what
happens without it and what to do instead. A mask such as 0x3800 is decoded as
it stands in a runtime's log ("invalid plugin events: 0x3800"); the id of a
known bug tells which releases have it.`,
		Example: `  nri-compat explain ADJUST_CDI_DEVICES
  nri-compat explain 0x3800
  nri-compat explain unsolicited-update-deadlock`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(capabilityNames(), bugIDs(inference.Builtin())...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.explain(args[0]) },
	}
}

func (a *app) explain(what string) error {
	if err := a.acceptOutputs(&report.Explain{}); err != nil {
		return err
	}
	t, err := a.loadTable()
	if err != nil {
		return err
	}
	head := a.head("explain", t)
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(what)), "0x") {
		mask, err := inference.ParseEventMask(what)
		if err != nil {
			return usage(err)
		}
		return a.write(report.NewExplainMask(a.head("explain-mask", t), t, mask))
	}
	if bugs := t.BugsByID(strings.ToLower(strings.TrimSpace(what))); len(bugs) > 0 {
		return a.write(report.NewExplainBug(a.head("explain-bug", t), bugs))
	}
	id, err := capability.Parse(what)
	if err != nil {
		var unknown *capability.UnknownNameError
		if errors.As(err, &unknown) && len(unknown.Near) == 0 {
			err = fmt.Errorf("%w; known bugs have ids such as unsolicited-update-deadlock, event masks begin with 0x", err)
		}
		return usage(err)
	}
	return a.write(report.NewExplain(head, t, id))
}

func bugIDs(t *inference.Table) []string {
	var ids []string
	for _, b := range t.AllBugs() {
		ids = append(ids, b.ID)
	}
	return slices.Compact(ids)
}
