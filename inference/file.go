package inference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxTableSize bounds a table file; the built-in one has less than 1 MB.
const maxTableSize = 16 << 20

// file is a decoded table file: the whole table, or an overlay, which has
// only the sections it needs. Each row knows its line.
type file struct {
	name          string
	schemaVersion int
	version       string
	rows          sections
	ranges        []Range
	lines         map[string][]int // the line of each row, by section
}

// FileError reports what is wrong with a table file, and where.
type FileError struct {
	File string
	Line int // 0 if it is about the whole file
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// readFile decodes a table file strictly: unknown keys, duplicate keys, other
// schema versions and anything behind the document are errors, all of them of
// type [FileError].
func readFile(r io.Reader, name string) (*file, []byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTableSize+1))
	if err != nil {
		return nil, nil, &FileError{File: name, Err: err}
	}
	f := &file{name: name, lines: map[string][]int{}}
	switch {
	case len(text) > maxTableSize:
		return nil, nil, f.errorf(0, "a table has at most %d MB", maxTableSize>>20)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, nil, f.errorf(0, "it is empty: a table is a JSON object with \"schemaVersion\": %d", SchemaVersion)
	}
	if err := f.decode(text); err != nil {
		return nil, nil, err
	}
	if f.schemaVersion != SchemaVersion {
		return nil, nil, f.errorf(0, "unknown schemaVersion %d: this program reads version %d", f.schemaVersion, SchemaVersion)
	}
	return f, text, nil
}

func (f *file) errorf(line int, format string, args ...any) error {
	return &FileError{File: f.name, Line: line, Err: fmt.Errorf(format, args...)}
}

func (f *file) decode(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	at := func() int { return lineAt(text, dec.InputOffset()) }
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return f.syntax(text, dec, err, "want a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return f.syntax(text, dec, err, "")
		}
		key := t.(string) // keys of an object are strings
		if seen[key] {
			return f.errorf(at(), "duplicate key %q", key)
		}
		seen[key] = true
		if err := f.section(key, text, dec); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return f.syntax(text, dec, err, "")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f.errorf(at(), "there is something behind the table")
	}
	return nil
}

func (f *file) section(key string, text []byte, dec *json.Decoder) error {
	switch key {
	case "schemaVersion":
		return f.value(&f.schemaVersion, text, dec)
	case "version":
		return f.value(&f.version, text, dec)
	case "origins":
		return rowsOf(f, key, &f.rows.Origins, text, dec)
	case "releases":
		return rowsOf(f, key, &f.rows.Releases, text, dec)
	case "settings":
		return rowsOf(f, key, &f.rows.Settings, text, dec)
	case "bugs":
		return rowsOf(f, key, &f.rows.Bugs, text, dec)
	case "notes":
		return rowsOf(f, key, &f.rows.Notes, text, dec)
	case "changes":
		return rowsOf(f, key, &f.rows.Changes, text, dec)
	case "ranges":
		return rowsOf(f, key, &f.ranges, text, dec)
	}
	return f.errorf(lineAt(text, dec.InputOffset()), "unknown key %q", key)
}

func (f *file) value(v any, text []byte, dec *json.Decoder) error {
	if err := dec.Decode(v); err != nil {
		return f.syntax(text, dec, err, "")
	}
	return nil
}

// rowsOf decodes the array of a section, row by row, so that each error names
// its line.
func rowsOf[T any](f *file, section string, rows *[]T, text []byte, dec *json.Decoder) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return f.syntax(text, dec, err, fmt.Sprintf("%q must be an array", section))
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return f.syntax(text, dec, err, "")
		}
		line := lineAt(text, dec.InputOffset()-int64(len(raw)))
		if key := duplicateKey(raw); key != "" {
			return f.errorf(line, "duplicate key %q", key)
		}
		var row T
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&row); err != nil {
			return f.errorf(line, "%s: %s", section, plainJSONError(err))
		}
		*rows = append(*rows, row)
		f.lines[section] = append(f.lines[section], line)
	}
	_, err := dec.Token()
	if err != nil {
		return f.syntax(text, dec, err, "")
	}
	return nil
}

// syntax makes a FileError of an error of the decoder.
func (f *file) syntax(text []byte, dec *json.Decoder, err error, want string) error {
	offset := dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	line := lineAt(text, offset)
	switch {
	case err == nil || want != "" && syntax == nil:
		return f.errorf(line, "%s", want)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return f.errorf(line, "the table ends too early")
	}
	return f.errorf(line, "%s", plainJSONError(err))
}

// plainJSONError takes the names of Go types out of an error of encoding/json.
func plainJSONError(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Sprintf("%q: a JSON %s does not belong there", wrong.Field, wrong.Value)
	}
	return string(bytes.TrimPrefix([]byte(err.Error()), []byte("json: ")))
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}

// duplicateKey returns a key that stands twice in one object of a valid JSON
// text, empty if none does: the standard decoder would silently take the last.
func duplicateKey(raw []byte) string {
	type level struct {
		keys    map[string]bool // nil for an array
		wantKey bool
	}
	var stack []level
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := dec.Token()
		if err != nil {
			return ""
		}
		top := len(stack) - 1
		if key, ok := t.(string); ok && top >= 0 && stack[top].keys != nil && stack[top].wantKey {
			if stack[top].keys[key] {
				return key
			}
			stack[top].keys[key] = true
			stack[top].wantKey = false
			continue
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}, wantKey: true})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
			top--
		}
		if top >= 0 {
			stack[top].wantKey = true
		}
	}
}
