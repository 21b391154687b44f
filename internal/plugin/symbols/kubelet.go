package symbols

import (
	"regexp"
	"strings"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

var kubeletPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)apis/(deviceplugin|podresources|dra|dra-health|pods|pluginregistration)/(v[0-9]+(?:(?:alpha|beta)[0-9]+)?)$`)
})

// KubeletAPI tells which API of the kubelet a package with the given import path
// is, such as "deviceplugin" and "v1beta1": one below k8s.io/kubelet/pkg/apis,
// below k8s.io/kubernetes/pkg/kubelet/apis, or a copy under a path that ends in
// the same way.
func KubeletAPI(path string) (name, version string, ok bool) {
	if !strings.Contains(path, "apis/") {
		return "", "", false
	}
	m := kubeletPath().FindStringSubmatch(path)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// DeviceFramework tells whether a package is the framework of Intel's device
// plugins, whose code is not the plugin's own: it can do everything, and does
// what the plugin hands it.
func DeviceFramework(path string) bool {
	return strings.HasSuffix(path, "intel-device-plugins-for-kubernetes/pkg/deviceplugin")
}

// DRALibrary tells whether a package is the one of Kubernetes that DRA drivers
// are built on. It offers every version of the services that it knows, each of
// which an option turns off.
func DRALibrary(path string) bool {
	return strings.HasSuffix(path, "k8s.io/dynamic-resource-allocation/kubeletplugin")
}

// DRAService returns the capability that a driver needs which offers the
// service of an API of the kubelet. The v1alpha3 service is that of the Go
// package v1alpha4, or of v1alpha3 with classic parameters.
func DRAService(name, version string) (capability.ID, bool) {
	id, ok := map[string]capability.ID{
		"dra v1alpha1":        capability.DRAV1alpha1,
		"dra v1alpha2":        capability.DRAV1alpha2,
		"dra v1alpha3":        capability.DRAV1alpha3Classic,
		"dra v1alpha4":        capability.DRAV1alpha3Structured,
		"dra v1beta1":         capability.DRAV1beta1,
		"dra v1":              capability.DRAV1,
		"dra-health v1alpha1": capability.DRAHealthV1alpha1,
		"dra-health v1":       capability.DRAHealthV1,
	}[name+" "+version]
	return id, ok
}
