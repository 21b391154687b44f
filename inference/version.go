package inference

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is the version of a runtime release: three numbers, and for a
// pre-release its name. It has no vendor suffix; see [Runtime]. The zero value
// is no version.
type Version struct {
	Major, Minor, Patch uint64
	// Pre is "rc.5", "beta.0" and the like; empty for a release.
	Pre string
	// Main is set for the development snapshot that the table calls "main". It
	// has no numbers and is newer than every release.
	Main bool
}

// IsZero tells whether v is no version at all.
func (v Version) IsZero() bool { return v == Version{} }

// Prerelease tells whether v is an alpha, beta, rc or dev version or the
// development snapshot, none of which a range matches unless it is named.
func (v Version) Prerelease() bool { return v.Pre != "" || v.Main }

// Line is the release line, such as "1.7"; "main" for the development snapshot.
func (v Version) Line() string {
	if v.Main {
		return "main"
	}
	return strconv.FormatUint(v.Major, 10) + "." + strconv.FormatUint(v.Minor, 10)
}

func sameLine(v, w Version) bool {
	return v.Main == w.Main && v.Major == w.Major && v.Minor == w.Minor
}

// String returns the version without a leading "v", such as "2.0.0-rc.5".
func (v Version) String() string {
	if v.Main {
		return "main"
	}
	b := make([]byte, 0, 24)
	b = strconv.AppendUint(b, v.Major, 10)
	b = strconv.AppendUint(append(b, '.'), v.Minor, 10)
	b = strconv.AppendUint(append(b, '.'), v.Patch, 10)
	if v.Pre != "" {
		b = append(append(b, '-'), v.Pre...)
	}
	return string(b)
}

// MarshalText returns the form of [Version.String], empty for no version.
func (v Version) MarshalText() ([]byte, error) {
	if v.IsZero() {
		return nil, nil
	}
	return []byte(v.String()), nil
}

// UnmarshalText reads what [Version.MarshalText] writes. A version with
// anything else behind it, such as a vendor suffix, is an error.
func (v *Version) UnmarshalText(text []byte) error {
	s := string(text)
	switch s {
	case "":
		*v = Version{}
		return nil
	case "main":
		*v = Version{Main: true}
		return nil
	}
	parsed, rest, ok := cutVersion(s)
	if !ok || rest != "" || parsed.String() != s {
		return fmt.Errorf("invalid version %q: want MAJOR.MINOR.PATCH, or with -alpha.N, -beta.N or -rc.N", s)
	}
	*v = parsed
	return nil
}

// Compare orders versions: pre-releases before their release, main last.
func (v Version) Compare(w Version) int {
	if v.Main != w.Main {
		if v.Main {
			return 1
		}
		return -1
	}
	return cmp.Or(
		cmp.Compare(v.Major, w.Major),
		cmp.Compare(v.Minor, w.Minor),
		cmp.Compare(v.Patch, w.Patch),
		comparePre(v.Pre, w.Pre),
	)
}

// comparePre orders pre-release names as semantic versioning does.
func comparePre(a, b string) int {
	if a == b {
		return 0
	}
	if a == "" {
		return 1
	}
	if b == "" {
		return -1
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		an, aErr := strconv.ParseUint(as[i], 10, 64)
		bn, bErr := strconv.ParseUint(bs[i], 10, 64)
		c := 0
		switch {
		case aErr == nil && bErr == nil:
			c = cmp.Compare(an, bn)
		case aErr == nil:
			c = -1
		case bErr == nil:
			c = 1
		default:
			c = cmp.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// cutVersion splits "v2.0.0-rc.5-k3s1" into version 2.0.0-rc.5 and the rest
// "-k3s1". Numbers with leading zeros are refused: no runtime uses them and
// reading them would change the number a person sees.
func cutVersion(s string) (Version, string, bool) {
	rest := strings.TrimPrefix(s, "v")
	var nums [3]uint64
	for i := range nums {
		if i > 0 {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, "."); !ok {
				return Version{}, "", false
			}
		}
		digits := leadingDigits(rest)
		if digits == "" || len(digits) > 1 && digits[0] == '0' {
			return Version{}, "", false
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return Version{}, "", false
		}
		nums[i], rest = n, rest[len(digits):]
	}
	v := Version{Major: nums[0], Minor: nums[1], Patch: nums[2]}
	v.Pre, rest = cutPre(rest)
	return v, rest, true
}

// cutPre takes a real pre-release off the front of a version's rest: alpha,
// beta, rc or dev with an optional number, after "-" or, as Debian writes it,
// after "~". Everything else there belongs to a vendor.
func cutPre(rest string) (pre, after string) {
	if rest == "" || rest[0] != '-' && rest[0] != '~' {
		return "", rest
	}
	for _, word := range []string{"alpha", "beta", "rc", "dev"} {
		after, ok := strings.CutPrefix(rest[1:], word)
		if !ok {
			continue
		}
		pre := word
		number := leadingDigits(strings.TrimPrefix(after, "."))
		if number != "" && (len(number) == 1 || number[0] != '0') {
			pre += "." + number
			after = strings.TrimPrefix(after, ".")[len(number):]
		}
		if after == "" || !isWordByte(after[0]) {
			return pre, after
		}
	}
	return "", rest
}

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
