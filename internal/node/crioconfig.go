package node

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Where CRI-O looks without a flag.
const (
	crioFile    = "/etc/crio/crio.conf"
	crioDropIns = "/etc/crio/crio.conf.d"
)

// readCRIO reads a CRI-O configuration: the file, then all files in the drop-in
// directory and below, in lexical order, whatever their names end in. The last
// one that sets a key wins. Either may be missing; dropIns may be empty. flags
// are the arguments of the process, which override all files.
func (h Host) readCRIO(file, dropIns string, flags []string) (Config, error) {
	c := Config{Runtime: "cri-o"}
	var documents []document
	d, err := h.readDocument(file)
	switch {
	case err == nil:
		documents = append(documents, d)
	case errors.Is(err, fs.ErrNotExist):
		c.Missing = file
	default:
		return Config{}, err
	}
	more, err := h.crioDropIns(dropIns)
	if err != nil {
		return Config{}, err
	}
	for _, f := range more {
		d, err := h.readDocument(f)
		if err != nil {
			return Config{}, err
		}
		documents = append(documents, d)
	}
	for _, d := range documents {
		c.Files = append(c.Files, d.file)
	}
	for _, s := range crioSpecs() {
		found, err := findCRIO(documents, s)
		if err != nil {
			return Config{}, err
		}
		if found.File == "" {
			found.File = file
		}
		c.Settings = append(c.Settings, found)
	}
	return c, overrideCRIO(&c, flags)
}

// crioDropIns lists the files of the drop-in directory.
func (h Host) crioDropIns(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	files, err := h.dropIns(dir, "")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return files, nil
}

// findCRIO looks one setting up; the last document that has it counts.
func findCRIO(documents []document, s spec) (Setting, error) {
	where := append(strings.Split(s.section, "."), s.path...)
	out := Setting{Name: s.name, Inverted: s.inverted, Key: tomlKey(where)}
	for _, d := range documents {
		e, ok := d.lookup(where...)
		if !ok {
			continue
		}
		value, err := s.value(e.value)
		if err != nil {
			return Setting{}, fmt.Errorf("configuration: %s:%d: %s %w", e.file, e.line, strings.Join(s.path, "."), err)
		}
		out.Set, out.Value, out.File, out.Line = true, value, e.file, e.line
	}
	return out, nil
}

// overrideCRIO applies the flags of a CRI-O process.
func overrideCRIO(c *Config, flags []string) error {
	names := map[string]string{
		"enable-nri":                      "nri.enabled",
		"nri-listen":                      "nri.socket_path",
		"nri-plugin-dir":                  "nri.plugin_path",
		"nri-plugin-config-dir":           "nri.plugin_config_path",
		"nri-plugin-registration-timeout": "nri.registration_timeout",
		"nri-plugin-request-timeout":      "nri.request_timeout",
		"nri-disable-connections":         "nri.external_connections",
		"blockio-config-file":             "blockio_config_file",
	}
	for i := range c.Settings {
		s := &c.Settings[i]
		for flag, name := range names {
			if name != s.Name {
				continue
			}
			value, ok := flagValue(flags, flag)
			if !ok {
				continue
			}
			if isSwitch(flag) && value != "true" && value != "false" {
				return fmt.Errorf("configuration: flag --%s is %s, must be true or false", flag, quoted(value))
			}
			if isSwitch(flag) && s.Inverted {
				value = map[string]string{"true": "false", "false": "true"}[value]
			}
			s.Set, s.Value, s.Key, s.File, s.Line = true, value, "--"+flag, "", 0
		}
	}
	return nil
}

// flagValue finds the value of a flag in arguments; the last one counts.
func flagValue(args []string, names ...string) (string, bool) {
	values := flagValues(args, names...)
	if len(values) == 0 {
		return "", false
	}
	return values[len(values)-1], true
}

// flagValues finds all values of a flag in arguments: --name=value, --name value,
// with one dash or two. A switch without a value is "true".
func flagValues(args []string, names ...string) []string {
	var values []string
	for i, arg := range args {
		name, v, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || !slices.Contains(names, name) {
			continue
		}
		if !hasValue {
			v = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !isSwitch(name) {
				v = args[i+1]
			}
		}
		values = append(values, v)
	}
	return values
}

// isSwitch tells whether a flag never takes the next argument as its value.
func isSwitch(name string) bool {
	return name == "enable-nri" || name == "nri-disable-connections"
}
