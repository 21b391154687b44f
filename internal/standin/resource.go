package standin

import (
	"regexp"
	"strings"
)

var (
	resourcePart   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	resourceDomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// extendedResource tells whether a name is one that a device plugin may use:
// DOMAIN/NAME, where the domain is not that of Kubernetes itself and leaves room
// for the prefix "requests." of quotas.
func extendedResource(name string) bool {
	domain, part, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(name, "kubernetes.io/") || strings.HasPrefix(name, "requests.") {
		return false
	}
	const maxDomain = 253
	return len("requests.")+len(domain) <= maxDomain && resourceDomain.MatchString(domain) && resourcePart.MatchString(part)
}
