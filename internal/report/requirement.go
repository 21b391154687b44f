package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Requirement is one capability that a plugin depends on.
type Requirement struct {
	ID    string `json:"id"`
	Level string `json:"level" jsonschema:"enum=requires,enum=wants"`
	// OneOf names the group of alternatives it belongs to, of which one is enough:
	// by its members, joined by "/". It is empty for what is needed by itself.
	OneOf    string                `json:"oneOf,omitempty"`
	Source   string                `json:"source" jsonschema:"enum=declared,enum=source,enum=binary,enum=observed"`
	Unproven bool                  `json:"unproven,omitempty"`
	Note     string                `json:"note,omitempty"`
	Evidence []capability.Evidence `json:"evidence"`
}

// NewRequirement describes a requirement.
func NewRequirement(r capability.Requirement) Requirement {
	return Requirement{
		ID: r.Capability.String(), Level: r.Level.String(), OneOf: r.OneOf, Source: r.Source.String(),
		Unproven: r.Unproven, Note: r.Note, Evidence: emptyNotNull(r.Evidence),
	}
}

func (r Requirement) level() string {
	level := r.Level
	if r.OneOf != "" {
		level += " one of " + strconv.Itoa(1+strings.Count(r.OneOf, "/"))
	}
	if r.Unproven {
		level += ", unproven"
	}
	return level
}

// first is the most telling piece of evidence.
func (r Requirement) first() string {
	s := r.Note
	if len(r.Evidence) > 0 {
		s = evidenceLine(r.Evidence[0])
	}
	if n := len(r.Evidence); n > 1 {
		s += fmt.Sprintf(" and %d more", n-1)
	}
	return s
}

// needs counts requirements; alternatives count as one.
func needs(reqs []Requirement) int {
	seen := map[string]bool{}
	for _, r := range reqs {
		seen[cmp.Or(r.OneOf, r.ID)] = true
	}
	return len(seen)
}

// alternatives says of how many alternatives it is one; nothing if there are
// none.
func (r Requirement) alternatives() string {
	if r.OneOf == "" {
		return ""
	}
	return fmt.Sprintf(" (one of %d is enough)", 1+strings.Count(r.OneOf, "/"))
}
