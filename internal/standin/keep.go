package standin

import (
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	maxListed = 64   // entries of a list
	maxText   = 1024 // bytes of a text
)

// short returns the beginning of a text, as it was sent. A plugin can send
// megabytes as a name, again and again.
func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// bounded returns the beginning of a list, never nil.
func bounded(list []string) []string {
	out := []string{}
	for _, s := range list[:min(len(list), maxListed)] {
		out = append(out, short(s))
	}
	return out
}

// noteUnknown notes which messages in a message, itself included, have fields
// that the API of this program does not.
func (r *Registration) noteUnknown(m proto.Message) {
	for _, name := range unknownIn(m.ProtoReflect(), nil) {
		if !slices.Contains(r.Unknown, name) {
			r.Unknown = append(slices.Clip(r.Unknown), name)
		}
	}
}

// unknownIn adds the names of such messages to a list, each once.
func unknownIn(m protoreflect.Message, names []string) []string {
	if name := string(m.Descriptor().Name()); len(m.GetUnknown()) > 0 && !slices.Contains(names, name) {
		names = append(names, name)
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap(): // the maps of this API have no messages
		case field.IsList():
			for i := range value.List().Len() {
				names = unknownIn(value.List().Get(i).Message(), names)
			}
		default:
			names = unknownIn(value.Message(), names)
		}
		return true
	})
	return names
}
