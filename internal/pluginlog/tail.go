package pluginlog

import (
	"slices"
	"sync"
)

// How many entries a Tail keeps.
const (
	keepLast    = 50 // of any kind
	keepFirst   = 25 // of those that tell something
	keepTelling = 50 // the last of those that tell something
)

// Tail is an io.Writer that keeps of a log what explains a failure: the last
// entries, and of warnings, errors, fatal ones and those that quote a refusal
// the first and the last. What it holds is bounded, whatever is written. The
// zero value is ready; it is safe for concurrent use.
type Tail struct {
	mu      sync.Mutex
	parser  parser
	number  int // of entries so far
	first   []kept
	telling []kept
	last    []kept
}

type kept struct {
	number int
	entry  Entry
}

// Write takes the next bytes of the log, in pieces of any size. It never fails.
func (t *Tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parser.emit == nil {
		t.parser.emit = t.keep
	}
	t.parser.write(data)
	return len(data), nil
}

func (t *Tail) keep(e Entry) {
	k := kept{t.number, e}
	t.number++
	t.last = push(t.last, k, keepLast)
	if e.Severity < Warning && refusalIn(e) == nil {
		return
	}
	if len(t.first) < keepFirst {
		t.first = append(t.first, k)
		return
	}
	t.telling = push(t.telling, k, keepTelling)
}

// push appends to the last few of a list.
func push(list []kept, k kept, limit int) []kept {
	if len(list) == limit {
		copy(list, list[1:])
		list = list[:limit-1]
	}
	return append(list, k)
}

// Entries returns what is kept of the log so far, in order. A line that is not
// complete yet counts as if the log ended there.
func (t *Tail) Entries() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Concat(t.first, t.telling, t.last)

	// What is still being read is looked at by a copy that can be ended.
	rest := t.parser
	rest.line, rest.message = slices.Clone(rest.line), slices.Clone(rest.message)
	for i := range rest.parts {
		rest.parts[i].text = slices.Clone(rest.parts[i].text)
	}
	number := t.number
	rest.emit = func(e Entry) {
		all = append(all, kept{number, e})
		number++
	}
	rest.end()

	slices.SortFunc(all, func(a, b kept) int { return a.number - b.number })
	all = slices.CompactFunc(all, func(a, b kept) bool { return a.number == b.number })
	entries := make([]Entry, len(all))
	for i := range all {
		entries[i] = all[i].entry
	}
	return entries
}

// Lines returns how many lines were written, one that is not complete included.
func (t *Tail) Lines() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parser.begun {
		return t.parser.lines + 1
	}
	return t.parser.lines
}
