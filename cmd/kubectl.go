package cmd

import (
	"path"
	"strings"

	"github.com/spf13/cobra"
)

// programName is how the program is called. Under the name kubectl-nri_compat it
// is a plugin of kubectl, which runs it as "kubectl nri-compat".
func programName(arg0 string) string {
	base := strings.TrimSuffix(path.Base(strings.ReplaceAll(arg0, `\`, "/")), ".exe")
	if base == "kubectl-nri_compat" {
		return "kubectl nri-compat"
	}
	return "nri-compat"
}

// callIt lets usage lines and examples show another name.
func callIt(c *cobra.Command, name string) {
	if name == "nri-compat" {
		return
	}
	if !c.HasParent() {
		c.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	}
	lines := strings.Split(c.Example, "\n")
	for i, line := range lines {
		for _, lead := range []string{"  nri-compat ", "  sudo nri-compat "} {
			if rest, ok := strings.CutPrefix(line, lead); ok {
				lines[i] = strings.Replace(lead, "nri-compat", name, 1) + rest
			}
		}
	}
	c.Example = strings.Join(lines, "\n")
	for _, sub := range c.Commands() {
		callIt(sub, name)
	}
}
