package config

import (
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write writes a configuration file for a person to go on with.
func Write(w io.Writer, plugins, runtimes []string) error {
	var b strings.Builder
	b.WriteString("# What nri-compat check checks here. Every flag goes before this file.\n\n")
	if len(plugins) == 0 {
		b.WriteString("# No plugin was found: name executables, directories with go.mod, or images.\nplugins: []\n")
	} else if err := list(&b, "plugins", plugins); err != nil {
		return err
	}
	b.WriteString("\n")
	if err := list(&b, "runtimes", runtimes); err != nil {
		return err
	}
	b.WriteString(`
# Settings of the runtimes that are not at their defaults:
# assume:
#   cri.enable_cdi: true

# What makes the exit status 3 or 4: unknown, missing, known-bug or never.
# failOn: unknown

# What does not work and shall not count, with a reason and a last day:
# waivers:
#   - plugin: device-injector
#     capability: ADJUST_LINUX_NETWORK_DEVICES
#     runtimes: containerd@<2.2.1
#     reason: falls back to a hook
#     until: 2027-03-31
`)
	_, err := io.WriteString(w, b.String())
	return err
}

func list(b *strings.Builder, key string, values []string) error {
	text, err := yaml.Marshal(values)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "%s:\n", key)
	for line := range strings.Lines(string(text)) {
		b.WriteString("  " + line)
	}
	return nil
}
