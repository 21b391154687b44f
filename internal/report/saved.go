package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/nri-compat/nri-compat/capability"
)

// ReadNeeds reads what the plugins of a saved inspect or check report need. The
// name is the one of the file, for errors. A report in which something could not
// be read is an error: of what is missing in it nobody would know.
func ReadNeeds(r io.Reader, name string) ([]PluginNeeds, error) {
	data, schema, err := readSaved(r, name)
	if err != nil {
		return nil, err
	}
	var out []PluginNeeds
	switch schema {
	case "nri-compat.dev/inspect/v1":
		var d Inspect
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(d.Errors) > 0 {
			return nil, fmt.Errorf("%s: something could not be read in it: %s", name, d.Errors[0].line())
		}
		for _, p := range d.Plugins {
			need, err := neededBy(p.Requirements, p.Gaps)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, p.Name, err)
			}
			out = append(out, PluginNeeds{p.Name, need})
		}
	case "nri-compat.dev/check/v1":
		var d Check
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(d.Errors) > 0 {
			return nil, fmt.Errorf("%s: something could not be checked in it: %s", name, d.Errors[0].line())
		}
		for _, p := range d.Plugins {
			reqs, err := d.requirements(p.Name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			need, err := neededBy(reqs, p.Gaps)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, p.Name, err)
			}
			out = append(out, PluginNeeds{p.Name, need})
		}
	default:
		return nil, fmt.Errorf("%s: schema %.60q is neither that of inspect nor of check: save one with -o json=FILE", name, schema)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no plugin in it", name)
	}
	return out, nil
}

// requirements are what a plugin was checked for. Every result of a plugin has
// all of them; a plugin without a result was not checked.
func (c *Check) requirements(plugin string) ([]Requirement, error) {
	for _, r := range c.Results {
		if r.Plugin != plugin {
			continue
		}
		var out []Requirement
		for _, o := range r.Capabilities {
			out = append(out, Requirement{ID: o.ID, Level: o.Level, OneOf: o.OneOf, Source: o.Source, Unproven: o.Unproven, Evidence: o.Evidence})
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s has no result", plugin)
}

func neededBy(reqs []Requirement, gaps []string) (capability.Needs, error) {
	need := capability.Needs{Gaps: gaps}
	for _, r := range reqs {
		id, err := capability.Parse(r.ID)
		if err != nil {
			return need, err
		}
		out := capability.Requirement{Capability: id, OneOf: r.OneOf, Unproven: r.Unproven, Note: r.Note, Evidence: r.Evidence}
		if err := out.Level.UnmarshalText([]byte(r.Level)); err != nil {
			return need, err
		}
		if err := out.Source.UnmarshalText([]byte(r.Source)); err != nil {
			return need, err
		}
		need.Requirements = append(need.Requirements, out)
	}
	need.Requirements = capability.Normalize(need.Requirements)
	return need, nil
}

// maxSaved is the size of a saved report above which it is refused. A check of
// every capability on every release has a tenth of it.
const maxSaved = 64 << 20

// readSaved reads a report that was saved as JSON, and finds out which it is.
func readSaved(r io.Reader, name string) (data []byte, schema string, err error) {
	data, err = io.ReadAll(io.LimitReader(r, maxSaved+1))
	if err != nil {
		return nil, "", err
	}
	if len(data) > maxSaved {
		return nil, "", fmt.Errorf("%s: larger than %d MiB, which no report is", name, maxSaved>>20)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, "", fmt.Errorf("%s: no report in JSON: %w", name, err)
	}
	return data, head.Schema, nil
}
