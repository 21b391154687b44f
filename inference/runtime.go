package inference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The runtimes the table knows. The kubelet is one of them: for device plugins
// it is what a container runtime is for NRI plugins.
const (
	Containerd = "containerd"
	CRIO       = "cri-o"
	Kubelet    = "kubelet"
)

// Runtimes returns the names of the runtimes the table knows, in display order.
func Runtimes() []string { return []string{Containerd, CRIO, Kubelet} }

// Runtime is a container runtime, or a kubelet, as somebody reported it: which release, and
// what was done to it.
type Runtime struct {
	// Name is "containerd", "cri-o" or "kubelet", whatever the build calls itself.
	Name string
	// Version is the upstream release it is, or is built on.
	Version Version
	// Vendor is the suffix that a distribution gave it, such as "k3s1.32" or
	// "0ubuntu1~24.04.2"; empty for an upstream build.
	Vendor string
	// Commits counts the commits after the release (git describe), Commit is
	// the abbreviated hash. Modified tells that the tree had changes of its own.
	Commits  int
	Commit   string
	Modified bool
	// Unstamped is set for a build that got no version when it was linked and
	// reports "+unknown": the release is the one of its source tree.
	Unstamped bool
}

// Upstream tells whether r is a plain build of a release.
func (r Runtime) Upstream() bool {
	return r.Vendor == "" && r.Commits == 0 && !r.Modified
}

// String returns a form that [ParseRuntime] reads back to the same Runtime,
// such as "containerd@2.0.5+k3s1.32".
func (r Runtime) String() string {
	var b strings.Builder
	b.WriteString(r.Name + "@" + r.Version.String())
	if r.Commits > 0 {
		fmt.Fprintf(&b, "-%d-g%s", r.Commits, r.Commit)
	}
	if r.Modified {
		b.WriteString(".m")
	}
	switch {
	case r.Unstamped:
		b.WriteString("+unknown")
	case r.Vendor != "":
		b.WriteString("+" + r.Vendor)
	}
	return b.String()
}

// RuntimeError reports a string that names no runtime the table could know.
type RuntimeError struct {
	Input  string // as it was given, shortened if very long
	Reason string // the rule it breaks
	Hint   string // what to type instead; may be empty
}

func (e *RuntimeError) Error() string {
	s := fmt.Sprintf("invalid runtime %q: %s", e.Input, e.Reason)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

const maxRuntimeLength = 1024

// ParseRuntime reads a runtime in any of the forms in which one is met:
// "containerd@2.0.5", "containerd://2.0.5-k3s1" as a node reports it, a whole
// line of `containerd --version`, `crio version`, `crictl version` or
// `kubelet --version` (which names Kubernetes), with the suffixes of distributions, git describe and pre-releases. The names "v2"
// (sent by containerd 2.0.0-rc.2 to 2.0.3) and "containerd.io" (Docker's
// packages) mean containerd. Errors are of type [RuntimeError]. The numbers of
// a version are never changed, and reading the result's String gives the same.
func ParseRuntime(s string) (Runtime, error) {
	fail := func(reason, hint string) (Runtime, error) {
		return Runtime{}, &RuntimeError{Input: shorten(s), Reason: reason, Hint: hint}
	}
	text := strings.TrimSpace(s)
	if text == "" {
		return fail("it is empty", "write NAME@VERSION, such as containerd@2.1.3")
	}
	if len(text) > maxRuntimeLength {
		return fail(fmt.Sprintf("it is longer than %d bytes", maxRuntimeLength), "")
	}
	name, version := splitRuntime(text)
	if name == "" {
		return fail(unnamedReason(version))
	}
	canonical, ok := canonicalRuntime(name)
	if !ok {
		return fail(foreignReason(name))
	}
	r, ok := parseVersion(version)
	if !ok {
		return fail(versionReason(version))
	}
	r.Name = canonical
	return r, nil
}

// NewRuntime returns the runtime for the name and version that a plugin is
// given in Configure.
func NewRuntime(name, version string) (Runtime, error) {
	if name == "" {
		return Runtime{}, &RuntimeError{Input: shorten(version), Reason: "the runtime reports no name"}
	}
	return ParseRuntime(name + "@" + version)
}

// splitRuntime finds the name and the version in s; name is empty if there is
// none.
func splitRuntime(s string) (name, version string) {
	if name, version, ok := strings.Cut(s, "://"); ok {
		return name, strings.TrimSpace(version)
	}
	if name, version, ok := strings.Cut(s, "@"); ok && !strings.ContainsAny(name, " \t\n") {
		return name, strings.TrimSpace(version)
	}
	fields := strings.Fields(s)
	if name, version, ok := fromCrictl(fields); ok {
		return name, version
	}
	if looksLikeVersion(fields[0]) {
		return "", fields[0]
	}
	for _, f := range fields[1:] {
		if looksLikeVersion(f) {
			return fields[0], f
		}
	}
	if len(fields) > 1 {
		return fields[0], fields[1]
	}
	return fields[0], ""
}

// fromCrictl reads the output of `crictl version`, whose own "Version:" line
// is that of the CRI API.
func fromCrictl(fields []string) (name, version string, ok bool) {
	at := slices.Index(fields, "RuntimeVersion:")
	if at < 0 || at+1 >= len(fields) {
		return "", "", false
	}
	if n := slices.Index(fields, "RuntimeName:"); n >= 0 && n+1 < len(fields) {
		name = fields[n+1]
	}
	return name, fields[at+1], true
}

func looksLikeVersion(s string) bool {
	s = strings.TrimPrefix(s, "v")
	digits := leadingDigits(s)
	return digits != "" && strings.HasPrefix(s[len(digits):], ".")
}

func canonicalRuntime(name string) (string, bool) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "containerd", "containerd.io", "v2":
		return Containerd, true
	case "cri-o", "crio":
		return CRIO, true
	case "kubelet", "kubernetes":
		return Kubelet, true
	}
	return "", false
}

// parseVersion reads a version with everything that builds append to it.
func parseVersion(s string) (Runtime, bool) {
	if s == "main" {
		return Runtime{Version: Version{Main: true}}, true
	}
	v, rest, ok := cutVersion(s)
	if !ok || !printable(rest) {
		return Runtime{}, false
	}
	r := Runtime{Version: v}
	if commits, commit, after, ok := cutDescribe(rest); ok {
		r.Commits, r.Commit, rest = commits, commit, after
	}
	for _, mark := range []string{".m", "-dirty"} {
		if after, ok := strings.CutPrefix(rest, mark); ok && (after == "" || !isWordByte(after[0])) {
			r.Modified, rest = true, after
			break
		}
	}
	switch {
	case rest == "":
	case rest == "+unknown":
		r.Unstamped = true
	case strings.IndexByte("-+~.", rest[0]) >= 0 && len(rest) > 1:
		r.Vendor = rest[1:]
	default:
		return Runtime{}, false
	}
	if r.Vendor == "unknown" {
		// "-unknown" is no vendor; it must not read back as an unstamped build.
		return Runtime{}, false
	}
	return r, true
}

// cutDescribe takes "-36-g7dd7a09" off the front: what git describe appends
// to the newest tag, so the build is newer than the release, not older.
func cutDescribe(rest string) (commits int, commit, after string, ok bool) {
	s, ok := strings.CutPrefix(rest, "-")
	if !ok {
		return 0, "", rest, false
	}
	digits := leadingDigits(s)
	n, err := strconv.Atoi(digits)
	s, ok = strings.CutPrefix(s[len(digits):], "-g")
	if err != nil || n == 0 || !ok || digits[0] == '0' {
		return 0, "", rest, false
	}
	end := 0
	for end < len(s) && strings.IndexByte("0123456789abcdef", s[end]) >= 0 {
		end++
	}
	if end < 4 || end > 40 || end < len(s) && isWordByte(s[end]) {
		return 0, "", rest, false
	}
	return n, s[:end], s[end:], true
}

func printable(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && strings.IndexByte(".+~_:-", s[i]) < 0 {
			return false
		}
	}
	return true
}

func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
