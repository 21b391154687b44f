package image

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// choice is the platform that is wanted.
type choice struct {
	platform v1.Platform
	asked    bool // by the user, so that nothing else will do
}

func newChoice(s string) (choice, error) {
	if s == "" {
		return choice{platform: v1.Platform{OS: "linux", Architecture: runtime.GOARCH}}, nil
	}
	p, err := v1.ParsePlatform(s)
	if err != nil || p.OS == "" || p.Architecture == "" {
		return choice{}, fmt.Errorf("invalid platform %q: write OS/ARCH or OS/ARCH/VARIANT, such as linux/arm64", s)
	}
	return choice{platform: *p, asked: true}, nil
}

// check refuses an image for one platform that is not the one asked for. An
// image that does not tell its platform is refused too.
func (c choice) check(have string) error {
	if !c.asked {
		return nil
	}
	p, err := v1.ParsePlatform(have)
	if have == "" || err != nil || !c.matches(*p) {
		return c.missing([]string{have})
	}
	return nil
}

// matches tells whether p is the wanted platform. A variant counts only if one
// is wanted.
func (c choice) matches(p v1.Platform) bool {
	return p.OS == c.platform.OS && p.Architecture == c.platform.Architecture &&
		(c.platform.Variant == "" || p.Variant == c.platform.Variant)
}

func (c choice) missing(have []string) error {
	have = slices.DeleteFunc(have, func(s string) bool { return s == "" })
	if len(have) == 0 {
		return fmt.Errorf("no image for platform %s: none says what platform it is for", platformName(c.platform))
	}
	slices.Sort(have)
	return fmt.Errorf("no image for platform %s: there is %s", platformName(c.platform), strings.Join(slices.Compact(have), ", "))
}

// candidate is one image of an index.
type candidate struct {
	desc v1.Descriptor
	name string // for people, if the index has one
}

// choose picks the one image for the wanted platform. Without a word from the
// user, an index with a single image is taken as it is.
func (c choice) choose(all []candidate) (v1.Descriptor, error) {
	if len(all) == 0 {
		return v1.Descriptor{}, errors.New("an index without images")
	}
	if len(all) == 1 && !c.asked {
		return all[0].desc, nil
	}
	var have, names []string
	var hits []candidate
	for _, a := range all {
		// An index of an OCI layout need not tell the platform; a single image
		// is then judged by its configuration.
		if a.desc.Platform == nil {
			if len(all) == 1 {
				return a.desc, nil
			}
			continue
		}
		have = append(have, platformName(*a.desc.Platform))
		if c.matches(*a.desc.Platform) {
			hits = append(hits, a)
			names = append(names, a.label())
		}
	}
	switch {
	case len(hits) == 0 && len(have) == 0:
		return v1.Descriptor{}, fmt.Errorf("%d images without a platform (%s): keep one", len(all), labels(all))
	case len(hits) == 0:
		return v1.Descriptor{}, c.missing(have)
	case len(hits) > 1 && c.platform.Variant == "" && differOnlyInVariant(hits):
		// As runtimes do: the highest variant of the architecture.
		return slices.MaxFunc(hits, func(a, b candidate) int {
			return strings.Compare(a.desc.Platform.Variant, b.desc.Platform.Variant)
		}).desc, nil
	case len(hits) > 1:
		return v1.Descriptor{}, fmt.Errorf("%d images for platform %s (%s): keep one", len(hits), platformName(c.platform), strings.Join(names, ", "))
	}
	return hits[0].desc, nil
}

func differOnlyInVariant(hits []candidate) bool {
	seen := map[string]bool{}
	for _, h := range hits {
		if seen[h.desc.Platform.Variant] {
			return false
		}
		seen[h.desc.Platform.Variant] = true
	}
	return true
}

func (a candidate) label() string {
	if a.name != "" {
		return a.name
	}
	return a.desc.Digest.String()
}

func labels(all []candidate) string {
	var names []string
	for _, a := range all {
		names = append(names, a.label())
	}
	return strings.Join(names, ", ")
}

// platformName is the platform as people write it, empty if it is not known.
func platformName(p v1.Platform) string {
	if p.OS == "" && p.Architecture == "" {
		return ""
	}
	name := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		name += "/" + p.Variant
	}
	return name
}

// isImage tells whether an entry of an index can be an image to run; build
// tools put attestations beside them.
func isImage(d v1.Descriptor) bool {
	return d.MediaType.IsImage() && d.Annotations["vnd.docker.reference.type"] == "" &&
		(d.Platform == nil || d.Platform.OS != "unknown")
}
