package node

import (
	"encoding/json"
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
	APIVersion            string                     `json:"apiVersion"`
	Kind                  string                     `json:"kind"`
	FeatureGates          map[string]json.RawMessage `json:"featureGates"`
	TopologyManagerPolicy string                     `json:"topologyManagerPolicy"`
}

// isKubeletConfig tells whether a file says of itself that it is one of the
// kubelet.
func isKubeletConfig(text []byte) bool {
	return regexp.MustCompile(`(?m)^\s*[{"']*kind["']?\s*:\s*["']?KubeletConfiguration\b`).Match(text)
}

// readKubelet reads the feature gates and the topology manager's policy of a
// KubeletConfiguration. Gates that the table does not have are kept; whoever
// asks for a setting does not see them.
func readKubelet(file string) (Config, error) {
	text, err := readBounded(file, maxKubeletConfig)
	if err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	settings, err := parseKubelet(text, file)
	if err != nil {
		return Config{}, fmt.Errorf("configuration: %s: %w", file, err)
	}
	return Config{Runtime: "kubelet", Files: []string{file}, Settings: settings}, nil
}

func parseKubelet(text []byte, file string) ([]Setting, error) {
	doc, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("%s", strings.Join(strings.Fields(err.Error()), " "))
	}
	var c kubeletConfig
	if err := json.Unmarshal(doc, &c); err != nil {
		return nil, err
	}
	if c.Kind != "KubeletConfiguration" || c.APIVersion != "kubelet.config.k8s.io/v1beta1" {
		return nil, fmt.Errorf("it is a %q of %q: want a KubeletConfiguration of kubelet.config.k8s.io/v1beta1", c.Kind, c.APIVersion)
	}
	var settings []Setting
	for _, name := range slices.Sorted(maps.Keys(c.FeatureGates)) {
		var on bool
		if err := json.Unmarshal(c.FeatureGates[name], &on); err != nil || string(c.FeatureGates[name]) == "null" {
			return nil, fmt.Errorf("feature gate %s is %s: want true or false", name, c.FeatureGates[name])
		}
		if name == "AllAlpha" || name == "AllBeta" {
			return nil, fmt.Errorf("feature gate %s changes the default of others, which is not understood: name the gates one by one", name)
		}
		settings = append(settings, Setting{
			Name: "featureGates." + name, Set: true, Value: strconv.FormatBool(on), Key: "featureGates: " + name, File: file,
		})
	}
	policy := c.TopologyManagerPolicy
	if !slices.Contains([]string{"", "none", "best-effort", "restricted", "single-numa-node"}, policy) {
		return nil, fmt.Errorf("topologyManagerPolicy is %q: want none, best-effort, restricted or single-numa-node", policy)
	}
	return append(settings, Setting{
		Name: "topologyManagerPolicy", Set: policy != "", Value: policy, Key: "topologyManagerPolicy", File: file,
	}), nil
}
