package inference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/nri-compat/nri-compat/capability"
)

// WriteJSON writes the whole table in its canonical form, which can be read
// back as a table file: one row a line, sorted, an overlay worked in.
func (t *Table) WriteJSON(w io.Writer) error {
	f := &file{schemaVersion: SchemaVersion, version: t.version, rows: t.rows}
	for _, id := range capability.All() {
		for _, runtime := range Runtimes() {
			for _, r := range t.Ranges(id, runtime) {
				r.Source = r.Sources()
				f.ranges = append(f.ranges, r)
			}
		}
	}
	text, err := f.canonical()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// writeRows writes one section, a row a line, without HTML escapes: people
// read the file.
func writeRows[T any](b *bytes.Buffer, section string, rows []T) error {
	fmt.Fprintf(b, ",\n%q:[\n", section)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i, row := range rows {
		if err := enc.Encode(row); err != nil {
			return err
		}
		if i < len(rows)-1 {
			b.Truncate(b.Len() - 1)
			b.WriteString(",\n")
		}
	}
	b.WriteString("]")
	return nil
}
