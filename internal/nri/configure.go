package nri

import (
	"fmt"
	"math"
	"time"

	"github.com/containerd/nri/pkg/api"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxString bounds the name and the versions in bytes. The longest version
	// met in public has 40.
	maxString = 256
	// maxWords bounds the capability mask: 65536 capabilities are enough.
	maxWords = 1024
	// capabilitiesField is the number of ConfigureRequest.capabilities in
	// containerd/nri#265: repeated uint64. No release has it, so it arrives among
	// the unknown fields.
	capabilitiesField = 7
)

// readConfigure reads a Configure request. It fails if a value breaks a rule
// that every runtime keeps.
func readConfigure(req *api.ConfigureRequest) (Identity, error) {
	if req.GetRuntimeName() == "" {
		return Identity{}, fmt.Errorf("%w: runtime name: empty", errIdentity)
	}
	for _, s := range []struct{ what, value string }{
		{"runtime name", req.GetRuntimeName()},
		{"runtime version", req.GetRuntimeVersion()},
		{"NRI version", req.GetNRIVersion()},
	} {
		if len(s.value) > maxString {
			return Identity{}, fmt.Errorf("%w: %s: %d bytes long, at most %d are taken", errIdentity, s.what, len(s.value), maxString)
		}
	}
	id := Identity{
		RuntimeName:         req.GetRuntimeName(),
		RuntimeVersion:      req.GetRuntimeVersion(),
		NRIVersion:          req.GetNRIVersion(),
		RegistrationTimeout: milliseconds(req.GetRegistrationTimeout()),
		RequestTimeout:      milliseconds(req.GetRequestTimeout()),
	}
	if err := readUnknown(&id, req.ProtoReflect().GetUnknown()); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", errIdentity, err)
	}
	return id, nil
}

// milliseconds turns a number of milliseconds into a duration; what does not fit
// becomes the longest duration.
func milliseconds(ms int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// readUnknown reads the fields that the library's message does not have: the
// capability mask, and the numbers of all others.
func readUnknown(id *Identity, b []byte) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("unknown fields: %w", protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return fmt.Errorf("unknown field %d: %w", num, protowire.ParseError(size))
		}
		value := b[n : n+size]
		b = b[n+size:]

		// A mask is sent packed, in one field, or one word a field; both may be
		// mixed, and the words then follow each other. Field 7 in another form is
		// not the draft's, whatever it is.
		isMask := num == capabilitiesField && (typ == protowire.VarintType || typ == protowire.BytesType)
		if !isMask {
			if len(id.UnknownFields) < maxWords {
				id.UnknownFields = append(id.UnknownFields, int32(num))
			}
			continue
		}
		words, err := readWords(typ, value)
		if err != nil {
			return fmt.Errorf("capability mask: %w", err)
		}
		if len(id.Capabilities)+len(words) > maxWords {
			return fmt.Errorf("capability mask: more than %d words", maxWords)
		}
		id.HasCapabilities = true
		id.Capabilities = append(id.Capabilities, words...)
	}
	return nil
}

// readWords reads the words in one field of the mask.
func readWords(typ protowire.Type, value []byte) ([]uint64, error) {
	if typ == protowire.BytesType {
		packed, n := protowire.ConsumeBytes(value)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		value = packed
	}
	var words []uint64
	for len(value) > 0 {
		word, n := protowire.ConsumeVarint(value)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		words = append(words, word)
		value = value[n:]
	}
	return words, nil
}
