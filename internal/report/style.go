package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Style says how text may look. The zero value is plain text of any width, as
// a file or a pipe gets it.
type Style struct {
	// Color allows SGR escape sequences.
	Color bool
	// Width is the number of columns of a terminal, past which lines are cut; 0
	// for no limit.
	Width int
	// Wide asks for everything: no line is cut, nothing is left out.
	Wide bool
}

// statusColor is the colour of the words that matter most.
var statusColor = [...]struct{ word, sgr string }{
	{"harmful", "1;31"}, {"missing", "31"}, {"incompatible", "31"}, {"conditional", "33"},
	{"inconclusive", "33"}, {"unknown", "33"}, {"compatible", "32"},
}

func (s Style) paint(sgr, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

func (s Style) bold(text string) string { return s.paint("1", text) }

// statuses colours the first status word of a line.
func (s Style) statuses(line string) string {
	if !s.Color {
		return line
	}
	for _, c := range statusColor {
		for _, word := range []string{"  " + c.word + "  ", c.word + ": "} {
			if before, after, ok := strings.Cut(line, word); ok && (strings.HasPrefix(word, " ") || before == "") {
				return before + strings.Replace(word, c.word, s.paint(c.sgr, c.word), 1) + after
			}
		}
	}
	return line
}

// fit cuts a line at the width of the terminal.
func (s Style) fit(line string) string {
	if s.Wide || s.Width <= 0 || utf8.RuneCountInString(line) <= s.Width {
		return line
	}
	runes := []rune(line)
	return string(runes[:max(s.Width-1, 0)]) + "…"
}

// plain makes foreign text safe to print: control characters, among them
// those that turn the direction of writing, become visible escapes.
func plain(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unsafeRune(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false // nearly all there is
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
