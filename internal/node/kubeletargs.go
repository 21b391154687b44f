package node

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// KubeletConfig reads the configuration with which a kubelet runs, as the kubelet
// does: the file of --config, over it the files of --config-dir in order, over
// those the flags. A kubelet may run without any file. What depends on gates that
// change the default of others is not known, and GatesUnknown says so. Of a
// program that has a kubelet inside the configuration is not known; the error
// says so.
func (k Kubelet) KubeletConfig() (Config, error) {
	if k.Inside != "" && k.Inside != "hyperkube" {
		return Config{}, fmt.Errorf("configuration: what %s tells the kubelet inside it is not read", k.Inside)
	}
	if errors.Is(k.Err, fs.ErrPermission) {
		// Whether it sees the same files as this process cannot be told.
		return Config{}, fmt.Errorf("configuration: %w: run as root", k.Err)
	}
	if len(k.Args) == 0 {
		return Config{}, errors.New("configuration: the arguments of the kubelet cannot be seen")
	}
	args := normalized(k.Args)
	var s kubeletSettings
	if file, ok := flagValue(args, "config"); ok && file != "" {
		if err := s.read(k.host, k.host.absolute(k.Process, file)); err != nil {
			return Config{}, err
		}
	}
	if dir, ok := flagValue(args, "config-dir"); ok && dir != "" {
		files, err := k.host.kubeletDropIns(k.host.absolute(k.Process, dir))
		if err != nil {
			return Config{}, err
		}
		for _, file := range files {
			if err := s.read(k.host, file); err != nil {
				return Config{}, err
			}
		}
	}
	if err := s.flags(args); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	c := s.config()
	c.GatesUnknown = s.gatesUnknown()
	c.Settings = slices.DeleteFunc(c.Settings, func(s Setting) bool {
		return slices.Contains(allGates, strings.TrimPrefix(s.Name, "featureGates."))
	})
	return c, nil
}

// normalized gives arguments with dashes in the names of flags: the kubelet takes
// underscores for the same.
func normalized(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if name, value, ok := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") {
			out[i] = strings.ReplaceAll(name, "_", "-")
			if ok {
				out[i] += "=" + value
			}
		}
	}
	return out
}

// kubeletDropIns lists the drop-in files in a directory and below, in the order in
// which they count. The kubelet does not start without the directory.
func (h Host) kubeletDropIns(dir string) ([]string, error) {
	files, err := h.dropIns(dir, ".conf")
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return files, nil
}

// flags adds what the arguments say, which overrides all files. Gates that only a
// file names stay.
func (k *kubeletSettings) flags(args []string) error {
	for _, list := range flagValues(args, "feature-gates") {
		for pair := range strings.SplitSeq(list, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if strings.TrimSpace(pair) == "" {
				continue
			}
			on, err := strconv.ParseBool(strings.TrimSpace(value))
			if !ok || err != nil {
				return fmt.Errorf("--feature-gates has %s: want GATE=true or GATE=false", quoted(pair))
			}
			k.setGate(strings.TrimSpace(name), on, "--feature-gates", "")
		}
	}
	if policy, ok := flagValue(args, "topology-manager-policy"); ok {
		return k.setPolicy(policy, "--topology-manager-policy", "")
	}
	return nil
}

// gatesUnknown says why the defaults of gates are not known; empty if they are.
// AllAlpha=false is what holds without it.
func (k *kubeletSettings) gatesUnknown() string {
	for _, name := range allGates {
		s, ok := k.gates[name]
		if !ok || name == "AllAlpha" && s.Value == "false" {
			continue
		}
		where := s.Key
		if s.File != "" {
			where = s.File
		}
		return fmt.Sprintf("feature gate %s is %s (%s): which other gates that changes is not known, except where they are named", name, s.Value, where)
	}
	return ""
}
