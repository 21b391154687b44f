package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const kubeletHead = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

func TestReadKubeletConfig(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       map[string]string // those that are set
		says       string
	}{
		{"nothing set", kubeletHead + "cgroupDriver: systemd\n", map[string]string{}, ""},
		{"gates and policy", kubeletHead + "featureGates:\n  B: true\n  A: false\ntopologyManagerPolicy: restricted\n",
			map[string]string{"featureGates.A": "false", "featureGates.B": "true", "topologyManagerPolicy": "restricted"}, ""},
		{"none is a policy", kubeletHead + "topologyManagerPolicy: none\n", map[string]string{"topologyManagerPolicy": "none"}, ""},
		{"as JSON", `{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","featureGates":{"A":true}}`,
			map[string]string{"featureGates.A": "true"}, ""},
		{"no switch", kubeletHead + "featureGates:\n  A: \"true\"\n", nil, `feature gate A is "true": want true or false`},
		{"null is no switch", kubeletHead + "featureGates:\n  A:\n", nil, "feature gate A is null"},
		{"all alpha gates", kubeletHead + "featureGates:\n  AllAlpha: true\n", nil, "name the gates one by one"},
		{"no policy", kubeletHead + "topologyManagerPolicy: sometimes\n", nil, `topologyManagerPolicy is "sometimes"`},
		{"twice", kubeletHead + "featureGates:\n  A: true\n  A: false\n", nil, "already"},
		{"gates in another case", kubeletHead + "FeatureGates: {A: true}\n", nil, `it has the key "FeatureGates": want featureGates`},
		{"a policy in another case", kubeletHead + "topologymanagerpolicy: none\n", nil, "want topologyManagerPolicy"},
		{"a kind in another case", kubeletHead + "Kind: KubeletConfiguration\n", nil, "want kind"},
		{"a list", "- kind: KubeletConfiguration\n", nil, "it is no mapping: want a KubeletConfiguration"},
		{"another kind", "apiVersion: v1\nkind: Pod\n", nil, "want a KubeletConfiguration"},
		{"another version", "apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n", nil, "want a KubeletConfiguration"},
		{"TOML", "version = 2\n", nil, "configuration: "},
		{"empty", "", nil, "want a KubeletConfiguration"},
		{"too long", kubeletHead + "#" + strings.Repeat("x", maxKubeletConfig), nil, "too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "kubelet.yaml")
			if err := os.WriteFile(file, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			c, err := ReadConfig(file, ConfigOptions{Runtime: "kubelet"})
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %v, want one line that says %q", err, test.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range c.Settings {
				if s.Set {
					got[s.Name] = s.Value
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			// The file also tells by itself whose it is.
			if same, err := ReadConfig(file, ConfigOptions{}); err != nil || cmp.Diff(c, same) != "" {
				t.Errorf("without a runtime: %+v, %v", same, err)
			}
		})
	}
	if _, err := ReadConfig(filepath.Join(t.TempDir(), "none"), ConfigOptions{Runtime: "kubelet"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzKubeletConfig: what is read is what a switch and a policy can be.
func FuzzKubeletConfig(f *testing.F) {
	f.Add(kubeletHead + "featureGates: {A: true}\ntopologyManagerPolicy: none\n")
	f.Add(kubeletHead + "featureGates:\n  A: maybe\n")
	f.Add(`{"kind":"KubeletConfiguration"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var k kubeletSettings
		if err := k.parse([]byte(text), "f"); err != nil {
			return
		}
		settings := k.config().Settings
		if !strings.Contains(text, "Kubelet") && !strings.Contains(text, `\`) {
			t.Fatalf("accepted %q", text)
		}
		for _, s := range settings {
			gate := strings.HasPrefix(s.Name, "featureGates.") && (s.Value == "true" || s.Value == "false")
			if !gate && s.Name != "topologyManagerPolicy" || s.Set && s.Value == "" {
				t.Fatalf("%+v", s)
			}
		}
	})
}
