package binary

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"os"
	"slices"
	"testing"
	"time"
)

// mutate damages a copy of data at a few places, of which some are likely to
// be tables.
func mutate(rnd *rand.Rand, data []byte) []byte {
	b := slices.Clone(data)
	for range 1 + rnd.Intn(8) {
		at := rnd.Intn(len(b))
		if rnd.Intn(4) == 0 {
			at = rnd.Intn(4096) // headers
		}
		switch rnd.Intn(4) {
		case 0:
			b[at] = byte(rnd.Int())
		case 1:
			for i := at; i < min(at+8, len(b)); i++ {
				b[i] = 0xff
			}
		case 2:
			for i := at; i < min(at+1+rnd.Intn(4096), len(b)); i++ {
				b[i] = byte(rnd.Int())
			}
		case 3:
			n := rnd.Intn(256)
			copy(b[at:], b[rnd.Intn(len(b)):][:min(n, len(b)-at)])
		}
	}
	return b
}

// Ten thousand damaged plugins: no panic, no hang, no nonsense. Most of the
// damage is done to the tables, which are a small part of the file.
func TestMutated(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand analyses")
	}
	data, err := os.ReadFile(build(t, "quiet", variants()[1]))
	if err != nil {
		t.Fatal(err)
	}
	h := newHotspots(t, data)
	rnd := rand.New(rand.NewSource(1))
	deadline := time.Now().Add(4 * time.Minute)
	done := 0
	for ; done < 10000 && time.Now().Before(deadline); done++ {
		p, err := inspectBytes(h.mutate(rnd, data))
		checkSane(t, p, err)
		if t.Failed() {
			t.Fatalf("mutation %d", done)
		}
	}
	t.Logf("%d mutations", done)
}

// hotspots are the parts of a plugin that the analysis reads closely.
type hotspots struct{ ranges [][2]int }

func newHotspots(t *testing.T, data []byte) *hotspots {
	t.Helper()
	im, err := openImage(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := findModule(im)
	if err != nil {
		t.Fatal(err)
	}
	h := &hotspots{}
	// Where an address of the image is in the file.
	add := func(addr, size uint64) {
		part := im.at(addr, min(size, 64))
		if i := bytes.Index(data, part); part != nil && i >= 0 {
			h.ranges = append(h.ranges, [2]int{i, min(i+int(size), len(data))})
		}
	}
	add(m.types, m.etypes-m.types)
	add(m.funcs.addr, m.funcs.size)
	add(m.pctab.addr, m.pctab.size)
	add(m.names.addr, m.names.size)
	add(m.gofunc, 1<<16)
	add(m.typelinks, m.typelinkCount*4)
	add(m.itablinks, m.itablinkCount*8)
	add(im.pclntab, headerSize)
	var pattern [8]byte
	im.order.PutUint64(pattern[:], im.pclntab)
	if i := bytes.Index(data, pattern[:]); i >= 0 {
		h.ranges = append(h.ranges, [2]int{i, i + 400}) // moduledata
	}
	if len(h.ranges) < 9 {
		t.Fatalf("only %d of the tables were found in the file", len(h.ranges))
	}
	return h
}

func (h *hotspots) mutate(rnd *rand.Rand, data []byte) []byte {
	b := mutate(rnd, data)
	for range rnd.Intn(64) {
		r := h.ranges[rnd.Intn(len(h.ranges))]
		at := r[0] + rnd.Intn(r[1]-r[0])
		switch rnd.Intn(3) {
		case 0:
			b[at] ^= 1 << rnd.Intn(8)
		case 1:
			b[at] = 0xff
		case 2:
			copy(b[at:min(at+8, len(b))], data[rnd.Intn(len(data)-8):][:8])
		}
	}
	return b
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add([]byte("#!/bin/sh"))
	f.Add([]byte("MZ"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := inspectBytes(data)
		checkSane(t, p, err)
	})
}

// FuzzDamage damages a real plugin: each 5 bytes of the input are a place and a
// value.
func FuzzDamage(f *testing.F) {
	data, err := os.ReadFile(build(f, "quiet", variants()[1]))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{0, 0, 0, 16, 0xff})
	f.Add([]byte{0, 0, 1, 0, 0xff, 0, 0, 1, 1, 0xff})
	f.Fuzz(func(t *testing.T, damage []byte) {
		b := slices.Clone(data)
		for ; len(damage) >= 5; damage = damage[5:] {
			b[binary.BigEndian.Uint32(damage)%uint32(len(b))] = damage[4]
		}
		p, err := inspectBytes(b)
		checkSane(t, p, err)
	})
}
