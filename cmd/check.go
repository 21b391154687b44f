package cmd

import (
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type checkOptions struct {
	*app
	targetOptions
	requires []string
	wants    []string
	failOn   enum
}

func newCheck(a *app) *cobra.Command {
	o := &checkOptions{app: a, failOn: enum{
		value:   string(failOnUnknown),
		allowed: []string{string(failOnUnknown), string(failOnMissing), string(failOnKnownBug), string(failOnNever)},
	}}
	c := &cobra.Command{
		Use:     "check --requires CAPABILITY,... --runtime RUNTIME",
		GroupID: groupCheck,
		Short:   "Check what is required against container runtime releases",
		Long: `Check what is required against container runtime releases.

RUNTIME is a release in any form that is met in the field (containerd@2.1.3,
containerd://1.7.22-k3s1, a whole line of 'containerd --version'), a line
(containerd@1.7 is its newest release, containerd@1.7.x all of them), a range
('containerd@>=1.7.7 <2.2') or all of a runtime (cri-o@all). Pre-releases are
checked when they are named.

A check by release takes NRI itself to be switched on, and says where it is
off by default; --assume nri.enabled=default makes the default count.

Exit status 3 if something required is missing, switched off or harmful, 4 if
something required could not be decided.`,
		Example: `  nri-compat check --requires ADJUST_CDI_DEVICES --runtime containerd@2.0.5
  nri-compat check --requires ADJUST_CDI_DEVICES --assume cri.enable_cdi=true --runtime 'containerd@>=1.7.7 <2.2'
  nri-compat check --requires ADJUST_MOUNTS --wants INPUT_IP_ADDRESSES --runtime cri-o@all -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run() },
	}
	f := c.Flags()
	f.StringSliceVar(&o.requires, "requires", nil, "`CAPABILITIES` that are required, separated by commas, repeatable")
	f.StringSliceVar(&o.wants, "wants", nil, "`CAPABILITIES` that have a fallback; they never decide the exit status")
	f.Var(&o.failOn, "fail-on", "what makes the exit status 3 or 4: unknown, missing, known-bug or never")
	o.addFlags(c)
	complete(c, "requires", capabilityNames)
	complete(c, "wants", capabilityNames)
	return c
}

func (o *checkOptions) run() error {
	if err := o.acceptOutputs(&report.Check{}); err != nil {
		return err
	}
	need, err := o.needs()
	if err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	runtimes, values, err := o.targets(t)
	if err != nil {
		return err
	}
	doc := report.NewCheck(o.head("check", t))
	g := newGate(failOn(o.failOn.value))
	plugin := report.CheckPlugin{Name: "requirements", Required: countRequired(need)}
	checkPlugin(doc, g, t, plugin, need, runtimes, values)
	if err := o.write(doc); err != nil {
		return err
	}
	return g.err()
}

// checkPlugin evaluates one plugin against all runtimes, and adds the results
// to the document and the gate.
func checkPlugin(doc *report.Check, g *gate, t *inference.Table, plugin report.CheckPlugin,
	need capability.Needs, runtimes []inference.Runtime, values inference.Values) {
	groups := inference.Worst(t.Evaluate(need, runtimes, values))
	names := runtimeNames(runtimes)
	doc.Add(plugin, groups, t.Advise(need, names, values), names)
	for _, group := range groups {
		r := group.Last().Report
		g.add(r.Verdict, slices.ContainsFunc(r.Items, func(i capability.Item) bool {
			return i.Requirement.Level == capability.Requires && i.Status == capability.StatusOK && len(i.Answer.Bugs) > 0
		}))
	}
}

// runtimeNames lists the runtimes that were asked about, each once.
func runtimeNames(runtimes []inference.Runtime) []string {
	var names []string
	for _, name := range inference.Runtimes() {
		if slices.ContainsFunc(runtimes, func(r inference.Runtime) bool { return r.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

func countRequired(need capability.Needs) int {
	n := 0
	for _, r := range need.Requirements {
		if r.Level == capability.Requires {
			n++
		}
	}
	return n
}

// needs reads --requires and --wants.
func (o *checkOptions) needs() (capability.Needs, error) {
	var need capability.Needs
	for _, list := range []struct {
		flag   string
		values []string
		level  capability.Level
	}{{"--requires", o.requires, capability.Requires}, {"--wants", o.wants, capability.Wants}} {
		for _, name := range list.values {
			if strings.TrimSpace(name) == "" {
				return need, usagef("%s has an empty capability name", list.flag)
			}
			id, err := capability.Parse(name)
			if err != nil {
				return need, usage(err)
			}
			need.Requirements = append(need.Requirements, capability.Requirement{Capability: id, Level: list.level})
		}
	}
	if countRequired(need) == 0 && len(o.wants) == 0 {
		return need, usagef("nothing to check: name capabilities with --requires")
	}
	need.Requirements = capability.Normalize(need.Requirements)
	return need, nil
}
