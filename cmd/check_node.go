package cmd

import (
	"context"
	"fmt"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/plugin"
	"github.com/nri-compat/nri-compat/internal/report"
)

// node checks all plugins of this node against its runtimes. A plugin that
// cannot be read is named all the same: of a program that is connected to the
// NRI socket nobody may think that it needs nothing. Nothing to check at all is
// inconclusive: it may be an empty variable in a script. So is a node of which a
// part could not be seen: what was not found is not compatible.
func (r *checkRun) node(ctx context.Context) error {
	if r.requires != nil || r.wants != nil || r.runtimes != nil || r.together {
		return usagef("nothing to check: name a plugin, or capabilities with --requires")
	}
	facts, err := r.look(ctx, r.table, r.nodeOptions(), r.values)
	if err != nil {
		return fmt.Errorf("nothing was named to check, and this node cannot be: %w", err)
	}
	plugins, complete := facts.plugins(ctx)
	if !complete {
		r.gate.add(capability.Inconclusive, false)
	}
	refs := make([]string, len(plugins))
	for i, p := range plugins {
		refs[i] = p.ref
	}
	for i, answer := range r.inspectAll(ctx, refs, r.pluginOptions) {
		p := plugins[i]
		name := r.unused(p.title())
		if answer.Err != nil {
			supports := p.decided(facts, capability.Needs{})
			gap := report.CheckPlugin{Name: name, Ref: p.ref, Gaps: []string{r.errorText(answer.Err)}}
			r.add(gap, capability.Needs{Gaps: gap.Gaps}, supports)
			continue
		}
		for j := range answer.Plugins {
			need := answer.Plugins[j].Needs()
			r.add(p.checked(&answer.Plugins[j], name), need, p.decided(facts, need))
		}
	}
	r.warnNode(facts)
	for _, problem := range facts.problems {
		r.warnf("%s", problem)
	}
	if len(plugins) == 0 {
		r.warnf("no plugin is connected or installed on this node, and no device plugin listens")
		r.gate.add(capability.Inconclusive, false)
	}
	if facts.failed == nil && facts.support.Match == inference.NoMatch {
		r.gate.add(capability.Inconclusive, false)
	}
	return nil
}

// warnNode says what could not be found out about the runtimes of the node.
func (r *checkRun) warnNode(facts *nodeFacts) {
	if facts.failed != nil {
		r.warnf("the kubelet of this node alone is checked against: %s", r.errorText(facts.failed))
	}
	if facts.kubelet != nil {
		for _, problem := range facts.kubelet.problems {
			r.warnf("%s", problem)
		}
	}
}

// decided are the runtimes of the node against which a plugin is checked. One of
// which nothing is known to be needed is checked against the one that it serves.
func (p nodePlugin) decided(facts *nodeFacts, need capability.Needs) []inference.Support {
	switch {
	case len(need.Requirements) > 0 || p.sockets != nil && p.how != "listening":
		return facts.supports()
	case p.how == "listening":
		return []inference.Support{facts.kubelet.support}
	}
	return []inference.Support{facts.support}
}

// title names a plugin of the node for people.
func (p nodePlugin) title() string {
	_, pod := p.where()
	switch {
	case pod != "":
		return p.name + " in " + pod
	case p.installed != nil && p.installed.Index != "":
		return p.installed.Index + "-" + p.name
	}
	return p.name
}

func (p nodePlugin) checked(read *plugin.Plugin, name string) report.CheckPlugin {
	out := checkedPlugin(read, name)
	if p.connected != nil {
		out.Ref = fmt.Sprintf("process %d, %s", p.connected.PID, p.connected.Exe)
	}
	if p.installed != nil && p.installed.Problem != "" {
		out.Warnings = append(out.Warnings, p.installed.Problem)
	}
	return out
}

// unused returns the name, with a number where the document has it already.
func (r *checkRun) unused(name string) string {
	taken := func(s string) bool {
		for _, p := range r.doc.Plugins {
			if p.Name == s {
				return true
			}
		}
		return false
	}
	for n, first := 2, name; taken(name); n++ {
		name = fmt.Sprintf("%s (%d)", first, n)
	}
	return name
}
