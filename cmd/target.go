package cmd

import (
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/spf13/cobra"
)

// targetOptions are the flags of commands that ask about runtimes.
type targetOptions struct {
	runtimes []string
	assume   []string
}

func (o *targetOptions) addFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.runtimes, "runtime", nil, "`RUNTIME`: a release, line or range of one, repeatable")
	o.addAssume(c)
	complete(c, "runtime", releaseNames)
}

func (o *targetOptions) addAssume(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.assume, "assume", nil, "`SETTING=VALUE` of the runtime's configuration, repeatable")
	complete(c, "assume", func() []string { return inference.Builtin().SettingNames() })
}

// targets reads --runtime and --assume; at least one runtime is needed.
func (o *targetOptions) targets(t *inference.Table) ([]inference.Runtime, inference.Values, error) {
	values, err := o.values(t)
	if err != nil {
		return nil, nil, err
	}
	if len(o.runtimes) == 0 {
		return nil, nil, usagef("no runtime: name one with --runtime, such as --runtime containerd@2.1.3")
	}
	var all []inference.Runtime
	for _, expr := range o.runtimes {
		rs, err := t.Select(expr)
		if err != nil {
			return nil, nil, usage(err)
		}
		all = append(all, rs...)
	}
	return all, values, nil
}

func (o *targetOptions) values(t *inference.Table) (inference.Values, error) {
	values := inference.Values{}
	for _, s := range o.assume {
		name, v, err := t.ParseAssumption(s)
		if err != nil {
			return nil, usage(err)
		}
		values[name] = v
	}
	return values, nil
}

// complete offers words for a flag from the same list that validates it.
func complete(c *cobra.Command, flag string, words func() []string) {
	// The flag exists: it was added by the caller.
	_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndex(typed, ","); i >= 0 {
			before = typed[:i+1]
		}
		var out []string
		for _, w := range words() {
			out = append(out, before+w)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	})
}

func capabilityNames() []string {
	var names []string
	for _, id := range capability.All() {
		names = append(names, id.String())
	}
	return names
}

func releaseNames() []string {
	var names []string
	for _, r := range inference.Builtin().Releases("") {
		names = append(names, r.Runtime+"@"+r.Version.String())
	}
	return names
}
