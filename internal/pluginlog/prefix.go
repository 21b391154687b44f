package pluginlog

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// stripped is a line without what others put before it.
type stripped struct {
	text    string
	stream  int  // 0 unless a CRI log file says stdout (1) or stderr (2)
	partial bool // the line goes on in the next one of the same stream
}

// A time as container runtimes and kubectl write it, with nanoseconds and a
// zone; loggers of programs rarely do.
const runtimeTime = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d)`

var prefixes = sync.OnceValue(func() (p struct{ cri, stamp, pod, journal, colour *regexp.Regexp }) {
	// A file in /var/log/pods: time, stream, P for a part of a line or F, text.
	p.cri = regexp.MustCompile(`^` + runtimeTime + ` (stdout|stderr) ([PF])(?::\S*)? `)
	// kubectl logs --timestamps.
	p.stamp = regexp.MustCompile(`^` + runtimeTime + ` `)
	// kubectl logs --prefix.
	p.pod = regexp.MustCompile(`^\[pod/[^/\]\s]+/[^/\]\s]+\] `)
	// journalctl, short and short-iso: time, host, name[pid].
	p.journal = regexp.MustCompile(`^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)) \S+ [^\s\[\]:]+\[\d+\]: `)
	p.colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	return p
})

// strip takes prefixes and colours off a line.
func strip(line string) stripped {
	line = strings.TrimSuffix(line, "\r")
	p := prefixes()
	if strings.IndexByte(line, '\x1b') >= 0 {
		line = p.colour.ReplaceAllString(line, "")
	}
	out := stripped{text: line}
	if m := p.pod.FindString(out.text); m != "" {
		out.text = out.text[len(m):]
	}
	if m := p.cri.FindStringSubmatch(out.text); m != nil {
		out.text = out.text[len(m[0]):]
		out.stream = 1
		if m[1] == "stderr" {
			out.stream = 2
		}
		out.partial = m[2] == "P"
	} else if m := p.stamp.FindString(out.text); m != "" {
		out.text = out.text[len(m):]
	} else if m := p.journal.FindString(out.text); m != "" {
		out.text = out.text[len(m):]
	} else if text, ok := dockerLine(out.text); ok {
		out.text = text
	}
	return out
}

// dockerLine reads a line of Docker's json-file driver, an object of just log,
// stream and time.
func dockerLine(line string) (string, bool) {
	if !strings.HasPrefix(line, `{"log":"`) {
		return "", false
	}
	var keys map[string]json.RawMessage
	var d struct{ Log, Stream, Time string }
	if json.Unmarshal([]byte(line), &keys) != nil || json.Unmarshal([]byte(line), &d) != nil ||
		len(keys) != 3 || d.Time == "" || d.Stream != "stdout" && d.Stream != "stderr" {
		return "", false
	}
	// The driver writes one object a line of the program.
	text, _, _ := strings.Cut(strings.TrimRight(d.Log, "\r\n"), "\n")
	return text, true
}
