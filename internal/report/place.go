package report

import (
	"net/url"
	"path"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// Place is a place in a file.
type Place struct {
	// File is a path with slashes, relative to where the check ran if it is
	// below it.
	File string `json:"file"`
	// Line counts from 1.
	Line int `json:"line"`
}

// place returns where to point for an outcome: the first evidence that is in a
// file at hand, else the place of the plugin. There always is one, for a
// reader that shows nothing without.
func (p CheckPlugin) place(o Outcome) Place {
	for _, e := range o.Evidence {
		if file, ok := p.atHand(e, o.Source); ok {
			return Place{file, max(e.Line, 1)}
		}
	}
	return p.home()
}

// home returns where to point for the plugin as a whole.
func (p CheckPlugin) home() Place {
	if p.Place != nil && p.Place.File != "" {
		return Place{cleanPath(p.Place.File), max(p.Place.Line, 1)}
	}
	for _, name := range []string{p.Ref, p.Name} {
		// A scheme, such as "image:", is no part of a path.
		if i := strings.Index(name, ":"); i > 1 {
			name = name[i+1:]
		}
		if file := strings.TrimLeft(cleanPath(name), "/"); file != "" {
			return Place{file, 1}
		}
	}
	return Place{"plugin", 1}
}

// atHand returns the path of a file that shows a requirement, false if it is
// one of the machine on which a binary was built.
func (p CheckPlugin) atHand(e capability.Evidence, source string) (string, bool) {
	file := strings.ReplaceAll(e.File, `\`, "/")
	if file == "" || strings.Contains(file, "@") {
		return "", false // no file, or one of another module
	}
	if e.Kind == "manifest" {
		return cleanPath(file), true
	}
	if p.Module != "" {
		file = strings.TrimPrefix(file, p.Module+"/")
	}
	if source == capability.FromBinary.String() {
		host, _, _ := strings.Cut(file, "/")
		if p.Dir == "" || path.IsAbs(file) || strings.Contains(host, ".") && strings.Contains(file, "/") {
			return "", false
		}
	}
	if !path.IsAbs(file) {
		file = path.Join(strings.ReplaceAll(p.Dir, `\`, "/"), file)
	}
	return cleanPath(file), true
}

// cleanPath returns a path in one stable form: slashes, no "./" in front.
func cleanPath(file string) string {
	file = clip(strings.ReplaceAll(file, `\`, "/"), maxPath)
	if file == "" {
		return ""
	}
	file = path.Clean(file)
	if file == "." {
		return ""
	}
	return file
}

// maxPath is the length of the longest path that is shown; no system has a
// longer one.
const maxPath = 4096

// uri returns the path as a relative URI reference.
func (p Place) uri() string {
	u := url.URL{Path: strings.ToValidUTF8(p.File, "\uFFFD")}
	// String puts "./" before a first segment with a colon, as the RFC asks.
	return u.String()
}

// clip shortens foreign text that is longer than anybody reads, at a rune.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
