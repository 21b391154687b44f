// Package config reads .nri-compat.yaml, the file in which a repository says
// what nri-compat check shall check:
//
//	plugins: [./bin/device-injector, ./cmd/topology]
//	runtimes: ["containerd@>=1.7", "cri-o@>=1.31"]
//	assume:
//	  cri.enable_cdi: true
//	failOn: missing
//	waivers:
//	  - plugin: device-injector
//	    capability: ADJUST_LINUX_NETWORK_DEVICES
//	    runtimes: containerd@<2.2.1
//	    reason: falls back to a hook
//	    until: 2027-03-31
//
// Reading is strict: an unknown or repeated key, a value of the wrong kind, a
// YAML anchor and a second YAML document are errors, which name the file and
// the line. No input makes a function of this package panic.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"go.yaml.in/yaml/v3"
)

const (
	// FileName is the name of the file, looked for in the current directory
	// only.
	FileName = ".nri-compat.yaml"
	// MaxSize is the size in bytes above which a file is refused.
	MaxSize = 256 << 10
)

// File is what a configuration file says. Every list is empty for a key that it
// does not have.
type File struct {
	// Name is the file it was read from, as it was given to [Read].
	Name string
	// Plugins are references as check takes them.
	Plugins []Text
	// Runtimes are expressions as --runtime takes them.
	Runtimes []Text
	// Assume are settings as --assume takes them, "name=value".
	Assume []Text
	// FailOn is as --fail-on takes it; its value is empty if it is not given.
	FailOn  Text
	Waivers []Waiver
}

// Text is a value and where it stands.
type Text struct {
	Value string
	// Line counts from 1; 0 for a value that is not there.
	Line int
}

// Error is what is wrong with a file, and where.
type Error struct {
	File string
	Line int // 0 if it is about the whole file
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// At places an error at a value of the file.
func (f *File) At(t Text, err error) error { return &Error{f.Name, t.Line, err} }

// Values returns the values of texts.
func Values(texts []Text) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = t.Value
	}
	return out
}

// Read reads a configuration file. The name is the one of the file, for errors,
// which are of type [Error]. Nothing but a complete and valid file is returned;
// whether runtimes and settings exist is for the table to say.
func Read(r io.Reader, name string) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, &Error{name, 0, err}
	}
	if len(data) > MaxSize {
		return nil, &Error{name, 0, fmt.Errorf("larger than %d KiB, which no configuration needs", MaxSize>>10)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{name, 0, errors.New("it is empty: name plugins and runtimes, or remove it")}
	case err != nil:
		return nil, syntaxError(name, err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &Error{name, second.Line, errors.New("a second YAML document starts here: keep one in a file")}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(name, err)
	}
	rd := reader{name}
	if err := rd.noAliases(&doc); err != nil {
		return nil, err
	}
	return rd.file(doc.Content[0])
}

// syntaxError places what the YAML library says, which is "yaml: line 3: …".
func syntaxError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return &Error{name, line, errors.New(text)}
}

// FailOn are the values that the key failOn takes.
func FailOn() []string { return []string{"unknown", "missing", "known-bug", "never"} }

// reader turns YAML nodes into values.
type reader struct{ name string }

func (rd reader) errorf(n *yaml.Node, format string, args ...any) error {
	return &Error{rd.name, n.Line, fmt.Errorf(format, args...)}
}

// noAliases refuses anchors: a file that refers to itself can be any size.
func (rd reader) noAliases(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return rd.errorf(n, "anchors and aliases (&name, *name) are not allowed: write the value out")
	}
	for _, c := range n.Content {
		if err := rd.noAliases(c); err != nil {
			return err
		}
	}
	return nil
}

func (rd reader) file(n *yaml.Node) (*File, error) {
	f := &File{Name: rd.name}
	err := rd.mapping(n, map[string]func(*yaml.Node) error{
		"plugins":  func(v *yaml.Node) (err error) { f.Plugins, err = rd.texts(v, "plugins"); return err },
		"runtimes": func(v *yaml.Node) (err error) { f.Runtimes, err = rd.texts(v, "runtimes"); return err },
		"assume":   func(v *yaml.Node) (err error) { f.Assume, err = rd.settings(v); return err },
		"failOn":   func(v *yaml.Node) (err error) { f.FailOn, err = rd.failOn(v); return err },
		"waivers":  func(v *yaml.Node) (err error) { f.Waivers, err = rd.waivers(v); return err },
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// mapping hands each value of a mapping to the function of its key.
func (rd reader) mapping(n *yaml.Node, keys map[string]func(*yaml.Node) error) error {
	known := []string{}
	for k := range keys {
		known = append(known, k)
	}
	slices.Sort(known)
	if n.Kind != yaml.MappingNode {
		return rd.errorf(n, "a mapping with the keys %s is expected here", strings.Join(known, ", "))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := keys[key.Value]
		if !ok || key.Kind != yaml.ScalarNode {
			return rd.errorf(key, "unknown key %.60q: use %s", key.Value, strings.Join(known, ", "))
		}
		if seen[key.Value] {
			return rd.errorf(key, "key %q stands here a second time", key.Value)
		}
		seen[key.Value] = true
		if err := read(value); err != nil {
			return err
		}
	}
	return nil
}

// text reads a scalar that says something.
func (rd reader) text(n *yaml.Node, what string) (Text, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		return Text{}, rd.errorf(n, "%s must be a text", what)
	}
	return Text{n.Value, n.Line}, nil
}

// texts reads a list of texts, or one text in place of a list of one.
func (rd reader) texts(n *yaml.Node, what string) ([]Text, error) {
	list := n.Content
	if n.Kind == yaml.ScalarNode {
		list = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		return nil, rd.errorf(n, "%s must be a list of texts", what)
	}
	var out []Text
	for _, item := range list {
		t, err := rd.text(item, "an entry of "+what)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// settings reads "name: value" pairs.
func (rd reader) settings(n *yaml.Node) ([]Text, error) {
	if n.Kind != yaml.MappingNode {
		return nil, rd.errorf(n, "assume must be a mapping such as cri.enable_cdi: true")
	}
	var out []Text
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, err := rd.text(n.Content[i], "the name of a setting")
		if err != nil {
			return nil, err
		}
		value, err := rd.text(n.Content[i+1], name.Value)
		if err != nil {
			return nil, err
		}
		if seen[name.Value] {
			return nil, rd.errorf(n.Content[i], "setting %.60q stands here a second time", name.Value)
		}
		seen[name.Value] = true
		out = append(out, Text{name.Value + "=" + value.Value, name.Line})
	}
	return out, nil
}

func (rd reader) failOn(n *yaml.Node) (Text, error) {
	t, err := rd.text(n, "failOn")
	if err == nil && !slices.Contains(FailOn(), t.Value) {
		err = rd.errorf(n, "invalid failOn %.60q: use one of %s", t.Value, strings.Join(FailOn(), ", "))
	}
	return t, err
}

func (rd reader) waivers(n *yaml.Node) ([]Waiver, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, rd.errorf(n, "waivers must be a list")
	}
	var out []Waiver
	for _, item := range n.Content {
		w, err := rd.waiver(item)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

func (rd reader) waiver(n *yaml.Node) (Waiver, error) {
	w := Waiver{Line: n.Line}
	named := false
	err := rd.mapping(n, map[string]func(*yaml.Node) error{
		"plugin": func(v *yaml.Node) error {
			t, err := rd.text(v, "plugin")
			w.Plugin = t.Value
			return err
		},
		"capability": func(v *yaml.Node) error {
			t, err := rd.text(v, "capability")
			if err != nil {
				return err
			}
			if w.Capability, err = capability.Parse(t.Value); err != nil {
				return &Error{rd.name, v.Line, err}
			}
			named = true
			return nil
		},
		"runtimes": func(v *yaml.Node) (err error) { w.Runtimes, err = rd.texts(v, "runtimes"); return err },
		"reason": func(v *yaml.Node) error {
			t, err := rd.text(v, "reason")
			w.Reason = t.Value
			return err
		},
		"until": func(v *yaml.Node) (err error) { w.Until, err = rd.day(v); return err },
	})
	switch {
	case err != nil:
	case !named:
		err = rd.errorf(n, "a waiver must name a capability")
	case w.Reason == "":
		err = rd.errorf(n, "a waiver must have a reason")
	}
	return w, err
}
