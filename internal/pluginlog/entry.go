package pluginlog

import "strings"

// Severity is how bad an entry is by its own word.
type Severity uint8

// The severities, from bad to worse. What lies below Info, such as debug, counts
// as Info.
const (
	Unknown Severity = iota // the entry does not say
	Info
	Warning
	Error
	Fatal // the program ended with this entry: klog.Fatal, a panic, a signal
)

// String returns the severity as a lower-case word.
func (s Severity) String() string {
	switch s {
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Error:
		return "error"
	case Fatal:
		return "fatal"
	}
	return "unknown"
}

// Format is how an entry is written.
type Format string

// The formats.
const (
	Klog   Format = "klog"   // text of klog and glog: "E1125 09:01:40.606674       1 plugin.go:156] msg"
	JSON   Format = "json"   // one JSON object a line
	Logfmt Format = "logfmt" // key=value pairs: text of logrus and slog
	Panic  Format = "panic"  // of the Go runtime: panics, fatal errors, signals
	Plain  Format = "plain"  // everything else
)

// Entry is one entry of a log.
type Entry struct {
	Severity Severity
	// Source is where in its own code the plugin wrote it, such as "plugin.go:42";
	// empty if the entry does not say.
	Source string
	// Message is the text without header and key/value pairs; lines are joined
	// by "\n".
	Message string
	// Err is the error of a structured entry, the value of its key err or error;
	// empty if there is none.
	Err string
	// Fields are the other key/value pairs of a structured entry, in their order.
	Fields []Field
	Format Format
	// Line is the number of its first line, from 1.
	Line int
}

// Field is a key/value pair of a structured entry.
type Field struct{ Key, Value string }

// The bounds of what is kept of an entry, in bytes where not said otherwise.
const (
	maxLine    = 64 << 10 // the rest of a longer line is dropped
	maxMessage = 8 << 10
	maxErr     = 8 << 10
	maxSource  = 256
	maxFields  = 8 << 10 // of all keys and values together
	maxPairs   = 32      // in number
)

// words is all the text of an entry in which a refusal can be quoted.
func (e Entry) words() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if e.Err != "" {
		b.WriteByte('\n')
		b.WriteString(e.Err)
	}
	for _, f := range e.Fields {
		b.WriteByte('\n')
		b.WriteString(f.Value)
	}
	return b.String()
}

// addField adds a pair if there is room for it.
func (e *Entry) addField(key, value string) {
	size := len(key) + len(value)
	for _, f := range e.Fields {
		size += len(f.Key) + len(f.Value)
	}
	if len(e.Fields) < maxPairs && size <= maxFields {
		e.Fields = append(e.Fields, Field{strings.Clone(key), strings.Clone(value)})
	}
}

// clip shortens s to limit bytes, at a rune. The result does not hold on to s.
func clip(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && s[limit]&0xc0 == 0x80 {
			limit--
		}
		s = s[:limit]
	}
	return strings.Clone(s)
}

// oneLine is s without line breaks, for people.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
