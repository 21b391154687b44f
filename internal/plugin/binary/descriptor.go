package binary

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// protocolJSON lists the forms of NRI's protocol from the first release on: the
// first and last release with a form, and what it adds to the one before.
// "Message.field" is a field, "Enum=VALUE" a value of an enum. Nothing was ever
// taken away. It was made from pkg/api/api.proto of every release v0.2.0 to
// v0.12.5, and of the commit that containerd 2.1 vendors; that the descriptors
// in programs agree is tested with programs built for several releases.
//
//go:embed protocol.json
var protocolJSON []byte

type protocol struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Adds []string `json:"adds"`
}

var protocols = sync.OnceValue(func() []protocol {
	var list []protocol
	if err := json.Unmarshal(protocolJSON, &list); err != nil {
		// Part of the program and tested.
		panic(fmt.Sprintf("binary: embedded protocol table: %v", err))
	}
	return list
})

// descriptor is the set of fields that the program's own description of NRI's
// protocol has, sorted.
type descriptor []string

// protoPackage is how the descriptor names the protocol: field 2, a string of
// 20 bytes.
const protoPackage = "\x12\x14nri.pkg.api.v1alpha1"

// findDescriptor finds the file descriptor that the generated API registers;
// nil if there is none. It starts with the file's name, field 1. The tables in
// skip, sorted by address, are not searched.
func findDescriptor(im *image, skip ...table) descriptor {
	var best descriptor
	tries := 0
	for _, s := range im.segments {
		from := 0
		for _, t := range skip {
			if off := t.addr - s.addr; t.addr >= s.addr && off <= uint64(len(s.data)) && int(off) > from {
				best = searchDescriptor(s.data[from:off], best, &tries)
				from = int(min(off+t.size, uint64(len(s.data))))
			}
		}
		best = searchDescriptor(s.data[from:], best, &tries)
	}
	return best
}

// searchDescriptor returns the largest descriptor in data, or best if that is
// larger.
func searchDescriptor(data []byte, best descriptor, tries *int) descriptor {
	for off := 0; ; off++ {
		i := bytes.Index(data[off:], []byte(protoPackage))
		if i < 0 {
			return best
		}
		off += i
		if *tries++; *tries > maxTries {
			return best
		}
		if start := descriptorStart(data[:off]); start >= 0 {
			end := min(len(data), start+maxDescriptor)
			if d := parseDescriptor(data[start:end]); len(d) > len(best) {
				best = d
			}
		}
	}
}

// A real program has a handful of places that look like a descriptor, and it is
// some 10 KiB long.
const (
	maxTries      = 64
	maxDescriptor = 1 << 20
)

// descriptorStart is where the file name in front of the package starts.
func descriptorStart(before []byte) int {
	for n := 1; n < 128 && n+2 <= len(before); n++ {
		at := len(before) - n - 2
		if before[at] == '\n' && int(before[at+1]) == n && bytes.HasSuffix(before, []byte(".proto")) {
			return at
		}
	}
	return -1
}

// maxNames bounds what is taken from one descriptor.
const maxNames = 4096

// parseDescriptor reads the names of the fields and enum values at top level.
// It ends where the data is no file descriptor any more.
func parseDescriptor(b []byte) descriptor {
	var names descriptor
	add := func(outer []byte, sep string, inner []byte) {
		if len(names) < maxNames {
			names = append(names, string(outer)+sep+string(inner))
		}
	}
	members := func(body []byte, sep string) {
		var name []byte
		eachField(body, func(num uint64, v []byte) bool {
			switch num {
			case 1:
				name = v
			case 2:
				eachField(v, func(num uint64, w []byte) bool {
					if num == 1 {
						add(name, sep, w)
					}
					return num != 1
				})
			}
			return true
		})
	}
	last := uint64(0)
	eachField(b, func(num uint64, v []byte) bool {
		// The fields stand in order: 4 messages, 5 enums, 6 services, 8
		// options, 12 syntax.
		if num < last || num > 12 {
			return false
		}
		last = num
		switch num {
		case 4:
			members(v, ".")
		case 5:
			members(v, "=")
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// eachField calls f with the fields of a protobuf message until f returns false
// or the data makes no sense. The bytes are nil for a number.
func eachField(b []byte, f func(num uint64, v []byte) bool) {
	for len(b) > 0 {
		tag, n := uvarint64(b)
		if n == 0 || tag>>3 == 0 {
			return
		}
		b = b[n:]
		var v []byte
		switch tag & 7 {
		case 0:
			_, n = uvarint64(b)
			if n == 0 {
				return
			}
		case 2:
			size, skip := uvarint64(b)
			if skip == 0 || size > uint64(len(b)-skip) {
				return
			}
			n = skip + int(size)
			v = b[skip:n]
		default:
			return
		}
		b = b[n:]
		if !f(tag>>3, v) {
			return
		}
	}
}

func uvarint64(p []byte) (v uint64, n int) {
	for i := 0; i < len(p) && i < 10; i++ {
		v |= uint64(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// match finds the form of the protocol that is exactly the descriptor's. If
// there is none, nearest says which is nearest and what the difference is.
func (d descriptor) match() (from, to, nearest string) {
	var known []string
	bestDiff := -1
	for _, p := range protocols() {
		known = append(known, p.Adds...)
		have := slices.Clone(known)
		slices.Sort(have)
		if slices.Equal(have, d) {
			return p.From, p.To, ""
		}
		more, less := missing(d, have), missing(have, d)
		if n := len(more) + len(less); bestDiff < 0 || n < bestDiff {
			bestDiff = n
			nearest = fmt.Sprintf("%s%s%s", p.From, some(", and has ", more), some(", but lacks ", less))
		}
	}
	return "", "", nearest
}

// missing returns what is in a but not in b; both are sorted.
func missing(a, b []string) []string {
	var list []string
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); !ok {
			list = append(list, x)
		}
	}
	return list
}

func some(what string, names []string) string {
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 3:
		return fmt.Sprintf("%s%s and %d more", what, strings.Join(names[:3], ", "), len(names)-3)
	}
	return what + strings.Join(names, ", ")
}
