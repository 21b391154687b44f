package inference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// NRIEnabled is the setting that switches NRI itself on.
const NRIEnabled = "nri.enabled"

// gatePrefix begins the names of the settings that are feature gates.
const gatePrefix = "featureGates."

// TopologyManagerPolicy is the setting without which a kubelet aligns no
// devices. Its default is to align none; who asks about a release wants to know
// what the release can do, so that it only counts if somebody says what it is.
const TopologyManagerPolicy = "topologyManagerPolicy"

// aligned is the answer about the topology of devices where the policy of the
// kubelet is known.
func (s Support) aligned(id capability.ID, a capability.Answer) capability.Answer {
	if _, said := s.values[TopologyManagerPolicy]; !said || id != capability.DeviceTopology || a.Status() == capability.StatusMissing {
		return a
	}
	set := s.table.condition(TopologyManagerPolicy+"=set", s.release(), s.values)
	if set.Value == "none" {
		set.Value = "" // none is what it is called if it is not set
	}
	a.State, a.Effect = capability.Conditional, capability.Dropped
	a.Settings = append(a.Settings, set)
	return a
}

// Values are settings whose value is known, by short name. The value
// "default" stands for the default of the release.
type Values map[string]Value

// Value is what a setting is known to be, and where that is known from:
// "assumed", or the file it was read from.
type Value struct {
	Value  string
	Origin string
}

// ParseAssumption reads "name=value", such as "cri.enable_cdi=true". The name
// must be one that the table has.
func (t *Table) ParseAssumption(s string) (name string, v Value, err error) {
	name, value, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	value = strings.TrimSpace(value)
	if !ok || name == "" {
		return "", Value{}, fmt.Errorf("invalid assumption %q: write NAME=VALUE, such as cri.enable_cdi=true", s)
	}
	known := t.SettingNames()
	if !slices.Contains(known, name) {
		known = slices.DeleteFunc(known, func(n string) bool {
			return strings.HasPrefix(n, gatePrefix) != strings.HasPrefix(strings.ToLower(name), strings.ToLower(gatePrefix))
		})
		return "", Value{}, fmt.Errorf("unknown setting %q: use one of %s", name, strings.Join(known, ", "))
	}
	if value != "default" && t.boolean(name) && value != "true" && value != "false" {
		return "", Value{}, fmt.Errorf("invalid value %q for setting %s: use true, false or default", value, name)
	}
	return name, Value{value, assumedOrigin}, nil
}

// boolean tells whether a setting is a switch: all of its defaults are.
func (t *Table) boolean(name string) bool {
	for _, d := range t.rows.Settings {
		if d.Setting == name && d.Value != "true" && d.Value != "false" {
			return false
		}
	}
	return true
}

// SettingNames returns the short names of all settings, sorted.
func (t *Table) SettingNames() []string {
	var names []string
	for _, d := range t.rows.Settings {
		names = append(names, d.Setting)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Default returns the default of a setting in a release.
func (t *Table) Default(setting, runtime string, v Version) (Default, bool) {
	var found Default
	ok := false
	for _, d := range t.rows.Settings {
		if d.Setting == setting && d.Runtime == runtime && d.From.Compare(v) <= 0 {
			found, ok = d, true
		}
	}
	return found, ok
}

// condition resolves "name=want" for a release under the given values.
func (t *Table) condition(when string, r Release, values Values) capability.Setting {
	name, want, _ := strings.Cut(when, "=")
	s := capability.Setting{Name: name, Want: want, Origin: "unknown"}
	d, ok := t.Default(name, r.Runtime, r.Version)
	if ok {
		s.Value, s.Origin, s.Key = d.Value, "default", d.Key
	}
	if v, given := values[name]; given && v.Value != "default" {
		s.Value, s.Origin = v.Value, v.Origin
	}
	return s
}
