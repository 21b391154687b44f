package manifest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

// Encode writes m so that [Read] gives back the same manifest. The same
// manifest is always written in the same way.
func Encode(w io.Writer, m Manifest) error {
	var b bytes.Buffer
	encode(&b, m, nil)
	_, err := w.Write(b.Bytes())
	return err
}

// Write writes what was detected of a plugin as a manifest for a person to
// edit. Comments tell where a capability was seen and what the reader of the
// plugin was not sure of. Reading it back and applying it to the same plugin
// changes no requirement. It is an error if a capability is in two groups of
// alternatives: a manifest names each once.
func Write(w io.Writer, p found.Plugin) error {
	var b bytes.Buffer
	comment(&b, "What this plugin needs of its container runtime, as it was detected from its "+p.Reader+".")
	comment(&b, "Move a capability to \"wants\" if the plugin has a fallback, and to \"excludes\",")
	comment(&b, "with a reason, if it is linked into the program but never used.")
	for _, gap := range p.Gaps {
		comment(&b, "Not read: "+gap)
	}
	for _, opaque := range p.Opaque {
		comment(&b, "Whole objects: "+opaque)
	}
	m := Manifest{Plugin: p.Name, Runtimes: p.Supports}
	comments := map[capability.ID]string{}
	groups := map[capability.ID]string{}
	needs := capability.Needs{Requirements: capability.Normalize(p.Requirements)}
	for _, group := range needs.Groups() {
		list := &m.Wants
		if slices.ContainsFunc(group, func(r capability.Requirement) bool { return r.Level == capability.Requires }) {
			list = &m.Requires
		}
		for _, r := range group {
			if before, twice := groups[r.Capability]; twice {
				return fmt.Errorf("%s is one of %s and of %s, and a manifest names a capability once: write it by hand", r.Capability, before, r.OneOf)
			}
			groups[r.Capability] = r.OneOf
			*list = append(*list, Entry{Capability: r.Capability, OneOf: r.OneOf})
			comments[r.Capability] = seen(r)
		}
	}
	encode(&b, m, comments)
	_, err := w.Write(b.Bytes())
	return err
}

// seen says in a few words where a requirement was seen.
func seen(r capability.Requirement) string {
	var words []string
	if r.Unproven {
		words = append(words, "linked, but nothing shows that it can run;")
	}
	if len(r.Evidence) > 0 {
		e := r.Evidence[0]
		switch {
		case e.Symbol != "":
			words = append(words, e.Symbol)
		case e.Function != "":
			words = append(words, e.Function)
		}
		if e.File != "" && e.Line > 0 {
			words = append(words, fmt.Sprintf("at %s:%d", e.File, e.Line))
		}
	}
	if r.Note != "" {
		words = append(words, "("+r.Note+")")
	}
	return strings.TrimSuffix(strings.Join(words, " "), ";")
}

func encode(b *bytes.Buffer, m Manifest, comments map[capability.ID]string) {
	fmt.Fprintf(b, "schema: %s\n", Schema)
	if m.Plugin != "" {
		fmt.Fprintf(b, "plugin: %s\n", quote(m.Plugin))
	}
	encodeEntries(b, "requires", m.Requires, comments)
	encodeEntries(b, "wants", m.Wants, comments)
	encodeEntries(b, "excludes", m.Excludes, comments)
	if len(m.Runtimes) == 0 {
		b.WriteString("runtimes: []\n")
		return
	}
	b.WriteString("runtimes:\n")
	for _, r := range m.Runtimes {
		fmt.Fprintf(b, "  - %s\n", quote(r))
	}
}

func encodeEntries(b *bytes.Buffer, key string, entries []Entry, comments map[capability.ID]string) {
	if len(entries) == 0 {
		fmt.Fprintf(b, "%s: []\n", key)
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for i, e := range entries {
		// The first and the last of the alternatives of a group begin and end it.
		begins := e.OneOf == "" || i == 0 || entries[i-1].OneOf != e.OneOf
		ends := e.OneOf == "" || i == len(entries)-1 || entries[i+1].OneOf != e.OneOf
		switch {
		case e.OneOf != "" && begins:
			b.WriteString("  - oneOf:\n      - ")
		case e.OneOf != "":
			b.WriteString("      - ")
		case e.Reason != "":
			b.WriteString("  - capability: ")
		default:
			b.WriteString("  - ")
		}
		b.WriteString(e.Capability.String())
		if c := comments[e.Capability]; c != "" {
			b.WriteString(" # " + printable(c))
		}
		b.WriteString("\n")
		if e.Reason != "" && ends {
			fmt.Fprintf(b, "    reason: %s\n", quote(e.Reason))
		}
	}
}

// quote writes s as a double-quoted YAML scalar. The escapes of Go are a subset
// of those of YAML as long as s is valid UTF-8.
func quote(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

func comment(b *bytes.Buffer, s string) { b.WriteString("# " + printable(s) + "\n") }

// printable makes s fit for a comment: a line break in it would end the comment.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
