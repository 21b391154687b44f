package cmd

import (
	"bytes"
	"fmt"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/plugin"
	"github.com/nri-compat/nri-compat/internal/plugin/manifest"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

type inspectOptions struct {
	*app
	pluginOptions
	manifest bool
	log      string
}

func newInspect(a *app) *cobra.Command {
	o := &inspectOptions{app: a}
	c := &cobra.Command{
		Use:     "inspect PLUGIN...",
		GroupID: groupCheck,
		Short:   "Tell what plugins need of a runtime, and how that is known",
		Long: `Tell what plugins need of a runtime, and how that is known.

` + referenceHelp + `

A requirement means "can use": the code that uses it is part of the plugin.

--log reads the log of a plugin that failed, with or without the plugin, and
tells why it failed as far as the log tells: what the runtime refused, in its own
words, and where that works; a panic; errors. It knows the logs of klog, zap,
slog, logrus and package log, also as kubectl and journald print them.

Exit status 1 if a plugin or the log could not be read.`,
		Example: `  nri-compat inspect ./bin/device-injector
  nri-compat inspect ./cmd/my-plugin -o wide
  nri-compat inspect --manifest ./bin/device-injector > nri-compat.yaml
  kubectl logs ds/gpu-plugin --previous | nri-compat inspect --log -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args)+len(o.source) == 0 && o.log == "" {
				return errNoPlugin
			}
			return o.checkLog(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.addFlags(c)
	c.Flags().BoolVar(&o.manifest, "manifest", false, "write a nri-compat.yaml of what was detected, for one plugin")
	c.Flags().StringVar(&o.log, "log", "", "`FILE` with the log of a plugin that failed, - for standard input")
	return c
}

func (o *inspectOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.acceptOutputs(&report.Inspect{}); err != nil {
		return err
	}
	if o.manifest && len(o.outputs.list) > 0 {
		return usagef("--manifest has one format only: leave out --output")
	}
	refs, err := o.references(args, o.pluginOptions)
	if err != nil {
		return err
	}
	if o.log != "" && len(refs) > 1 {
		return usagef("--log is about one plugin, these are %d", len(refs))
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	ctx, cancel := o.deadline(cmd)
	defer cancel()
	if o.manifest {
		o.ignoreManifest = true
	}
	answers := o.inspectAll(ctx, refs, o.pluginOptions)
	if o.manifest {
		return o.writeManifest(answers)
	}
	doc := report.NewInspect(o.head("inspect", t))
	doc.Errors = o.reportErrors(answers)
	names := uniqueNames(answers)
	for i := range answers {
		for j := range answers[i].Plugins {
			p := &answers[i].Plugins[j]
			doc.Add(inspectPlugin(p, names[p]), p.Requirements, t.Advise(p.Needs(), inference.RuntimesForNeeds(p.Needs()), nil))
		}
	}
	if o.log != "" {
		tail, err := o.readLog(ctx, o.log)
		if err != nil {
			return err
		}
		doc.SetLog(logReport(t, o.log, tail))
	}
	if err := o.write(doc); err != nil {
		return err
	}
	if len(doc.Errors) > 0 {
		return statusError(exitError)
	}
	return nil
}

// writeManifest writes what was detected of the one plugin asked for.
func (o *inspectOptions) writeManifest(answers []plugin.Answer) error {
	var plugins []plugin.Plugin
	for _, a := range answers {
		if a.Err != nil {
			return a.Err
		}
		plugins = append(plugins, a.Plugins...)
	}
	if len(plugins) != 1 {
		return usagef("--manifest is about one plugin, these are %d", len(plugins))
	}
	var b bytes.Buffer
	if err := manifest.Write(&b, plugins[0].Plugin); err != nil {
		return err
	}
	_, err := fmt.Fprint(o.stdout, b.String())
	return err
}

// inspectPlugin describes a plugin for the document.
func inspectPlugin(p *plugin.Plugin, name string) report.InspectPlugin {
	out := report.InspectPlugin{
		Name: name, Ref: p.Ref, Path: p.Path, Reader: p.Reader,
		Identity: report.PluginIdentity(p.Identity), NRI: report.PluginNRI(p.NRI),
		Gaps: p.Gaps, Warnings: p.Warnings, Opaque: p.Opaque, Supports: p.Supports, Manifest: p.Manifest,
	}
	if k := p.Kubelet; k != nil {
		out.Kubelet = &report.PluginKubelet{Module: k.Module, Version: k.Version, Replaces: k.Replaces, APIs: k.APIs}
	}
	for _, d := range p.Differences {
		out.Differences = append(out.Differences, d.String())
	}
	return out
}
