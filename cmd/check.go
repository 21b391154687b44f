package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/config"
	"github.com/nri-compat/nri-compat/internal/plugin"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type checkOptions struct {
	*app
	targetOptions
	pluginOptions
	socket   string
	requires []string
	wants    []string
	together bool
	failOn   enum
	baseline string
}

func newCheck(a *app) *cobra.Command {
	o := &checkOptions{app: a, failOn: enum{
		value:   string(failOnUnknown),
		allowed: []string{string(failOnUnknown), string(failOnMissing), string(failOnKnownBug), string(failOnNever)},
	}}
	c := &cobra.Command{
		Use:     "check [PLUGIN...] [--runtime RUNTIME...]",
		GroupID: groupCheck,
		Short:   "Check plugins, or what is required, against container runtime releases",
		Long: `Check plugins, or what is required, against container runtime releases.

` + referenceHelp + `

RUNTIME is a release in any form that is met in the field (containerd@2.1.3,
containerd://1.7.22-k3s1, a whole line of 'containerd --version'), a line
(containerd@1.7 is its newest release, containerd@1.7.x all of them), a range
('containerd@>=1.7.7 <2.2') or all of a runtime (cri-o@all). Pre-releases are
checked when they are named.

A check by release takes NRI itself to be switched on, and says where it is
off by default; --assume nri.enabled=default makes the default count.
--runtime node are the runtimes of this node: the container runtime and the
kubelet, which is asked for its version by running it with --version.

For device plugins and DRA drivers the runtime is the kubelet: kubelet@1.30.4,
'kubelet@>=1.27', "$(kubelet --version)". What depends on a feature gate follows
its default, --assume featureGates.DevicePluginCDIDevices=true, or the
KubeletConfiguration of --runtime-config. Of a kubelet and a container runtime
each plugin is checked against the one that it is for. With --together the two
are checked as one node: CDI devices need both.

Without arguments it checks the plugins that .nri-compat.yaml names, and if it
names none all plugins of this node, connected and installed ones and device
plugins, against the node's runtimes. The file also stands in for --runtime,
--assume and --fail-on, and has waivers; 'nri-compat init' writes one.

--requires DRA_V1/DRA_V1BETA1 names alternatives: one of them is enough. DRA
drivers that serve several versions of a service have such needs.

Exit status 3 if something required is missing, switched off or harmful, 4 if
something required could not be decided, or plugins of the node could not be seen.`,
		Example: `  nri-compat check ./bin/plugin --runtime containerd@2.0.5 --runtime cri-o@1.34
  sudo nri-compat check
  nri-compat check image:registry.example/plugin:v1 --runtime 'containerd@>=1.7'
  nri-compat check --requires ADJUST_CDI_DEVICES --assume cri.enable_cdi=true --runtime 'containerd@>=1.7.7 <2.2'
  nri-compat check --requires ADJUST_MOUNTS --wants INPUT_IP_ADDRESSES --runtime cri-o@all -o json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.failed(o.run(cmd, args)) },
	}
	f := c.Flags()
	f.StringVar(&o.baseline, "baseline", "", "`FILE` with an earlier check in JSON: only what is new counts")
	f.StringSliceVar(&o.requires, "requires", nil, "`CAPABILITIES` that are required, separated by commas, alternatives by \"/\"; repeatable")
	f.StringSliceVar(&o.wants, "wants", nil, "`CAPABILITIES` that have a fallback; they never decide the exit status")
	f.BoolVar(&o.together, "together", false, "the two runtimes run together: a kubelet and a container runtime")
	f.Var(&o.failOn, "fail-on", "what makes the exit status 3 or 4: unknown, missing, known-bug or never")
	o.targetOptions.addFlags(c)
	o.pluginOptions.addFlags(c)
	addSocketFlag(c, &o.socket)
	complete(c, "requires", capabilityNames)
	complete(c, "wants", capabilityNames)
	return c
}

func (o *checkOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.acceptOutputs(&report.Check{}); err != nil {
		return err
	}
	refs, err := o.references(args, o.pluginOptions)
	if err != nil {
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
	file, err := o.loadConfig()
	if err != nil {
		return err
	}
	if len(refs) == 0 && len(need.Requirements) == 0 {
		refs = config.Values(file.Plugins)
	}
	named := len(refs) > 0 || len(need.Requirements) > 0
	if err := errors.Join(o.apply(file, t, named), applyFailOn(cmd, file, &o.failOn)); err != nil {
		return err
	}
	start := time.Now()
	ex, err := newExcuses(t, file, o.baseline, start)
	if err != nil {
		return err
	}
	if o.baseline != "" {
		o.log.Info("read the baseline", "file", o.baseline, fileSize(o.baseline), took(start))
	}
	values, err := o.values(t)
	if err != nil {
		return err
	}
	ctx, cancel := o.deadline(cmd)
	defer cancel()
	run := &checkRun{checkOptions: o, table: t, values: values, excuses: ex,
		doc: report.NewCheck(o.head("check", t)), gate: newGate(failOn(o.failOn.value))}
	run.doc.FailOn = o.failOn.value
	if named {
		err = run.named(ctx, refs, need)
	} else {
		err = run.node(ctx)
	}
	if err != nil {
		return err
	}
	for _, w := range ex.unused() {
		o.warnf("%s:%d: the waiver of %s excuses nothing: remove it", file.Name, w.Line, w.Capability)
	}
	if err := o.write(run.doc); err != nil {
		return err
	}
	if len(run.doc.Errors) > 0 {
		return statusError(exitError)
	}
	return run.gate.err()
}

// failed puts a check that could not be done into the files of formats whose
// readers must be told: no file would look like nothing to report.
func (o *checkOptions) failed(err error) error {
	var silent statusError
	if status(err, true) != exitError || errors.As(err, &silent) {
		return err
	}
	doc := report.NewCheck(o.head("check", inference.Builtin()))
	doc.Fail("", err)
	for _, target := range o.outputs.list {
		var b bytes.Buffer
		if target.file == "" || target.format != report.SARIF && target.format != report.JUnit {
			continue
		}
		writeErr := report.Write(&b, doc, target.format, report.Style{})
		if writeErr == nil {
			writeErr = writeFile(target.file, b.Bytes())
		}
		if writeErr != nil && !strings.Contains(err.Error(), writeErr.Error()) {
			o.warnf("%v", writeErr)
		}
	}
	return err
}

// checkRun is one check: what it rests on and what came of it so far.
type checkRun struct {
	*checkOptions
	table   *inference.Table
	values  inference.Values
	excuses *excuses
	doc     *report.Check
	gate    *gate
	pair    *inference.Pair // of --together
}

// nodeOptions say how to look at this node.
func (o *checkOptions) nodeOptions() nodeOptions {
	return nodeOptions{socket: o.socket, config: o.config}
}

// named checks the plugins and capabilities that were named against the
// runtimes that were named.
func (r *checkRun) named(ctx context.Context, refs []string, need capability.Needs) error {
	supports, err := r.supports(ctx, len(refs) > 0 && !r.together)
	if err != nil {
		return err
	}
	if r.together {
		pair, err := inference.NewPair(supports)
		if err != nil {
			return usage(fmt.Errorf("--together: %w", err))
		}
		r.pair = &pair
	}
	if len(need.Requirements) > 0 {
		given := report.CheckPlugin{Name: "requirements", Required: need.Required(), Place: configPlace(r.excuses.file, "")}
		r.add(given, need, supports)
	}
	if len(refs) == 0 {
		return nil
	}
	answers := r.inspectAll(ctx, refs, r.pluginOptions)
	r.doc.Errors = r.reportErrors(answers)
	return r.answers(answers, supports)
}

// supports looks up the runtimes of --runtime; "node" is the one of this node.
func (r *checkRun) supports(ctx context.Context, optional bool) ([]inference.Support, error) {
	var out []inference.Support
	releases := slices.DeleteFunc(slices.Clone(r.runtimes), func(s string) bool { return s == "node" })
	if len(releases) < len(r.runtimes) {
		facts, err := r.look(ctx, r.table, r.nodeOptions(), r.values)
		if err != nil {
			return nil, err
		}
		out = append(out, facts.supports()...)
		if r.warnNode(facts); r.together && facts.kubelet == nil {
			r.warnf("no kubelet was found on this node")
		}
		optional = true
	}
	runtimes, err := (&targetOptions{runtimes: releases}).selected(r.table, optional)
	if err != nil {
		return nil, err
	}
	values, err := r.withConfig(r.log, r.table, r.values, runtimes)
	if err != nil {
		return nil, err
	}
	r.values = values
	return append(out, r.table.LookupAll(runtimes, values)...), nil
}

// answers checks every plugin that was read. Without --runtime each is checked
// against the runtimes that its author says it supports.
func (r *checkRun) answers(answers []plugin.Answer, supports []inference.Support) error {
	names := uniqueNames(answers)
	for i := range answers {
		for j := range answers[i].Plugins {
			p := &answers[i].Plugins[j]
			against := supports
			if len(r.runtimes) == 0 {
				if len(p.Supports) == 0 {
					return usagef("no runtime: name one with --runtime, such as --runtime %s (%s declares none in a manifest)", exampleFor(p.Needs()), names[p])
				}
				declared, err := selectAll(r.table, p.Supports)
				if err != nil {
					return fmt.Errorf("%s: %w", p.Manifest, err)
				}
				against = r.table.LookupAll(declared, r.values)
			}
			checked := checkedPlugin(p, names[p])
			if _, err := os.Stat(p.Ref); err != nil && checked.Place == nil {
				checked.Place = configPlace(r.excuses.file, answers[i].Ref) // an image
			}
			r.add(checked, p.Needs(), against)
		}
	}
	return nil
}

// exampleFor is a release of a runtime that decides about the needs.
func exampleFor(need capability.Needs) string {
	if slices.Equal(inference.RuntimesForNeeds(need), []string{inference.Kubelet}) {
		return "kubelet@1.34.1"
	}
	return "containerd@2.1.3"
}

func checkedPlugin(p *plugin.Plugin, name string) report.CheckPlugin {
	out := report.CheckPlugin{
		Name: name, Ref: p.Ref, Module: p.Identity.Module, NRI: p.NRI.Version, Required: p.Needs().Required(),
		Gaps: p.Gaps, Warnings: p.Warnings,
	}
	out.Dir, out.Place = sourceOf(p)
	return out
}

// add evaluates one plugin against runtimes, and adds the results to the
// document and the gate.
func (r *checkRun) add(plugin report.CheckPlugin, need capability.Needs, supports []inference.Support) {
	var groups []inference.Group
	var advice inference.Advice
	supports = deciding(need, supports)
	names := runtimeNames(need, supports)
	if r.pair != nil {
		groups = []inference.Group{inference.EvaluateTogether(r.excuses.together(plugin, need, *r.pair), *r.pair)}
		// Where each of the two would do by itself is no advice: it takes both.
		names = nil
	} else {
		groups = inference.Worst(r.table.EvaluateEach(r.excuses.needs(plugin, need), supports))
		advice = r.table.Advise(need, names, r.values)
	}
	r.excuses.note(r.doc, plugin, r.doc.Add(plugin, groups, advice, names))
	for _, group := range groups {
		outcome := group.Last().Report
		r.gate.add(outcome.Verdict, slices.ContainsFunc(outcome.Items, func(i capability.Item) bool {
			return i.Requirement.Level == capability.Requires && i.Status == capability.StatusOK && len(i.Answer.Bugs) > 0
		}))
	}
}

// needs reads --requires and --wants.
func (o *checkOptions) needs() (capability.Needs, error) {
	var need capability.Needs
	for _, list := range []struct {
		flag   string
		values []string
		level  capability.Level
	}{{"--requires", o.requires, capability.Requires}, {"--wants", o.wants, capability.Wants}} {
		reqs, err := parseNames(list.flag, list.values, list.level)
		if err != nil {
			return need, err
		}
		need.Requirements = append(need.Requirements, reqs...)
	}
	if err := inOneGroup(need.Requirements); err != nil {
		return need, err
	}
	need.Requirements = capability.Normalize(need.Requirements)
	return need, nil
}
