package capability

import (
	"slices"
	"testing"
)

func TestSetWireForm(t *testing.T) {
	for _, test := range []struct {
		name  string
		words []uint64
		want  []ID
	}{
		{"nil", nil, nil},
		{"empty", []uint64{}, nil},
		{"zero words", []uint64{0, 0, 0}, nil},
		{"the draft's numbers", []uint64{1 | 1<<6 | 1<<26}, []ID{0, AdjustCDIDevices, 26}},
		{"an unknown bit", []uint64{1 << 41}, []ID{41}},
		{"more words than we know", []uint64{1, 0, 0, 0, 0, 0, 0, 0, 0, 1 << 63}, []ID{0, 639}},
	} {
		set := SetFromWords(test.words)
		if got := set.IDs(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if set.Len() != len(test.want) || set.Empty() != (len(test.want) == 0) {
			t.Errorf("%s: length %d, empty %v", test.name, set.Len(), set.Empty())
		}
		for _, id := range test.want {
			if !set.Has(id) {
				t.Errorf("%s: %d is not a member", test.name, id)
			}
		}
		if set.Has(65535) || set.Has(100) {
			t.Errorf("%s: has a member it was not given", test.name)
		}
		if again := SetFromWords(set.Words()); !again.Equal(set) {
			t.Errorf("%s: %v does not survive its wire form: %v", test.name, set, again)
		}
	}
}

func TestSetUnknownBitsAreKeptAndShown(t *testing.T) {
	set := SetFromWords([]uint64{1<<41 | 1<<6})
	if got := set.String(); got != "ADJUST_CDI_DEVICES,UNKNOWN_41" {
		t.Errorf("String() = %s", got)
	}
	if got := set.UnknownBits(); !slices.Equal(got, []ID{41}) {
		t.Errorf("UnknownBits() = %v", got)
	}
}

// TestSetIsAValue: every method leaves its receiver and its arguments alone,
// the words that were handed in and out included.
func TestSetIsAValue(t *testing.T) {
	words := []uint64{1 << 6}
	set := SetFromWords(words)
	words[0] = 0
	set.Words()[0] = 0
	other := NewSet(1, 300)
	for name, result := range map[string]Set{
		"With": set.With(1, 300), "Without": set.Without(6), "Union": set.Union(other),
		"Intersect": set.Intersect(other), "Minus": set.Minus(set), "DraftOnly": set.DraftOnly(),
	} {
		if !set.Equal(NewSet(6)) || !other.Equal(NewSet(300, 1)) {
			t.Fatalf("%s changed its receiver or argument: %v, %v", name, set, other)
		}
		if w := result.Words(); len(w) > 0 {
			w[0] = ^uint64(0)
		}
		if !set.Equal(NewSet(6)) {
			t.Fatalf("%s shares memory with its receiver", name)
		}
	}
}

func TestSetOperations(t *testing.T) {
	a, b := NewSet(1, 6, 300), NewSet(6, 41)
	for _, test := range []struct {
		name      string
		got, want Set
	}{
		{"union", a.Union(b), NewSet(1, 6, 41, 300)},
		{"union the other way", b.Union(a), NewSet(1, 6, 41, 300)},
		{"intersect", a.Intersect(b), NewSet(6)},
		{"minus", a.Minus(b), NewSet(1, 300)},
		{"minus the other way", b.Minus(a), NewSet(41)},
		{"draft only", a.DraftOnly(), NewSet(1, 6)},
		{"without a high member", a.Without(300), NewSet(1, 6)},
		{"without what is not there", a.Without(5000), a},
		{"with nothing", a.With(), a},
	} {
		if !test.got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
	if !NewSet(6).SubsetOf(a) || a.SubsetOf(NewSet(6)) || !(Set{}).SubsetOf(Set{}) || !(Set{}).SubsetOf(a) {
		t.Error("SubsetOf is wrong")
	}
}

func FuzzSet(f *testing.F) {
	f.Add(uint64(1<<6), uint64(0), uint64(1<<63), uint16(41))
	f.Fuzz(func(t *testing.T, w0, w1, w2 uint64, n uint16) {
		set := SetFromWords([]uint64{w0, w1, w2})
		id := ID(n)
		if !set.With(id).Has(id) || set.Without(id).Has(id) {
			t.Fatalf("With or Without does not do what it says for %d", id)
		}
		if len(set.IDs()) != set.Len() || !NewSet(set.IDs()...).Equal(set) {
			t.Fatalf("IDs of %v do not make up the set", set.Words())
		}
		if !set.Minus(set).Empty() || !set.Union(set).Equal(set) || !set.Intersect(set).Equal(set) {
			t.Fatalf("%v is not itself", set.Words())
		}
	})
}
