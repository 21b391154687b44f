package cmd

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/node"
	"github.com/spf13/cobra"
)

// targetOptions are the flags of commands that ask about runtimes.
type targetOptions struct {
	runtimes []string
	assume   []string
	config   string
}

func (o *targetOptions) addFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.runtimes, "runtime", nil, "`RUNTIME`: a release, line or range of one, repeatable")
	o.addAssume(c)
	complete(c, "runtime", releaseNames)
}

func (o *targetOptions) addAssume(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.assume, "assume", nil, "`SETTING=VALUE` of the runtime's configuration, repeatable")
	c.Flags().StringVar(&o.config, "runtime-config", "", "`FILE` with the runtime's configuration: config.toml, crio.conf or a KubeletConfiguration")
	complete(c, "assume", func() []string { return inference.Builtin().SettingNames() })
}

// selected reads --runtime; at least one runtime is needed unless optional.
func (o *targetOptions) selected(t *inference.Table, optional bool) ([]inference.Runtime, error) {
	if len(o.runtimes) == 0 && !optional {
		return nil, usagef("no runtime: name one with --runtime, such as --runtime containerd@2.1.3")
	}
	return selectAll(t, o.runtimes)
}

// selectAll joins the runtimes that several expressions name.
func selectAll(t *inference.Table, exprs []string) ([]inference.Runtime, error) {
	var all []inference.Runtime
	for _, expr := range exprs {
		rs, err := t.Select(expr)
		if err != nil {
			return nil, usage(err)
		}
		all = append(all, rs...)
	}
	return all, nil
}

// withConfig adds to the values what the configuration file of a runtime says;
// what was assumed has precedence. With a file the default of NRI's own switch
// counts too, and that of the kubelet's topology manager.
func (o *targetOptions) withConfig(log *slog.Logger, t *inference.Table, assumed inference.Values, runtimes []inference.Runtime) (inference.Values, error) {
	if o.config == "" || len(runtimes) == 0 {
		return assumed, nil
	}
	isKubelet := func(r inference.Runtime) bool { return r.Name == inference.Kubelet }
	others := slices.DeleteFunc(slices.Clone(runtimes), isKubelet)
	opts := node.ConfigOptions{Runtime: inference.Kubelet}
	if len(others) > 0 {
		opts = node.ConfigOptions{Runtime: others[0].Name, Major: int(others[0].Version.Major)}
		if len(others) < len(runtimes) {
			opts.Runtime = "" // the file tells
		}
	}
	start := time.Now()
	c, err := node.ReadConfig(o.config, opts)
	if err != nil {
		return nil, err
	}
	log.Info("read the runtime's configuration", "files", strings.Join(c.Files, ","), fileSize(o.config), "runtime", c.Runtime, "settings", len(c.Settings), took(start))
	values := configValues(t, &c)
	decides := inference.NRIEnabled
	if c.Runtime == inference.Kubelet {
		decides = inference.TopologyManagerPolicy
	} else if err := o.sameConfig(c, others); err != nil {
		return nil, err
	}
	if _, said := values[decides]; !said {
		values[decides] = inference.Value{Value: "default"}
	}
	for name, v := range assumed {
		values[name] = v
	}
	return values, nil
}

// sameConfig checks that all of the container runtimes can be meant by the
// file.
func (o *targetOptions) sameConfig(c node.Config, runtimes []inference.Runtime) error {
	first := runtimes[0]
	for _, r := range runtimes {
		if r.Name != c.Runtime || r.Name == inference.Containerd && r.Version.Major != first.Version.Major {
			return usagef("--runtime-config %s is read as that of %s %d: ask about %s and %s separately",
				o.config, c.Runtime, first.Version.Major, first, r)
		}
	}
	return nil
}

// values reads --assume.
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
