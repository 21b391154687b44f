package manifest

import "strings"

// text is the text of a manifest, for finding the line of something that the
// YAML library reported without its place. It compares text and does not parse
// YAML: where more than one line fits it says 0 and not a guess.
type text []string

func newText(data []byte) text {
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// secondDocument returns the line that ends the first YAML document and is
// followed by another, 0 if there is one document only. The library reads just
// the first; what stands in a second one would be lost without a word.
func (t text) secondDocument() int {
	started, ended := false, 0
	for i, line := range t {
		content := strings.TrimSpace(withoutComment(line))
		marker := line == "---" || line == "..." || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "... ")
		switch {
		case marker && started && ended == 0:
			ended = i + 1
		case content != "" && !marker:
			if ended > 0 {
				return ended
			}
			started = true
		}
	}
	return 0
}

// alias returns the line of the first alias of a text that also has an anchor,
// 0 if there is none. With them a small file can stand for gigabytes of values.
func (t text) alias() int {
	anchored, line := false, 0
	for i, s := range t {
		anchored = anchored || marksName(s, '&')
		if line == 0 && marksName(s, '*') {
			line = i + 1
		}
	}
	if !anchored {
		return 0
	}
	return line
}

// marksName tells whether s has the mark in front of a name and not inside a
// word.
func marksName(s string, mark byte) bool {
	for i := range len(s) - 1 {
		if s[i] == mark && isWord(s[i+1]) && (i == 0 || s[i-1] == '-' || !isWord(s[i-1])) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// lineOfKey returns the line that has the given key, 0 if not exactly one does.
func (t text) lineOfKey(key string) int {
	return t.unique(func(line string) bool {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '{' || r == ',' }) {
			name, _, ok := strings.Cut(part, ":")
			if ok && unquoted(strings.TrimPrefix(strings.TrimSpace(name), "- ")) == key {
				return true
			}
		}
		return false
	})
}

// lineOfEntry returns the line on which an entry of a list names the given
// capability, 0 if not exactly one does.
func (t text) lineOfEntry(name string) int {
	return t.unique(func(line string) bool {
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("[]{},", r) }) {
			part = strings.TrimSpace(part)
			for _, prefix := range []string{"requires:", "wants:", "excludes:", "- ", "capability:", "oneOf:"} {
				part = strings.TrimSpace(strings.TrimPrefix(part, prefix))
			}
			if unquoted(part) == strings.TrimSpace(name) {
				return true
			}
		}
		return false
	})
}

func (t text) unique(matches func(line string) bool) int {
	found := 0
	for i, line := range t {
		if !matches(withoutComment(line)) {
			continue
		}
		if found > 0 {
			return 0
		}
		found = i + 1
	}
	return found
}

// withoutComment cuts a comment off. A "#" inside quotes is taken for one too,
// which at worst makes a line unknown.
func withoutComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	line, _, _ = strings.Cut(line, " #")
	return line
}

func unquoted(s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }
