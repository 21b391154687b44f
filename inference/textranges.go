package inference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

// textRanges are the ranges of a table in canonical form: one JSON object a
// line, sorted by capability and runtime, whose keys stand in a fixed order.
// They are found by their first bytes and only then decoded.
type textRanges struct {
	lines [][]byte
	// decoded remembers []Range by cellKey: one question asks for the same line
	// once for every release.
	decoded *sync.Map
}

func (t textRanges) ranges(id capability.ID, runtime, line string) []Range {
	key := cellKey{id, runtime, line}
	if known, ok := t.decoded.Load(key); ok {
		return known.([]Range)
	}
	out := t.decode(id, runtime, line)
	t.decoded.Store(key, out)
	return out
}

func (t textRanges) decode(id capability.ID, runtime, line string) []Range {
	prefix := fmt.Appendf(nil, `{"capability":%q,"runtime":%q,"line":`, id.String(), runtime)
	lines := t.lines[sort.Search(len(t.lines), func(i int) bool {
		return bytes.Compare(t.lines[i], prefix) >= 0
	}):]
	var out []Range
	for _, text := range lines {
		rest, ok := bytes.CutPrefix(text, prefix)
		if !ok {
			break
		}
		name, rest, _ := bytes.Cut(rest[1:], []byte(`",`))
		if line != "" && string(name) != line {
			continue
		}
		out = append(out, decodeRange(id, runtime, string(name), rest))
	}
	return out
}

// decodeRange decodes what follows the line of a range. Its source, the
// greater part of the text that few ask for, stays text.
func decodeRange(id capability.ID, runtime, line string, rest []byte) Range {
	rest = bytes.TrimSuffix(bytes.TrimSuffix(rest, []byte(",")), []byte("}"))
	head, tail := rest, []byte(nil)
	for _, key := range []string{`,"ref":`, `,"files":`} {
		if at := bytes.Index(rest, []byte(key)); at >= 0 {
			head, tail = rest[:at], rest[at+1:]
			break
		}
	}
	var r Range
	mustDecode(head, &r)
	r.Capability, r.Runtime, r.Line, r.tail = id, runtime, line, tail
	return r
}

// Sources returns where the range was read.
func (r Range) Sources() Source {
	if r.tail == nil {
		return r.Source
	}
	var s Source
	mustDecode(r.tail, &s)
	return s
}

// mustDecode decodes the inside of a JSON object of the embedded table, which
// is part of the program and tested.
func mustDecode(inside []byte, v any) {
	object := append(append([]byte{'{'}, inside...), '}')
	if err := json.Unmarshal(object, v); err != nil {
		panic(fmt.Sprintf("inference: embedded table: %s: %v", inside, err))
	}
}

type cellKey struct {
	id      capability.ID
	runtime string
	line    string
}
