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
	if line != "" {
		line = `"` + line + `",`
	}
	var out []Range
	for _, text := range lines {
		rest, ok := bytes.CutPrefix(text, prefix)
		if !ok {
			break
		}
		if !bytes.HasPrefix(rest, []byte(line)) {
			continue
		}
		var r Range
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte(",")), &r); err != nil {
			// Part of the program and tested, as the rest of the table.
			panic(fmt.Sprintf("inference: embedded table: %s: %v", text, err))
		}
		out = append(out, r)
	}
	return out
}

type cellKey struct {
	id      capability.ID
	runtime string
	line    string
}
