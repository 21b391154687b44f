package cmd

import (
	"time"

	"github.com/spf13/cobra"
)

// The groups in which the help lists the commands.
const (
	groupCheck   = "check"
	groupExplore = "explore"
	groupData    = "data"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "nri-compat",
		Short: "Tell whether an NRI plugin works on a container runtime release",
		Long: `Tell whether an NRI plugin works on a container runtime release, and what
exactly happens if it does not; and a device plugin or a DRA driver on a release
of the kubelet.

Exit status: 0 answered or compatible, 1 could not do the work, 2 usage,
3 incompatible, 4 inconclusive; the same in every format.`,
		Example: `  nri-compat check ./bin/plugin --runtime 'containerd@>=1.7'
  nri-compat infer containerd://2.0.5-k3s1
  nri-compat explain 0x3800`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.started = true
			a.path = cmd.CommandPath()
			a.startLog()
			a.log.Debug("start", "version", toolVersion(), "command", a.path, "timeout", a.timeout)
			if a.timeout <= 0 {
				return usagef("invalid --timeout %s: it must be positive", a.timeout)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			// No command at all: an empty variable in a script must not pass.
			cmd.SetOut(a.stderr)
			if err := cmd.Help(); err != nil {
				return err
			}
			return statusError(exitUsage)
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		a.path = cmd.CommandPath()
		return usage(err)
	})

	f := root.PersistentFlags()
	f.VarP(&a.outputs, "output", "o", "`FORMAT[=FILE]` of the report, repeatable")
	f.StringVar(&a.table, "table", "", "`FILE` laid over the built-in release table (environment NRI_COMPAT_TABLE)")
	f.StringVar(&a.configFile, "config", "", "configuration `FILE` of check (environment NRI_COMPAT_CONFIG, default .nri-compat.yaml)")
	f.Var(&a.color, "color", "colour of text: auto, always or never")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no report on standard output unless --output names one")
	f.CountVarP(&a.verbose, "verbose", "v", "say more on standard error; twice for even more")
	f.DurationVar(&a.timeout, "timeout", 30*time.Second, "give up after this `DURATION`")

	root.AddGroup(
		&cobra.Group{ID: groupCheck, Title: "Check:"},
		&cobra.Group{ID: groupExplore, Title: "Explore:"},
		&cobra.Group{ID: groupData, Title: "Data:"},
	)
	root.SetHelpCommandGroupID(groupData)
	root.SetCompletionCommandGroupID(groupData)
	root.AddCommand(
		newCheck(a), newInspect(a), newObserve(a), newObserveStage(a), newCompare(a), newInit(a), newInfer(a), newProbe(a),
		newExplain(a), newMatrix(a), newDiff(a),
		newPin(a), newTable(a), newSchema(a), newVersion(a),
	)
	for _, c := range root.Commands() {
		remember(a, c)
	}
	return root
}

// remember notes which command was asked for before its arguments are checked,
// for the line that says where to read on.
func remember(a *app, c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			a.path = cmd.CommandPath()
			return check(cmd, args)
		}
	}
	for _, sub := range c.Commands() {
		remember(a, sub)
	}
}
