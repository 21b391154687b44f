package binary

// entrySet tells quickly where functions start; of most addresses that are asked
// for, none does.
type entrySet struct {
	text, size uint64
	bits       []uint64 // one for each 16 bytes of code: a function starts in them
}

const (
	unitShift  = 4
	blockShift = unitShift + 6
)

func newEntrySet(m *module) entrySet {
	size := m.etext - m.text
	return entrySet{m.text, size, make([]uint64, size>>blockShift+1)}
}

func (e *entrySet) add(a uint64) {
	if off := a - e.text; off < e.size {
		e.bits[off>>blockShift] |= 1 << (off >> unitShift & 63)
	}
}

// start tells whether a function may start at address a.
func (e *entrySet) start(a uint64) bool {
	off := a - e.text
	return off < e.size && e.bits[off>>blockShift]>>(off>>unitShift&63)&1 == 1
}

// entryIndex finds functions by their entries.
type entryIndex struct {
	entrySet
	first []uint32 // the first function that starts in the code of each 64 bits
}

func newEntryIndex(t *funcTable) entryIndex {
	e := entryIndex{entrySet: newEntrySet(t.m)}
	e.first = make([]uint32, len(e.bits))
	for i := t.len() - 1; i >= 0; i-- {
		a := t.entry(i)
		if e.add(a); a-e.text < e.size {
			e.first[(a-e.text)>>blockShift] = uint32(i)
		}
	}
	return e
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
