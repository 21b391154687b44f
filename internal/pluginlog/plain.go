package pluginlog

import (
	"regexp"
	"strings"
	"sync"
)

var plainForms = sync.OnceValue(func() (p struct{ logrus, zap, stamp, word *regexp.Regexp }) {
	// logrus at a terminal: "ERRO[0008] message  key=value".
	p.logrus = regexp.MustCompile(`^(TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)\[(?:\d{4,}|[^\]\s]+)\]\s*(?:(\S+:\d+) )?`)
	// zap at a terminal: time, level, perhaps a name, a place, text; by tabs.
	p.zap = regexp.MustCompile(`^[^\t]*\d\d:\d\d:\d\d[^\t]*\t(DEBUG|INFO|WARN|ERROR|DPANIC|PANIC|FATAL|debug|info|warn|error|dpanic|panic|fatal)\t`)
	// Package log: "2018/11/27 03:44:12 [file.go:12: ]message".
	p.stamp = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d{6})? (?:(\S+:\d+): )?`)
	// What programs without a logger write before an error.
	p.word = regexp.MustCompile(`^(?i:\[?(error|fatal|warning|warn)\]?:? )`)
	return p
})

// plainLine reads the forms of loggers that have no structure, false for a line
// without any form.
func plainLine(line string) (e Entry, ok bool) {
	e.Format = Plain
	p := plainForms()
	if m := p.logrus.FindStringSubmatch(line); m != nil {
		e.Severity, e.Source = severityOf(m[1]), clip(m[2], maxSource)
		e.Message = line[len(m[0]):]
		return e, true
	}
	if m := p.zap.FindStringSubmatch(line); m != nil {
		e.Severity = severityOf(m[1])
		e.zapRest(line[len(m[0]):])
		return e, true
	}
	if m := p.stamp.FindStringSubmatch(line); m != nil {
		e.Source = clip(m[1], maxSource)
		line, ok = line[len(m[0]):], true
	}
	e.Message = line
	if m := p.word.FindStringSubmatch(line); m != nil && (strings.Contains(m[0], ":") || strings.Contains(m[0], "]")) {
		e.Severity, ok = severityOf(m[1]), true
		if e.Severity == Fatal {
			// The word alone does not show that the program ended.
			e.Severity = Error
		}
	}
	return e, ok
}

// zapRest reads what stands behind the level of a line of zap at a terminal.
func (e *Entry) zapRest(rest string) {
	columns := strings.Split(rest, "\t")
	for i, c := range columns {
		if i < 2 && isSource(c) && i+1 < len(columns) {
			e.Source = clip(c, maxSource)
			columns = columns[i+1:]
			break
		}
	}
	if n := len(columns) - 1; n > 0 && strings.HasPrefix(columns[n], "{") {
		if pairs, ok := jsonPairs(columns[n]); ok {
			columns = columns[:n]
			e.takePairs(pairs)
		}
	}
	e.Message = strings.Join(columns, "\t")
}
