package binary

// entryIndex finds functions by their entries. Most addresses that are asked
// for are none, so that this must be quick to tell.
type entryIndex struct {
	text, size uint64
	bits       []uint64 // one for each 16 bytes of code: a function starts in them
	first      []uint32 // the first function that starts in the 64 bits' code
}

const (
	unitShift  = 4
	blockShift = unitShift + 6
)

func newEntryIndex(t *funcTable) entryIndex {
	e := entryIndex{text: t.m.text, size: t.m.etext - t.m.text}
	e.bits = make([]uint64, e.size>>blockShift+1)
	e.first = make([]uint32, len(e.bits))
	for i := t.len() - 1; i >= 0; i-- {
		if off := t.entry(i) - e.text; off < e.size {
			e.bits[off>>blockShift] |= 1 << (off >> unitShift & 63)
			e.first[off>>blockShift] = uint32(i)
		}
	}
	return e
}

// start tells whether a function may start at address a.
func (e *entryIndex) start(a uint64) bool {
	off := a - e.text
	return off < e.size && e.bits[off>>blockShift]>>(off>>unitShift&63)&1 == 1
}

// at returns the number of the function that starts at address a, -1 if none
// does.
func (e *entryIndex) at(t *funcTable, a uint64) int {
	if !e.start(a) {
		return -1
	}
	// Real functions are longer than a few bytes; a damaged table may be out of
	// order.
	i := int(e.first[(a-e.text)>>blockShift])
	for end := min(t.len(), i+1<<blockShift); i < end; i++ {
		if t.entry(i) == a && (i+1 == end || t.entry(i+1) != a) {
			_, ok := t.get(i)
			if !ok {
				return -1
			}
			return i
		}
	}
	return -1
}
