package pluginlog

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"
)

// severityOf reads a level as loggers write it, Unknown for none of theirs.
func severityOf(level string) Severity {
	level = strings.ToLower(level)
	if i := strings.IndexAny(level, "+-"); i > 0 && digits(level[i+1:]) {
		level = level[:i] // slog: "error+2"
	}
	switch level {
	case "trace", "trac", "debug", "debu", "info", "notice":
		return Info
	case "warn", "warning":
		return Warning
	case "error", "erro", "err", "critical":
		return Error
	case "fatal", "fata", "panic", "pani", "dpanic", "alert", "emergency":
		return Fatal
	}
	return Unknown
}

// structured makes an entry of key/value pairs as all the JSON and key=value
// loggers name them. It is false for pairs that are no log entry.
func structured(pairs []Field, f Format) (e Entry, ok bool) {
	e.Format = f
	var reason string
	var message, level, klogTime, verbosity bool
	for _, p := range pairs {
		switch p.Key {
		case "msg", "message":
			if !message {
				e.Message, message = clip(p.Value, maxMessage), true
				continue
			}
		case "level", "severity", "lvl":
			if !level {
				e.Severity, level = severityOf(p.Value), true
				continue
			}
		case "time", "timestamp", "@timestamp":
			continue
		case "ts":
			klogTime = true
			continue
		case "v":
			verbosity = true
			continue
		case "caller", "source", "file", "pos":
			if source, ok := sourceOf(p.Value); ok && e.Source == "" {
				e.Source = clip(source, maxSource)
				continue
			}
		case "err", "error":
			if e.Err == "" {
				e.Err = clip(p.Value, maxErr)
				continue
			}
		case "reason":
			reason = p.Value
		}
		e.addField(p.Key, p.Value)
	}
	if !message && !level {
		return Entry{}, false
	}
	if !level && klogTime {
		// klog's JSON has no level: what is not an error has a verbosity.
		switch {
		case verbosity:
			e.Severity = Info
		case message:
			e.Severity = Error
		}
	}
	if e.Err == "" && e.Severity >= Warning {
		e.Err = clip(reason, maxErr)
	}
	return e, true
}

// sourceOf reads the place of an entry: "dir/file.go:12" or slog's object.
func sourceOf(s string) (string, bool) {
	if strings.HasPrefix(s, "{") {
		var o struct {
			File string
			Line int
		}
		if json.Unmarshal([]byte(s), &o) != nil || o.File == "" {
			return "", false
		}
		s = o.File + ":" + strconv.Itoa(o.Line)
	}
	if !isSource(s) {
		return "", false
	}
	return path.Base(strings.ReplaceAll(s, `\`, "/")), true
}

// jsonLine reads a line that is one JSON object.
func jsonLine(line string) (Entry, bool) {
	if !strings.HasPrefix(line, "{") || !strings.HasSuffix(strings.TrimRight(line, " "), "}") {
		return Entry{}, false
	}
	pairs, ok := jsonPairs(line)
	if !ok {
		return Entry{}, false
	}
	return structured(pairs, JSON)
}

// jsonPairs returns the members of a JSON object in their order. Strings are
// taken out of their quotes, everything else stays JSON.
func jsonPairs(object string) (pairs []Field, ok bool) {
	if !json.Valid([]byte(object)) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		key, err := d.Token()
		name, isName := key.(string)
		if err != nil || !isName {
			return nil, false
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return nil, false
		}
		value := string(bytes.TrimSpace(raw))
		if value == "null" {
			value = ""
		}
		var text string
		if strings.HasPrefix(value, `"`) && json.Unmarshal(raw, &text) == nil {
			value = text
		}
		pairs = append(pairs, Field{name, value})
	}
	return pairs, true
}

// logfmtLine reads a line of key=value pairs. It must begin with one of the keys
// that loggers write first, and say a level: many a message has an "=" in it.
func logfmtLine(line string) (Entry, bool) {
	first := false
	for _, key := range []string{"time=", "ts=", "level=", "lvl=", "timestamp="} {
		first = first || strings.HasPrefix(line, key)
	}
	if !first {
		return Entry{}, false
	}
	pairs, ok := readPairs(line)
	if !ok {
		return Entry{}, false
	}
	e, ok := structured(pairs, Logfmt)
	return e, ok && e.Severity != Unknown
}
