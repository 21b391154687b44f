package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// entries reads a list of capabilities.
func (rd *reader) entries(fields map[string]json.RawMessage, key string) ([]Entry, error) {
	items, err := rd.list(fields, key)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, raw := range items {
		names, reason, err := rd.entry(key, raw)
		if err != nil {
			return nil, err
		}
		var group []Entry
		for i, name := range names {
			id, line, err := rd.capability(key, name)
			if err != nil {
				return nil, err
			}
			names[i] = id.String()
			group = append(group, Entry{Capability: id, Reason: reason, Line: line})
		}
		for i := range group {
			if len(group) > 1 {
				group[i].OneOf = strings.Join(names, "/")
			}
		}
		entries = append(entries, group...)
	}
	return entries, nil
}

// capability reads the name of a capability that no other entry names.
func (rd *reader) capability(key, name string) (capability.ID, int, error) {
	line := rd.text.lineOfEntry(name)
	id, err := capability.Parse(name)
	if err != nil {
		return 0, 0, rd.errorAt(line, "%s: %w", key, err)
	}
	if other, ok := rd.seen[id]; ok {
		return 0, 0, rd.errorAt(0, "%s is named in %s and again in %s: keep one of them", id, other, key)
	}
	rd.seen[id] = key
	return id, line, nil
}

// entry reads one entry: a name, or a mapping with a reason and either
// capability or oneOf, which names several.
func (rd *reader) entry(key string, raw json.RawMessage) (names []string, reason string, err error) {
	var name string
	if json.Unmarshal(raw, &name) == nil && !isNull(raw) {
		return []string{name}, "", nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, "", rd.errorAt(rd.text.lineOfKey(key), "%s: %s is neither a capability nor {capability: …, reason: …}", key, shown(raw))
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if k != "capability" && k != "reason" && k != "oneOf" {
			return nil, "", rd.errorAt(rd.text.lineOfKey(k), "%s: unknown key %.60q in an entry: the keys are capability, oneOf, reason", key, k)
		}
	}
	if name, err = rd.string(fields, "capability"); err != nil {
		return nil, "", err
	}
	if _, ok := fields["oneOf"]; ok {
		if names, err = rd.oneOf(fields, key, name); err != nil {
			return nil, "", err
		}
	} else {
		names = []string{name}
	}
	if names[0] == "" {
		return nil, "", rd.errorAt(rd.text.lineOfKey(key), "%s: an entry has no key \"capability\"", key)
	}
	reason, err = rd.string(fields, "reason")
	return names, reason, err
}

// oneOf reads the alternatives of an entry.
func (rd *reader) oneOf(fields map[string]json.RawMessage, key, capability string) ([]string, error) {
	line := rd.text.lineOfKey("oneOf")
	items, err := rd.list(fields, "oneOf")
	switch {
	case err != nil:
		return nil, err
	case capability != "":
		return nil, rd.errorAt(line, "%s: an entry has capability and oneOf: keep one of them", key)
	case key == "excludes":
		return nil, rd.errorAt(line, "excludes: oneOf is for what is needed: name each capability by itself")
	case len(items) < 2:
		return nil, rd.errorAt(line, "%s: oneOf names fewer than two capabilities: write {capability: …} for one", key)
	}
	var names []string
	for _, item := range items {
		var name string
		if json.Unmarshal(item, &name) != nil || strings.TrimSpace(name) == "" {
			return nil, rd.errorAt(line, "%s: oneOf: %s is not a capability: write its name", key, shown(item))
		}
		names = append(names, name)
	}
	return names, nil
}
