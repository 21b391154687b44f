package gomod

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Kubernetes is the module path of Kubernetes itself.
const Kubernetes = "k8s.io/kubernetes"

// Release is what the go.mod of a Kubernetes release says.
type Release struct {
	// Version is the release with "v", such as "v1.34.1".
	Version string
	// Go is the Go version it needs, such as "1.24.0"; empty if it names none.
	Go string
	// Staging are the modules that it keeps in its own tree, sorted.
	Staging []string
	// Required are those of them that its go.mod requires, sorted: without a
	// replace directive for each of them nobody can import the release.
	Required []string
}

// StagingVersion is the version at which the staging modules of the release
// were published, such as "v0.34.1".
func (r Release) StagingVersion() string { return StagingVersion(r.Version) }

// StagingVersion is the version of the staging modules of a release that
// [ParseVersion] returned.
func StagingVersion(kubernetes string) string {
	return "v0." + strings.TrimPrefix(kubernetes, "v1.")
}

// ParseVersion reads a Kubernetes release, with or without "v", and returns it
// with "v". It must be a whole version, MAJOR.MINOR.PATCH, from 1.17.0 on:
// staging modules of releases before it have versions that do not follow from
// the release.
func ParseVersion(s string) (string, error) {
	v := s
	if !strings.HasPrefix(v, "v") {
		v = "v" + v
	}
	switch {
	case !semver.IsValid(v) || semver.Canonical(v) != v:
		return "", fmt.Errorf("invalid Kubernetes release %q: write MAJOR.MINOR.PATCH, such as 1.34.1", s)
	case semver.Major(v) == "v0":
		return "", fmt.Errorf("invalid Kubernetes release %q: that is a version of its staging modules, write 1%s", s, v[len("v0"):])
	case semver.Major(v) != "v1":
		return "", fmt.Errorf("invalid Kubernetes release %q: only releases 1.x are known", s)
	case semver.Compare(v, "v1.17.0") < 0:
		return "", fmt.Errorf("invalid Kubernetes release %q: before 1.17.0 the versions of the staging modules do not follow from the release", s)
	}
	return v, nil
}

// ParseRelease reads the go.mod of a Kubernetes release.
func ParseRelease(version string, gomod []byte) (Release, error) {
	version, err := ParseVersion(version)
	if err != nil {
		return Release{}, err
	}
	// Replace directives are read by the strict parser only.
	f, err := modfile.Parse(Kubernetes+"@"+version+"/go.mod", gomod, nil)
	if err != nil {
		return Release{}, err
	}
	r := Release{Version: version}
	if f.Go != nil {
		r.Go = f.Go.Version
	}
	for _, rep := range f.Replace {
		if rep.New.Version == "" && strings.HasPrefix(rep.New.Path, "./staging/") {
			r.Staging = append(r.Staging, rep.Old.Path)
		}
	}
	if len(r.Staging) == 0 {
		return Release{}, fmt.Errorf("go.mod of %s %s names no staging modules", Kubernetes, version)
	}
	slices.Sort(r.Staging)
	r.Staging = slices.Compact(r.Staging)
	for _, req := range f.Require {
		if slices.Contains(r.Staging, req.Mod.Path) {
			r.Required = append(r.Required, req.Mod.Path)
		}
	}
	slices.Sort(r.Required)
	r.Required = slices.Compact(r.Required)
	return r, nil
}

// everStaging are the modules that any release from 1.17 to 1.37 kept in its
// tree, sorted. They tell pins from other replace directives where no release
// was read.
func everStaging() []string {
	return []string{
		"k8s.io/api", "k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/apiserver",
		"k8s.io/cli-runtime", "k8s.io/client-go", "k8s.io/cloud-provider", "k8s.io/cluster-bootstrap",
		"k8s.io/code-generator", "k8s.io/component-base", "k8s.io/component-helpers",
		"k8s.io/controller-manager", "k8s.io/cri-api", "k8s.io/cri-client", "k8s.io/cri-streaming",
		"k8s.io/csi-translation-lib", "k8s.io/dynamic-resource-allocation", "k8s.io/endpointslice",
		"k8s.io/externaljwt", "k8s.io/kms", "k8s.io/kube-aggregator", "k8s.io/kube-controller-manager",
		"k8s.io/kube-proxy", "k8s.io/kube-scheduler", "k8s.io/kubectl", "k8s.io/kubelet",
		"k8s.io/legacy-cloud-providers", "k8s.io/metrics", "k8s.io/mount-utils", "k8s.io/node-api",
		"k8s.io/pod-security-admission", "k8s.io/sample-apiserver", "k8s.io/sample-cli-plugin",
		"k8s.io/sample-controller", "k8s.io/streaming",
	}
}
