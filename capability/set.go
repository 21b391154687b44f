package capability

import (
	"math/bits"
	"slices"
	"strings"
)

// Set is a set of capabilities. Its wire form is that of the draft
// containerd/nri#265: words of 64 bits, capability n being bit n%64 of word
// n/64. Bits that are not in the catalogue are kept and are members like any
// other, so that a set of a newer runtime survives.
//
// A Set is a value: no method changes its receiver, and no two sets share
// memory. The zero value is the empty set. Sets are compared with
// [Set.Equal]; trailing zero words make no difference.
type Set struct {
	words []uint64 // never ends in a zero word
}

// maxWords bounds a set to the numbers an [ID] can hold.
const maxWords = (1 << 16) / 64

// NewSet returns the set of the given capabilities.
func NewSet(ids ...ID) Set {
	var words []uint64
	for _, id := range ids {
		words = setBit(words, id)
	}
	return Set{words}
}

// SetFromWords returns the set with the given wire form, which may be nil,
// shorter or longer than what this catalogue needs. The words are copied.
// Words past number 65535 are ignored: no capability has such a number.
func SetFromWords(words []uint64) Set {
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	return Set{trim(slices.Clone(words))}
}

// Words returns a copy of the wire form without trailing zero words; nil for
// the empty set.
func (s Set) Words() []uint64 { return slices.Clone(s.words) }

// Has tells whether id is in the set. It is false for every number that the
// set's words do not reach.
func (s Set) Has(id ID) bool {
	w := int(id) / 64
	return w < len(s.words) && s.words[w]&(1<<(id%64)) != 0
}

// With returns the set with the given capabilities added.
func (s Set) With(ids ...ID) Set {
	words := slices.Clone(s.words)
	for _, id := range ids {
		words = setBit(words, id)
	}
	return Set{words}
}

// Without returns the set with the given capabilities taken out.
func (s Set) Without(ids ...ID) Set {
	words := slices.Clone(s.words)
	for _, id := range ids {
		if w := int(id) / 64; w < len(words) {
			words[w] &^= 1 << (id % 64)
		}
	}
	return Set{trim(words)}
}

// Union returns what is in s or in t.
func (s Set) Union(t Set) Set {
	long, short := s.words, t.words
	if len(long) < len(short) {
		long, short = short, long
	}
	words := slices.Clone(long)
	for i, w := range short {
		words[i] |= w
	}
	return Set{words}
}

// Intersect returns what is in s and in t.
func (s Set) Intersect(t Set) Set {
	words := slices.Clone(s.words[:min(len(s.words), len(t.words))])
	for i := range words {
		words[i] &= t.words[i]
	}
	return Set{trim(words)}
}

// Minus returns what is in s and not in t.
func (s Set) Minus(t Set) Set {
	words := slices.Clone(s.words)
	for i, w := range t.words[:min(len(s.words), len(t.words))] {
		words[i] &^= w
	}
	return Set{trim(words)}
}

// SubsetOf tells whether everything in s is in t.
func (s Set) SubsetOf(t Set) bool { return s.Minus(t).Empty() }

// Equal tells whether s and t have the same members.
func (s Set) Equal(t Set) bool { return slices.Equal(s.words, t.words) }

// Empty tells whether the set has no member.
func (s Set) Empty() bool { return len(s.words) == 0 }

// Len is the number of members, those not in the catalogue included.
func (s Set) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// IDs returns the members in the order of their numbers.
func (s Set) IDs() []ID {
	ids := make([]ID, 0, s.Len())
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			ids = append(ids, ID(i*64+bits.TrailingZeros64(w)))
		}
	}
	return ids
}

// UnknownBits returns the members that are not in the catalogue, in the order
// of their numbers; they print as UNKNOWN_n.
func (s Set) UnknownBits() []ID {
	return slices.DeleteFunc(s.IDs(), ID.Known)
}

// DraftOnly returns the members whose numbers belong to the draft enum: what
// may be sent to, or was meant by, a runtime.
func (s Set) DraftOnly() Set {
	return Set{trim(slices.Clone(s.words[:min(len(s.words), int(FirstOwn)/64)]))}
}

// String returns the names of the members, sorted and joined by commas.
func (s Set) String() string {
	names := make([]string, 0, s.Len())
	for _, id := range s.IDs() {
		names = append(names, id.String())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func setBit(words []uint64, id ID) []uint64 {
	w := int(id) / 64
	for len(words) <= w {
		words = append(words, 0)
	}
	words[w] |= 1 << (id % 64)
	return words
}

func trim(words []uint64) []uint64 {
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	return words
}
