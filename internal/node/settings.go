package node

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Setting is one thing that the configuration of a runtime decides.
type Setting struct {
	// Name is the short name, such as "nri.enabled" or "cri.enable_cdi".
	Name string
	// Set tells whether the configuration says anything. If not, the release's
	// default holds.
	Set bool
	// Value is "true" or "false", a duration such as "5s", a path, or a list
	// joined by commas; empty if not set.
	Value string
	// Key is the key for a person, such as
	// [plugins."io.containerd.nri.v1.nri"] disable: the one that was read, or the
	// one to write.
	Key string
	// Inverted tells that the key says the opposite of the setting: nri.enabled
	// is "true" where disable is false.
	Inverted bool
	// File and Line say where it is set; File alone where to set it. Line is 0 if
	// it is not known.
	File string
	Line int
	// Ambiguous says, in one sentence, why releases read the setting differently;
	// empty if they do not. Value is then one of the readings.
	Ambiguous string
}

// Advice says what to change for the setting to become a value, such as
//
//	set disable = false in [plugins."io.containerd.nri.v1.nri"] of /etc/containerd/config.toml
//
// It is for a person; nothing here changes a configuration.
func (s Setting) Advice(value string) string {
	isSwitch := value == "true" || value == "false"
	if isSwitch && s.Inverted {
		value = strconv.FormatBool(value == "false")
	}
	if s.Key == disabledPlugins {
		return fmt.Sprintf("remove the CRI plugin and the NRI plugin from %s in %s", s.Key, s.File)
	}
	if strings.HasPrefix(s.Key, "--") {
		return fmt.Sprintf("start the runtime with %s=%s", s.Key, value)
	}
	if !isSwitch {
		value = strconv.Quote(value)
	}
	table, key := "", s.Key
	if i := strings.LastIndexByte(s.Key, ' '); i >= 0 {
		table, key = " in "+s.Key[:i], s.Key[i+1:]
	}
	return fmt.Sprintf("set %s = %s%s of %s", key, value, table, s.File)
}

// Config is what the configuration of a runtime says about NRI, or that of a
// kubelet about what it offers to device plugins.
type Config struct {
	// Runtime is "containerd", "cri-o" or "kubelet".
	Runtime string
	// Files are the files that were read, in the order in which they count.
	Files []string
	// Missing is the file that was looked for and is not there; empty if there is
	// one, and for a kubelet, which must have the file that it is told. A runtime
	// without a file runs with its defaults.
	Missing string
	// Version is the version of a containerd configuration: that of the first
	// file, where 1 stands for a file that names none; 0 for others, and without a
	// file.
	Version int
	// Settings has every setting that the runtime knows, set or not, in a fixed
	// order.
	Settings []Setting
	// GatesUnknown says, in one sentence, why feature gates of the kubelet that no
	// setting names have a default that is not known; empty if they have that of the
	// release.
	GatesUnknown string
	// Notes are further remarks, one sentence each: parts that have no effect,
	// files that are generated from others.
	Notes []string
}

// Setting gives the setting with a name.
func (c Config) Setting(name string) (Setting, bool) {
	for _, s := range c.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// kind is the form of a value.
type kind int

const (
	boolean kind = iota
	text
	duration
	list
)

// disabledPlugins is the key of containerd that lists plugins not to load.
const disabledPlugins = "disabled_plugins"

// spec says where a runtime keeps a setting.
type spec struct {
	name     string
	section  string // "nri", "cri" or "tasks" of containerd; the table of CRI-O
	path     []string
	kind     kind
	inverted bool
}

// validatorSpecs are the settings of the default validator. prefix comes before
// the name of each key, enable is the key that switches it on.
func validatorSpecs(section, prefix, enable string, names ...string) []spec {
	specs := []spec{{"nri.default_validator.enable", section, []string{"default_validator", enable}, boolean, false}}
	for _, name := range names {
		k := boolean
		switch name {
		case "required_plugins":
			k = list
		case "tolerate_missing_plugins_annotation":
			k = text
		}
		specs = append(specs, spec{"nri.default_validator." + name, section, []string{"default_validator", prefix + name}, k, false})
	}
	return specs
}

// containerdSpecs are the settings of containerd.
func containerdSpecs() []spec {
	specs := []spec{
		{"nri.enabled", "nri", []string{"disable"}, boolean, true},
		{"nri.external_connections", "nri", []string{"disable_connections"}, boolean, true},
		{"nri.socket_path", "nri", []string{"socket_path"}, text, false},
		{"nri.plugin_path", "nri", []string{"plugin_path"}, text, false},
		{"nri.plugin_config_path", "nri", []string{"plugin_config_path"}, text, false},
		{"nri.registration_timeout", "nri", []string{"plugin_registration_timeout"}, duration, false},
		{"nri.request_timeout", "nri", []string{"plugin_request_timeout"}, duration, false},
	}
	specs = append(specs, validatorSpecs("nri", "", "enable",
		"reject_oci_hook_adjustment", "reject_runtime_default_seccomp_adjustment",
		"reject_unconfined_seccomp_adjustment", "reject_custom_seccomp_adjustment",
		"reject_namespace_adjustment", "reject_sysctl_adjustment",
		"required_plugins", "tolerate_missing_plugins_annotation")...)
	return append(specs,
		spec{"cri.enable_cdi", "cri", []string{"enable_cdi"}, boolean, false},
		spec{"cri.cdi_spec_dirs", "cri", []string{"cdi_spec_dirs"}, list, false},
		spec{"cri.disable_hugetlb_controller", "cri", []string{"disable_hugetlb_controller"}, boolean, false},
		spec{"blockio_config_file", "tasks", []string{"blockio_config_file"}, text, false},
	)
}

// crioSpecs are the settings of CRI-O. It has no switch for CDI and none for the
// hugetlb controller.
func crioSpecs() []spec {
	specs := []spec{
		{"nri.enabled", "crio.nri", []string{"enable_nri"}, boolean, false},
		{"nri.external_connections", "crio.nri", []string{"nri_disable_connections"}, boolean, true},
		{"nri.socket_path", "crio.nri", []string{"nri_listen"}, text, false},
		{"nri.plugin_path", "crio.nri", []string{"nri_plugin_dir"}, text, false},
		{"nri.plugin_config_path", "crio.nri", []string{"nri_plugin_config_dir"}, text, false},
		{"nri.registration_timeout", "crio.nri", []string{"nri_plugin_registration_timeout"}, duration, false},
		{"nri.request_timeout", "crio.nri", []string{"nri_plugin_request_timeout"}, duration, false},
	}
	specs = append(specs, validatorSpecs("crio.nri", "nri_validator_", "nri_enable_default_validator",
		"reject_oci_hook_adjustment", "reject_runtime_default_seccomp_adjustment",
		"reject_unconfined_seccomp_adjustment", "reject_custom_seccomp_adjustment",
		"reject_namespace_adjustment", "required_plugins", "tolerate_missing_plugins_annotation")...)
	return append(specs,
		spec{"cri.cdi_spec_dirs", "crio.runtime", []string{"cdi_spec_dirs"}, list, false},
		spec{"blockio_config_file", "crio.runtime", []string{"blockio_config_file"}, text, false},
	)
}

// value turns the value of a key into that of the setting. The error names the
// form that the runtime demands.
func (s spec) value(v any) (string, error) {
	switch s.kind {
	case boolean:
		if b, ok := v.(bool); ok {
			return strconv.FormatBool(b != s.inverted), nil
		}
		return "", fmt.Errorf("is %v, must be true or false", quoted(v))
	case text:
		if t, ok := v.(string); ok {
			return t, nil
		}
		return "", fmt.Errorf("is %v, must be a string", quoted(v))
	case duration:
		switch d := v.(type) {
		case string:
			if _, err := time.ParseDuration(d); err == nil {
				return d, nil
			}
		case int64:
			return time.Duration(d).String(), nil
		}
		return "", fmt.Errorf(`is %v, must be a duration such as "5s"`, quoted(v))
	case list:
		if items, ok := stringsOf(v); ok {
			return strings.Join(items, ","), nil
		}
	}
	return "", fmt.Errorf("is %v, must be a list of strings", quoted(v))
}

// stringsOf gives the items of a list of strings.
func stringsOf(v any) ([]string, bool) {
	items, ok := v.([]any)
	var texts []string
	for _, item := range items {
		t, isText := item.(string)
		texts = append(texts, t)
		ok = ok && isText
	}
	return texts, ok
}

// quoted shows a value of the wrong form, cut to a length for one line.
func quoted(v any) string {
	const most = 80
	s := fmt.Sprintf("%#v", v)
	if t, ok := v.(string); ok {
		s = strconv.Quote(t)
	}
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
