// Package manifest reads and writes nri-compat.yaml, the file in which the
// author of a plugin declares what the plugin needs:
//
//	schema: nri-compat.dev/manifest/v1
//	plugin: "device-injector"
//	requires:
//	  - ADJUST_LINUX_DEVICES
//	  - oneOf: [DRA_V1, DRA_V1BETA1]
//	wants:
//	  - capability: ADJUST_CDI_DEVICES
//	    reason: "falls back to device nodes"
//	excludes:
//	  - capability: ADJUST_LINUX_SYSCTL
//	    reason: "linked through a shared helper package, never called"
//	runtimes:
//	  - "containerd@>=1.7.7"
//
// Of the capabilities of a oneOf one is enough.
//
// It lies next to a plugin, inside its image, or is the text of the image
// label [Label]. What it declares beats what was detected; [Apply] says how,
// and lists where the two differ.
//
// Reading is strict: unknown keys, duplicate keys, a capability that is named
// twice, an exclusion without a reason, YAML anchors and a second YAML document
// are errors. An error names the file and, where the text shows it, the line. No input
// makes a function of this package panic.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/nri-compat/nri-compat/capability"
)

const (
	// FileName is the name of a manifest next to a plugin and in an image.
	FileName = "nri-compat.yaml"
	// Label is the image label whose value is the text of a manifest.
	Label = "io.nri-compat.requirements"
	// Schema is the value of the key "schema": the format and its version.
	Schema = "nri-compat.dev/manifest/v1"
	// MaxSize is the size in bytes above which a manifest is refused.
	MaxSize = 256 << 10
)

// Manifest is what the author of a plugin declares.
type Manifest struct {
	// Name is the file the manifest was read from, as it was given to [Read].
	Name string
	// Plugin is the name of the plugin; may be empty.
	Plugin string
	// Requires are capabilities without which the plugin does not do its work.
	Requires []Entry
	// Wants are capabilities for which the plugin has a fallback.
	Wants []Entry
	// Excludes are capabilities whose use is part of the program but which the
	// plugin never uses; each has a reason.
	Excludes []Entry
	// Runtimes are the runtimes the author supports, in the syntax of --runtime.
	// They are not parsed here.
	Runtimes []string
}

// Entry is one capability of a list. The alternatives of a oneOf are entries one
// after the other, with the same reason.
type Entry struct {
	Capability capability.ID
	// OneOf is the name of the group of alternatives, see
	// [capability.Requirement]; empty for an entry of its own.
	OneOf string
	// Reason is why it stands in this list; only an exclusion must have one.
	Reason string
	// Line is the line of the file that names the capability, 0 if that could
	// not be told.
	Line int
}

// keys are the keys of a manifest in the order in which they are written.
func keys() []string {
	return []string{"schema", "plugin", "requires", "wants", "excludes", "runtimes"}
}

// Read reads a manifest. The name is the one of the file, for errors and
// evidence. Nothing but a complete and valid manifest is ever returned.
func Read(r io.Reader, name string) (Manifest, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > MaxSize {
		return Manifest{}, fmt.Errorf("%s: larger than %d KiB, which no manifest needs", name, MaxSize>>10)
	}
	if !utf8.Valid(data) {
		return Manifest{}, fmt.Errorf("%s: not UTF-8 text", name)
	}
	rd := reader{name: name, text: newText(data), seen: map[capability.ID]string{}}
	if line := rd.text.secondDocument(); line > 0 {
		return Manifest{}, rd.errorAt(line, "a second YAML document starts here: keep one manifest a file")
	}
	if line := rd.text.alias(); line > 0 {
		return Manifest{}, rd.errorAt(line, "an anchor and an alias (&name, *name) are not allowed in a manifest: write the value out")
	}
	asJSON, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return Manifest{}, rd.yamlError(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(asJSON, &fields); err != nil {
		return Manifest{}, rd.errorAt(0, "not a mapping of keys to values: a manifest starts with \"schema: %s\"", Schema)
	}
	if len(fields) == 0 {
		return Manifest{}, rd.errorAt(0, "empty: a manifest starts with \"schema: %s\"", Schema)
	}
	return rd.manifest(fields)
}

// reader turns decoded values into a manifest.
type reader struct {
	name string
	text text
	seen map[capability.ID]string // list that names a capability
}

func (rd *reader) manifest(fields map[string]json.RawMessage) (Manifest, error) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(keys(), key) {
			return Manifest{}, rd.errorAt(rd.text.lineOfKey(key), "unknown key %.60q: the keys are %s", key, strings.Join(keys(), ", "))
		}
	}
	schema, err := rd.string(fields, "schema")
	if err != nil {
		return Manifest{}, err
	}
	if schema == "" {
		return Manifest{}, rd.errorAt(0, "no key \"schema\": write \"schema: %s\"", Schema)
	}
	if schema != Schema {
		return Manifest{}, rd.errorAt(rd.text.lineOfKey("schema"), "unknown schema %.60q: this release reads %q", schema, Schema)
	}
	m := Manifest{Name: rd.name}
	if m.Plugin, err = rd.string(fields, "plugin"); err != nil {
		return Manifest{}, err
	}
	if m.Requires, err = rd.entries(fields, "requires"); err != nil {
		return Manifest{}, err
	}
	if m.Wants, err = rd.entries(fields, "wants"); err != nil {
		return Manifest{}, err
	}
	if m.Excludes, err = rd.entries(fields, "excludes"); err != nil {
		return Manifest{}, err
	}
	for _, e := range m.Excludes {
		if e.Reason == "" {
			return Manifest{}, rd.errorAt(e.Line, "excludes: %s has no reason: write {capability: %s, reason: \"…\"}", e.Capability, e.Capability)
		}
	}
	if m.Runtimes, err = rd.runtimes(fields); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// string returns the value of a key that holds text, empty if it is not there.
func (rd *reader) string(fields map[string]json.RawMessage, key string) (string, error) {
	raw, ok := fields[key]
	if !ok || isNull(raw) {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", rd.errorAt(rd.text.lineOfKey(key), "%s: not text: put the value in quotes", key)
	}
	return strings.TrimSpace(s), nil
}

func (rd *reader) list(fields map[string]json.RawMessage, key string) ([]json.RawMessage, error) {
	raw, ok := fields[key]
	if !ok || isNull(raw) {
		return nil, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, rd.errorAt(rd.text.lineOfKey(key), "%s: not a list: start each entry with \"- \"", key)
	}
	return items, nil
}

func (rd *reader) runtimes(fields map[string]json.RawMessage) ([]string, error) {
	items, err := rd.list(fields, "runtimes")
	if err != nil {
		return nil, err
	}
	var runtimes []string
	for _, raw := range items {
		var s string
		err := json.Unmarshal(raw, &s)
		if s = strings.TrimSpace(s); err != nil || s == "" {
			return nil, rd.errorAt(rd.text.lineOfKey("runtimes"), "runtimes: %s is not a runtime: write text such as \"containerd@>=1.7.7\"", shown(raw))
		}
		if slices.Contains(runtimes, s) {
			return nil, rd.errorAt(rd.text.lineOfKey("runtimes"), "runtimes: %.60q is named twice", s)
		}
		runtimes = append(runtimes, s)
	}
	return runtimes, nil
}

// shown is a value for an error: short, and without characters that could do
// something to a terminal.
func shown(raw json.RawMessage) string {
	runes := []rune(printable(string(raw)))
	if len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return string(runes)
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// errorAt returns an error that starts with the file and, if it is known, the
// line.
func (rd *reader) errorAt(line int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if line > 0 {
		return fmt.Errorf("%s:%d: %w", rd.name, line, err)
	}
	return fmt.Errorf("%s: %w", rd.name, err)
}

// yamlError turns an error of the YAML library, which may have many lines, into
// one line with the place in front.
func (rd *reader) yamlError(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	message = strings.TrimPrefix(message, "unmarshal errors:\n")
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	var line int
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
	}
	return rd.errorAt(line, "not valid YAML: %w", errors.New(message))
}
