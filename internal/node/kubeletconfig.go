package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxKubeletConfig bounds the files that are read.
const maxKubeletConfig = 1 << 20

// kubeletConfig is what counts of a KubeletConfiguration.
type kubeletConfig struct {
	APIVersion            string          `json:"apiVersion"`
	Kind                  string          `json:"kind"`
	FeatureGates          json.RawMessage `json:"featureGates"`
	TopologyManagerPolicy json.RawMessage `json:"topologyManagerPolicy"`
}

// isKubeletConfig tells whether a file says of itself that it is one of the
// kubelet.
func isKubeletConfig(text []byte) bool {
	return regexp.MustCompile(`(?m)^\s*[{"']*kind["']?\s*:\s*["']?KubeletConfiguration\b`).Match(text)
}

// IsKubeletConfig tells whether a file on this machine says of itself that it is a
// KubeletConfiguration. It is false for one that cannot be read.
func IsKubeletConfig(file string) bool {
	text, err := readBounded(file, maxKubeletConfig)
	return (err == nil || errors.Is(err, errTooLong)) && isKubeletConfig(text)
}

// readKubelet reads the feature gates and the topology manager's policy of a
// KubeletConfiguration. Gates that the table does not have are kept; whoever
// asks for a setting does not see them.
func readKubelet(file string) (Config, error) {
	k := kubeletSettings{}
	if err := k.read(Host{}, file); err != nil {
		return Config{}, err
	}
	for _, name := range allGates {
		if _, ok := k.gates[name]; ok {
			return Config{}, fmt.Errorf("configuration: %s: feature gate %s changes the default of others, which is not understood: name the gates one by one", file, name)
		}
	}
	return k.config(), nil
}

// allGates are the gates that change the default of others.
var allGates = []string{"AllAlpha", "AllBeta"}

// kubeletSettings collects what files and flags say, in the order in which they
// count.
type kubeletSettings struct {
	files  []string
	gates  map[string]Setting
	policy Setting
	notes  []string
}

// read adds a file, which overrides what was there.
func (k *kubeletSettings) read(h Host, file string) error {
	text, err := readBounded(h.path(file), maxKubeletConfig)
	if err == nil {
		err = k.parse(text, file)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	k.files = append(k.files, file)
	return nil
}

// parse adds the text of a file. Null takes back what an earlier file said, as in
// a merge patch, but for a single gate: there it is no value.
func (k *kubeletSettings) parse(text []byte, file string) error {
	doc, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return fmt.Errorf("%s", strings.Join(strings.Fields(err.Error()), " "))
	}
	if err := exactKeys(doc); err != nil {
		return err
	}
	var c kubeletConfig
	if err := json.Unmarshal(doc, &c); err != nil {
		return err
	}
	if c.Kind != "KubeletConfiguration" || c.APIVersion != "kubelet.config.k8s.io/v1beta1" {
		return fmt.Errorf("it is a %q of %q: want a KubeletConfiguration of kubelet.config.k8s.io/v1beta1", c.Kind, c.APIVersion)
	}
	if string(c.FeatureGates) == "null" {
		k.gates, c.FeatureGates = nil, nil
	}
	gates := map[string]json.RawMessage{}
	if c.FeatureGates != nil {
		if err := json.Unmarshal(c.FeatureGates, &gates); err != nil {
			return fmt.Errorf("featureGates: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		var on bool
		if err := json.Unmarshal(gates[name], &on); err != nil || string(gates[name]) == "null" {
			return fmt.Errorf("feature gate %s is %s: want true or false", name, gates[name])
		}
		k.setGate(name, on, "featureGates: "+name, file)
	}
	switch {
	case string(c.TopologyManagerPolicy) == "null":
		k.policy = Setting{}
	case c.TopologyManagerPolicy != nil:
		var policy string
		if err := json.Unmarshal(c.TopologyManagerPolicy, &policy); err != nil {
			return fmt.Errorf("topologyManagerPolicy: %w", err)
		}
		return k.setPolicy(policy, "topologyManagerPolicy", file)
	}
	return nil
}

// exactKeys refuses a key that is one of a KubeletConfiguration but for its case:
// the kubelet passes over it in the file of --config, and takes it in a drop-in.
func exactKeys(doc []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(doc, &keys); err != nil {
		return errors.New("it is no mapping: want a KubeletConfiguration")
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		for _, want := range []string{"apiVersion", "kind", "featureGates", "topologyManagerPolicy"} {
			if key != want && strings.EqualFold(key, want) {
				return fmt.Errorf("it has the key %q: want %s", key, want)
			}
		}
	}
	return nil
}

func (k *kubeletSettings) setGate(name string, on bool, key, file string) {
	if k.gates == nil {
		k.gates = map[string]Setting{}
	}
	k.gates[name] = Setting{Name: "featureGates." + name, Set: true, Value: strconv.FormatBool(on), Key: key, File: file}
}

// setPolicy sets the policy of the topology manager; an empty one is none that is
// set.
func (k *kubeletSettings) setPolicy(policy, key, file string) error {
	if !slices.Contains([]string{"", "none", "best-effort", "restricted", "single-numa-node"}, policy) {
		return fmt.Errorf("%s is %q: want none, best-effort, restricted or single-numa-node", key, policy)
	}
	k.policy = Setting{Set: policy != "", Value: policy, Key: key, File: file}
	return nil
}

// config gives what was collected.
func (k *kubeletSettings) config() Config {
	c := Config{Runtime: "kubelet", Files: k.files, Notes: k.notes}
	for _, name := range slices.Sorted(maps.Keys(k.gates)) {
		c.Settings = append(c.Settings, k.gates[name])
	}
	policy := k.policy
	policy.Name = "topologyManagerPolicy"
	if policy.Key == "" {
		policy.Key = "topologyManagerPolicy"
		if len(k.files) > 0 {
			policy.File = k.files[0]
		}
	}
	c.Settings = append(c.Settings, policy)
	return c
}
