package node

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth is how many tables deep values are kept. What matters is at most four
// deep; a file can be made of a million tables within each other.
const maxDepth = 8

// entry is one value in a configuration file. Tables are no values; arrays are.
type entry struct {
	path  []string
	value any
	file  string
	line  int // 0 if not known
}

// key gives the entry's path in one string, for maps.
func key(path []string) string { return strings.Join(path, "\x00") }

// document is one configuration file.
type document struct {
	file    string
	entries []entry
}

// lookup gives the value at a path.
func (d document) lookup(path ...string) (entry, bool) {
	i := slices.IndexFunc(d.entries, func(e entry) bool { return slices.Equal(e.path, path) })
	if i < 0 {
		return entry{}, false
	}
	return d.entries[i], true
}

// readDocument reads a TOML file of the node.
func (h Host) readDocument(file string) (document, error) {
	b, err := readBounded(h.path(file), maxConfigFile)
	if err != nil {
		return document{}, fmt.Errorf("configuration: %w", err)
	}
	return parseDocument(file, b)
}

// parseDocument parses a TOML file. The entries are in the order of their lines,
// as far as those are known.
func parseDocument(file string, b []byte) (document, error) {
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column := at.Position()
			return document{}, fmt.Errorf("configuration: %s:%d:%d: %w", file, row, column, err)
		}
		return document{}, fmt.Errorf("configuration: %s: %w", file, err)
	}
	d := document{file: file}
	d.flatten(nil, tree, keyLines(b))
	slices.SortStableFunc(d.entries, func(a, b entry) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return strings.Compare(key(a.path), key(b.path))
	})
	return d, nil
}

// flatten adds the values of a table and of the tables in it.
func (d *document) flatten(path []string, table map[string]any, lines map[string]int) {
	if len(path) == maxDepth {
		return
	}
	for name, v := range table {
		p := append(slices.Clone(path), name)
		if sub, ok := v.(map[string]any); ok {
			d.flatten(p, sub, lines)
			continue
		}
		line := 0
		// A key in an inline table is on the line of the nearest key around it.
		for n := len(p); n > 0 && line == 0; n-- {
			line = lines[key(p[:n])]
		}
		d.entries = append(d.entries, entry{path: p, value: v, file: d.file, line: line})
	}
}

// keyLines tells on which line each key of a valid TOML file is.
func keyLines(b []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(b)
	var table []string
	line, at := 1, 0 // Expressions come in the order of the file.
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		var path []string
		if e.Kind == unstable.KeyValue {
			path = slices.Clone(table)
		}
		for it := e.Key(); it.Next() && len(path) <= maxDepth; {
			node := it.Node()
			path = append(path, string(node.Data))
			if offset := int(node.Raw.Offset); offset > at {
				line += bytes.Count(b[at:offset], []byte("\n"))
				at = offset
			}
		}
		if e.Kind != unstable.KeyValue {
			table = path
		}
		lines[key(path)] = line
	}
	return lines
}
