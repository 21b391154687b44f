package cmd

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

// pluginOptions are the flags of commands that read plugins.
type pluginOptions struct {
	source         []string
	platform       string
	tags           []string
	ignoreManifest bool
}

func (o *pluginOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.source, "source", nil, "`DIR` with the source code of a plugin, repeatable")
	f.StringVar(&o.platform, "platform", "", "`OS/ARCH` to choose from an image (default this machine's)")
	f.StringSliceVar(&o.tags, "tags", nil, "build `TAGS` for source code")
	f.BoolVar(&o.ignoreManifest, "ignore-manifest", false, "leave out what nri-compat.yaml declares")
}

// referenceHelp explains what a plugin reference may be.
const referenceHelp = `PLUGIN is the path of an executable (a Go program, stripped or not), of a
directory with go.mod (source code; runs 'go list' there), or an image:
image:REF from a registry, docker-archive:FILE, oci-dir:DIR. A nri-compat.yaml
next to it, in the image or in its label io.nri-compat.requirements declares
what cannot be detected. Data that every release hands over, such as names,
ids, labels and annotations, is not listed. "-" reads references from standard input, one a line.
The plugin is never run.`

// references returns the plugins asked for, with "-" replaced by the lines of
// standard input.
func (a *app) references(args []string, o pluginOptions) ([]string, error) {
	var refs []string
	for _, arg := range args {
		if arg != "-" {
			if strings.TrimSpace(arg) == "" {
				return nil, usagef("an empty plugin reference: name an executable, a directory or an image")
			}
			refs = append(refs, arg)
			continue
		}
		before := len(refs)
		lines := bufio.NewScanner(a.stdin)
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				refs = append(refs, line)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		if len(refs) == before {
			return nil, usagef("no plugin reference on standard input")
		}
	}
	return append(refs, o.source...), nil
}

// inspectAll reads the plugins, showing progress where somebody watches.
func (a *app) inspectAll(ctx context.Context, refs []string, o pluginOptions) []plugin.Answer {
	p := a.newProgress()
	defer p.done()
	answers := plugin.Inspect(ctx, refs, plugin.Options{
		Platform: o.platform, Tags: o.tags, IgnoreManifest: o.ignoreManifest,
		Progress: func(ref, stage string) {
			a.log.Debug("plugin", "ref", ref, "stage", stage)
			p.show(ref, stage)
		},
	})
	for _, answer := range answers {
		if answer.Err != nil {
			a.log.Info("could not read a plugin", "ref", answer.Ref, fileSize(answer.Ref), slog.Duration("took", answer.Took))
		}
		for i := range answer.Plugins {
			q := &answer.Plugins[i]
			a.log.Info("read a plugin", "ref", answer.Ref, "name", q.Name, "reader", q.Reader, fileSize(q.Path), "manifest", q.Manifest,
				"requirements", len(q.Requirements), "gaps", len(q.Gaps), slog.Duration("took", answer.Took))
		}
	}
	return answers
}

// reportErrors tells which references could not be read, on standard error and
// for the document.
func (a *app) reportErrors(answers []plugin.Answer) []report.ReferenceError {
	errs := []report.ReferenceError{}
	for _, answer := range answers {
		if answer.Err != nil {
			text := a.errorText(answer.Err)
			errs = append(errs, report.ReferenceError{Ref: answer.Ref, Error: text})
			fmt.Fprintf(a.stderr, "nri-compat: %s\n", text)
			a.tellCauses(answer.Err, text)
		}
	}
	return errs
}

// uniqueNames names each plugin of the answers so that no two are called
// alike: by its short name, or where that is not enough by its reference.
func uniqueNames(answers []plugin.Answer) map[*plugin.Plugin]string {
	count := map[string]int{}
	for i := range answers {
		for j := range answers[i].Plugins {
			count[answers[i].Plugins[j].Name]++
		}
	}
	names := map[*plugin.Plugin]string{}
	taken := map[string]bool{}
	for i := range answers {
		for j := range answers[i].Plugins {
			p := &answers[i].Plugins[j]
			name := p.Name
			if count[name] > 1 {
				name = p.Ref
				if p.Path != "" && p.Path != p.Ref {
					name += " " + p.Path
				}
			}
			for n := 2; taken[name]; n++ {
				name = fmt.Sprintf("%s (%d)", p.Name, n)
			}
			taken[name] = true
			names[p] = name
		}
	}
	return names
}
