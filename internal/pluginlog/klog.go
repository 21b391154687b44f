package pluginlog

import (
	"encoding/json"
	"strconv"
	"strings"
)

// klogHeader reads the header of klog's text, "Lmmdd hh:mm:ss.uuuuuu threadid
// file:line] msg", exactly.
func klogHeader(line string) (e Entry, ok bool) {
	const stamp = "L0102 15:04:05.000000 "
	if len(line) <= len(stamp) {
		return e, false
	}
	switch line[0] {
	case 'I':
		e.Severity = Info
	case 'W':
		e.Severity = Warning
	case 'E':
		e.Severity = Error
	case 'F':
		e.Severity = Fatal
	default:
		return e, false
	}
	for i := 1; i < len(stamp); i++ {
		c := line[i]
		if want := stamp[i]; '0' <= want && want <= '9' {
			if c < '0' || c > '9' {
				return e, false
			}
		} else if c != want {
			return e, false
		}
	}
	within := func(digits string, low, high int) bool {
		n, _ := strconv.Atoi(digits) // two digits, as was seen
		return low <= n && n <= high
	}
	if !within(line[1:3], 1, 12) || !within(line[3:5], 1, 31) || !within(line[6:8], 0, 23) ||
		!within(line[9:11], 0, 59) || !within(line[12:14], 0, 60) {
		return e, false
	}
	thread, rest, ok := strings.Cut(strings.TrimLeft(line[len(stamp):], " "), " ")
	if !ok || !digits(thread) {
		return e, false
	}
	source, message, ok := strings.Cut(rest, "]")
	if !ok || !isSource(source) || message != "" && message[0] != ' ' {
		return e, false
	}
	e.Format, e.Source, e.Message = Klog, clip(source, maxSource), strings.TrimPrefix(message, " ")
	return e, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isSource tells whether s is a place in a file as loggers write it: "file:line".
func isSource(s string) bool {
	i := strings.LastIndexByte(s, ':')
	return i > 0 && digits(s[i+1:]) && !strings.ContainsAny(s, " \t\n[]\"")
}

// klogPairs takes a structured message apart: a quoted text, then key=value
// pairs. A message that is not one of these stays as it is.
func (e *Entry) klogPairs() {
	quoted, err := strconv.QuotedPrefix(e.Message)
	if err != nil || quoted[0] != '"' {
		return
	}
	message, err := strconv.Unquote(quoted)
	if err != nil {
		return
	}
	pairs, ok := readPairs(e.Message[len(quoted):])
	if !ok {
		return
	}
	e.Message = message
	e.takePairs(pairs)
}

// takePairs sorts pairs into the error and the fields of an entry.
func (e *Entry) takePairs(pairs []Field) {
	for _, p := range pairs {
		if e.Err == "" && (p.Key == "err" || p.Key == "error") {
			e.Err = clip(p.Value, maxErr)
		} else {
			e.addField(p.Key, p.Value)
		}
	}
}

// readPairs reads " key=value" pairs up to the end of s, false if there is
// anything else.
func readPairs(s string) (pairs []Field, ok bool) {
	for {
		s = strings.TrimLeft(s, " ")
		if s == "" {
			return pairs, true
		}
		key, rest, found := strings.Cut(s, "=")
		if !found || key == "" || strings.ContainsAny(key, " \t\n\"{}[]<>") {
			return nil, false
		}
		value, rest, ok := readValue(rest)
		if !ok || rest != "" && rest[0] != ' ' {
			return nil, false
		}
		pairs = append(pairs, Field{key, value})
		s = rest
	}
}

// readValue reads one value: quoted, a block of lines between "<" and ">", a
// JSON object or array, or a word.
func readValue(s string) (value, rest string, ok bool) {
	switch {
	case s == "":
		return "", "", true
	case s[0] == '"' || s[0] == '`':
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", false
		}
		value, err = strconv.Unquote(quoted)
		return value, s[len(quoted):], err == nil
	case strings.HasPrefix(s, blockOpen):
		block, rest, found := strings.Cut(s[len(blockOpen):], blockClose)
		if !found {
			// The log ends within the block.
			block, rest = s[len(blockOpen):], ""
		}
		lines := strings.Split(block, "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "\t")
		}
		return strings.Join(lines, "\n"), rest, true
	case s[0] == '{' || s[0] == '[':
		d := json.NewDecoder(strings.NewReader(s))
		var raw json.RawMessage
		if d.Decode(&raw) == nil {
			end := d.InputOffset()
			if rest := s[end:]; rest == "" || rest[0] == ' ' {
				return s[:end], rest, true
			}
		}
	}
	word, rest, found := strings.Cut(s, " ")
	if found {
		rest = " " + rest
	}
	return word, rest, !strings.ContainsAny(word, "\"\n")
}

// A value with line breaks: each line is indented by a tab, and a last one
// closes it.
const (
	blockOpen  = "<\n"
	blockClose = "\n >"
)

// opensBlock tells whether a value with line breaks begins at the end of a
// line.
func opensBlock(line string) bool { return strings.HasSuffix(line, "=<") }
