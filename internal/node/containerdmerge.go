package node

import (
	"fmt"
	"slices"
	"strings"
)

// reading is how one major version of containerd reads a set of files.
//
// containerd 1 replaces the whole table of a plugin when a later file has one,
// and looks plugins up by their short names if the version is 1. containerd 2
// merges tables key by key and turns older files into newer ones first; a short
// name becomes a URI, for most plugins another one than it had.
type reading struct {
	files []containerdFile
	major int
}

// settings gives all settings of the reading and notes about what has no effect.
func (r reading) settings() ([]Setting, []string, error) {
	files := r.files
	if r.major == 1 {
		// The version of the last file that has one counts for all.
		version := 0
		for _, f := range files {
			if f.version != 0 {
				version = f.version
			}
		}
		files = slices.Clone(files)
		for i := range files {
			files[i].version = version
		}
	}
	var settings []Setting
	for _, s := range containerdSpecs() {
		found, err := r.find(files, s)
		if err != nil {
			return nil, nil, err
		}
		settings = append(settings, found)
	}
	for _, f := range files {
		if e, off := r.switchedOff(f); off {
			i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == "nri.enabled" })
			settings[i] = Setting{Name: "nri.enabled", Set: true, Value: "false",
				Key: disabledPlugins, File: e.file, Line: e.line}
		}
	}
	return settings, r.notes(files), nil
}

// find looks one setting up in all files.
func (r reading) find(files []containerdFile, s spec) (Setting, error) {
	first := files[0]
	table := first.uris(s.section, r.major)[0]
	if first.version == 2 && s.section == "cri" {
		table = uriCRI // The one to write: both majors read it.
	}
	out := Setting{Name: s.name, Inverted: s.inverted, File: first.file, Key: tomlKey(append([]string{"plugins", table}, s.path...))}
	mixed := false
	for _, f := range files {
		uris := f.uris(s.section, r.major)
		if r.major == 1 && out.Set && f.has(uris[0]) {
			// This file's table replaces the one in which it was found.
			out.Set, out.Value, out.File, out.Line = false, "", f.file, 0
		}
		for _, uri := range uris {
			e, ok := f.lookup(append([]string{"plugins", uri}, s.path...)...)
			if !ok {
				continue
			}
			value, err := s.value(e.value)
			if err != nil {
				return Setting{}, fmt.Errorf("configuration: %s:%d: %s %w", e.file, e.line, strings.Join(s.path, "."), err)
			}
			out.Set, out.Value, out.File, out.Line, out.Key = true, value, e.file, e.line, tomlKey(e.path)
			break
		}
		mixed = mixed || (f.version < 3) != (first.version < 3)
	}
	if r.major == 2 && s.section == "cri" && mixed && out.Set {
		out.Ambiguous = "the files have different configuration versions, which containerd 2.0 to 2.2 join in another way than later releases"
	}
	return out, nil
}

// has tells whether the file has a table for a plugin.
func (f containerdFile) has(uri string) bool {
	return slices.ContainsFunc(f.entries, func(e entry) bool {
		return len(e.path) > 2 && e.path[0] == "plugins" && e.path[1] == uri
	})
}

// switchedOff tells whether a file lists NRI as a disabled plugin, or the CRI
// plugin, without which nothing starts NRI. The lists of all files add up.
func (r reading) switchedOff(f containerdFile) (entry, bool) {
	e, _ := f.lookup(disabledPlugins)
	names, _ := stringsOf(e.value)
	return e, slices.ContainsFunc(names, func(name string) bool {
		switch name {
		case uriCRI, uriCRIv3, uriNRI:
			return r.major == 2 || f.version >= 2
		case "cri":
			return f.version < 2
		case "nri":
			return f.version < 2 && r.major == 1
		}
		return false
	})
}

// notes names the tables that look as if they decided about NRI but do not.
func (r reading) notes(files []containerdFile) []string {
	var notes []string
	for _, f := range files {
		for _, s := range containerdSpecs() {
			used := f.uris(s.section, r.major)
			for _, uri := range tablesOf(s.section) {
				_, there := f.lookup(append([]string{"plugins", uri}, s.path...)...)
				if !there || slices.Contains(used, uri) {
					continue
				}
				note := fmt.Sprintf("%s: %s has no effect: with configuration version %d, containerd %d.x reads it from [%s]",
					f.file, tomlKey(append([]string{"plugins", uri}, s.path...)), max(f.version, 1), r.major,
					tomlTable([]string{"plugins", used[0]}))
				notes = append(notes, note)
			}
		}
		if r.major == 1 && f.version > 2 {
			notes = append(notes, fmt.Sprintf("%s: containerd 1.x does not start with configuration version %d, 2 is the highest it knows", f.file, f.version))
		}
	}
	return notes
}

// tablesOf gives all tables in which some release looks for a section.
func tablesOf(section string) []string {
	switch section {
	case "nri":
		return []string{uriNRI, "nri"}
	case "tasks":
		return []string{uriTasks, "tasks-service"}
	}
	return []string{uriCRIv3, uriCRI, "cri"}
}

// tomlTable writes a path as it stands in the head of a table.
func tomlTable(path []string) string {
	var b strings.Builder
	for i, p := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		if p == "" || strings.ContainsFunc(p, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
		}) {
			p = fmt.Sprintf("%q", p)
		}
		b.WriteString(p)
	}
	return b.String()
}

// tomlKey writes a path as the head of a table and a key in it.
func tomlKey(path []string) string {
	n := len(path) - 1
	return "[" + tomlTable(path[:n]) + "] " + tomlTable(path[n:])
}
