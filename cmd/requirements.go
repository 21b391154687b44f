package cmd

import (
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// parseNames reads the capabilities of a flag. Alternatives, of which one is
// enough, are joined by "/", or by "|" as in an expression.
func parseNames(flag string, names []string, level capability.Level) ([]capability.Requirement, error) {
	var out []capability.Requirement
	for _, group := range names {
		alternatives := strings.Split(strings.ReplaceAll(group, "|", "/"), "/")
		oneOf := ""
		if len(alternatives) > 1 {
			oneOf = group
		}
		for _, name := range alternatives {
			if strings.TrimSpace(name) == "" {
				return nil, usagef("%s has an empty capability name", flag)
			}
			id, err := capability.Parse(name)
			if err != nil {
				return nil, usage(err)
			}
			out = append(out, capability.Requirement{Capability: id, Level: level, OneOf: oneOf})
		}
	}
	return out, nil
}

// inOneGroup refuses a capability that is an alternative twice: reports have one
// line for each capability.
func inOneGroup(reqs []capability.Requirement) error {
	groups := map[capability.ID]string{}
	for _, r := range capability.Normalize(reqs) {
		if before, seen := groups[r.Capability]; seen {
			return usagef("%s is one of %s and of %s: keep it in one of them, or check them one after the other", r.Capability, before, r.OneOf)
		}
		groups[r.Capability] = r.OneOf
	}
	return nil
}
