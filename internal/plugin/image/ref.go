package image

import (
	"fmt"
	"strings"
)

// Scheme is the kind of an image reference.
type Scheme string

// The schemes.
const (
	Registry      Scheme = "image"          // a name in a registry
	DockerArchive Scheme = "docker-archive" // a file written by "docker save"
	OCIDir        Scheme = "oci-dir"        // a directory with an OCI image layout
)

// Ref names an image.
type Ref struct {
	Scheme Scheme
	Target string
}

// String returns the reference as [ParseRef] reads it.
func (r Ref) String() string { return string(r.Scheme) + ":" + r.Target }

// ParseRef reads "image:REF", "docker-archive:FILE" or "oci-dir:DIR". It looks
// at neither file nor network.
func ParseRef(s string) (Ref, error) {
	scheme, target, ok := strings.Cut(s, ":")
	if !ok {
		return Ref{}, fmt.Errorf("%.100q is no image reference: write image:REF, docker-archive:FILE or oci-dir:DIR", s)
	}
	r := Ref{Scheme(scheme), target}
	switch r.Scheme {
	case Registry, DockerArchive, OCIDir:
	default:
		return Ref{}, fmt.Errorf("unknown scheme %.40q: write image:REF, docker-archive:FILE or oci-dir:DIR", scheme)
	}
	if target == "" {
		return Ref{}, fmt.Errorf("%q names nothing: write something after the colon", s)
	}
	return r, nil
}
