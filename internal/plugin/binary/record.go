package binary

// Objects on the stack. The compiler puts an object that does not outlive its
// function on the stack, with no trace of its type. What its words hold is known
// nevertheless, and goes with its address into the functions that are called.

// maxRecord is how many bytes of an object on the stack are looked at.
const maxRecord = 128

// record is what the words of such an object hold, as a function sees it that
// gets its address in one register.
type record struct {
	words   map[int64]value
	clashed map[int64]bool // callers disagree
}

type recordKey struct {
	fn  int
	reg reg
}

// recordOf returns the record for a register of a function, and its number.
func (fl *flow) recordOf(k recordKey) (*record, uint64) {
	n, ok := fl.recordAt[k]
	if !ok {
		n = uint64(len(fl.records))
		fl.recordAt[k] = n
		fl.records = append(fl.records, &record{words: map[int64]value{}, clashed: map[int64]bool{}})
	}
	return fl.records[n], n
}

// words are what an object on the stack holds: v is its address, in the
// caller's own frame or in one of its callers'.
func (fl *flow) words(v value, s *state) map[int64]value {
	words := map[int64]value{}
	switch v.kind {
	case frame:
		for _, sl := range s.stack {
			if off := sl.off - v.off; off >= 0 && off < maxRecord && fl.follows(sl.val) {
				words[off] = sl.val
			}
		}
	case stacked:
		for off, w := range fl.records[v.addr()].words {
			if off -= v.off; off >= 0 {
				words[off] = w
			}
		}
	}
	return words
}

// merge adds what a caller hands over, and tells whether something is new.
func (fl *flow) merge(r *record, k recordKey, words map[int64]value) bool {
	changed := false
	for off, w := range words {
		if w.kind == pointer || w.kind == elements {
			at := fl.origins.place(originKey{k.fn, -1, int64(k.reg)<<32 + off + 1<<40})
			fl.origins.flow(w.origin, at)
			w.origin = at
		}
		old, ok := r.words[off]
		switch {
		case r.clashed[off]:
		case !ok:
			r.words[off], changed = w, true
		case old != w:
			delete(r.words, off)
			r.clashed[off], changed = true, true
		}
	}
	return changed
}

// passStacked hands the address of an object on the stack to function i. An
// object that starts with a function's entry is a function literal: that one
// gets what it captured.
func (fl *flow) passStacked(i int, r reg, v value, s *state) {
	words := fl.words(v, s)
	if len(words) == 0 {
		return
	}
	if code := words[0]; code.kind == constant {
		if c := fl.p.entryAt(code.addr()); c >= 0 && fl.p.classes[c] == pluginOwn {
			i, r = c, fl.m.context
		}
	}
	if i < 0 || fl.p.classes[i] != pluginOwn {
		return
	}
	k := recordKey{i, r}
	rec, n := fl.recordOf(k)
	changed := fl.merge(rec, k, words)
	e := fl.entry(i)
	if !e.fixed[r] && !e.clashed[r] {
		switch want := (value{kind: stacked, typ: rtype(n)}); e.regs[r].kind {
		case unknown:
			e.regs[r], changed = want, true
		case stacked:
		default:
			e.regs[r], e.clashed[r], changed = value{}, true, true
		}
	}
	if changed {
		fl.push(i)
	}
}
