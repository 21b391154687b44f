package symbols

import "testing"

func TestKubeletAPI(t *testing.T) {
	for path, want := range map[string]string{
		"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1":                  "deviceplugin v1beta1",
		"k8s.io/kubernetes/pkg/kubelet/apis/deviceplugin/v1beta1":       "deviceplugin v1beta1",
		"example.com/plugin/vendored/apis/podresources/v1":              "podresources v1",
		"k8s.io/kubelet/pkg/apis/dra-health/v1alpha1":                   "dra-health v1alpha1",
		"k8s.io/kubelet/pkg/apis/dra/v1alpha4":                          "dra v1alpha4",
		"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/internal":         " ",
		"k8s.io/kubelet/pkg/apis/stats/v1alpha1":                        " ",
		"example.com/deviceplugin/v1":                                   " ",
		"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager":                " ",
		"k8s.io/kubelet/pkg/apis/notadeviceplugin/v1beta1":              " ",
		"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1": " ",
	} {
		name, version, _ := KubeletAPI(path)
		if got := name + " " + version; got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}
