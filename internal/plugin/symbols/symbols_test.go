package symbols

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// The file has one symbol a line, sorted and without repetition, so that a
// change is one line in a review.
func TestDataForm(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(symbolsJSON), "\n"), "\n")
	if lines[0] != "[" || lines[len(lines)-1] != "]" {
		t.Fatalf("the data must stand between a line [ and a line ]")
	}
	last := ""
	for _, line := range lines[1 : len(lines)-1] {
		var s Symbol
		dec := json.NewDecoder(bytes.NewReader([]byte(strings.TrimSuffix(line, ","))))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if s.Full <= last {
			t.Errorf("%s: not sorted after %s", s.Full, last)
		}
		last = s.Full
	}
}

func TestEverySymbol(t *testing.T) {
	for _, s := range All() {
		if got, ok := Lookup(s.Full); !ok || got.Full != s.Full {
			t.Errorf("%s: Lookup = %v, %v", s.Full, got.Full, ok)
		}
		if s.Package() != "api" && s.Package() != "stub" {
			t.Errorf("%s: package %q", s.Full, s.Package())
		}
		if !strings.HasPrefix(s.Since, "v0.") {
			t.Errorf("%s: since %q", s.Full, s.Since)
		}
		if (len(s.Adjust) > 0) != (len(s.Update) > 0) {
			t.Errorf("%s: adjust %v, update %v", s.Full, s.Adjust, s.Update)
		}
		if s.ByContext() && len(s.Write) > 0 {
			t.Errorf("%s: a write is decided by context or not, never both", s.Full)
		}
		checkKinds(t, s)
		switch s.Kind {
		case Field:
			if got, ok := LookupField(s.Receiver(), s.Name()); !ok || got.Full != s.Full {
				t.Errorf("%s: not found as field %s.%s", s.Full, s.Receiver(), s.Name())
			}
		case Getter:
			if !strings.HasPrefix(s.Name(), "Get") {
				t.Errorf("%s: a getter's name starts with Get", s.Full)
			}
			f, ok := LookupField(s.Receiver(), strings.TrimPrefix(s.Name(), "Get"))
			if !ok || !slices.Equal(f.Read, s.Read) {
				t.Errorf("%s: shows %v, its field %v", s.Full, s.Read, f.Read)
			}
		case Method, Func, Type:
		default:
			t.Errorf("%s: kind %q", s.Full, s.Kind)
		}
		if s.RefinedBy != "" && !slices.ContainsFunc(All(), func(o Symbol) bool { return o.Receiver() == s.RefinedBy && o.Kind == Field }) {
			t.Errorf("%s: refined by %s, which has no fields here", s.Full, s.RefinedBy)
		}
	}
}

// Each list holds capabilities of fitting kinds only.
func checkKinds(t *testing.T, s Symbol) {
	t.Helper()
	check := func(list string, ids []capability.ID, kinds ...capability.Kind) {
		for _, id := range ids {
			if !id.Known() || !slices.Contains(kinds, id.Kind()) {
				t.Errorf("%s: %s has %v", s.Full, list, id)
			}
		}
	}
	check("read", s.Read, capability.Input, capability.Extra, capability.Proto)
	check("write", s.Write, capability.Adjust, capability.Update, capability.Proto)
	check("adjust", s.Adjust, capability.Adjust)
	check("update", s.Update, capability.Update)
}

// Everything the catalogue says a plugin author writes has a symbol that shows
// it.
func TestCatalogueAPI(t *testing.T) {
	// Symbols that alone cannot show the capability: where the call is made
	// decides.
	byPlace := map[capability.ID]bool{capability.UpdateUnsolicitedFromHandler: true}
	// Changes that are told apart below the field that shows them.
	byField := map[capability.ID]bool{
		capability.AdjustLinuxSeccompDefaultErrno: true, capability.AdjustLinuxSeccompErrnoRet: true,
	}
	for _, id := range capability.OfFamily(capability.NRI) {
		entry, _ := capability.Lookup(id)
		for _, name := range entry.API {
			recv, method, _ := strings.Cut(name, ".")
			if recv == "stub" || byPlace[id] {
				continue
			}
			field, _, _ := strings.Cut(method, "[")
			if s, ok := LookupField(recv, field); ok {
				// A field of a group shows the whole group; that one of its
				// capabilities is read or written with it is enough.
				if len(s.Read)+len(s.Write) == 0 {
					t.Errorf("%v: api.%s.%s shows nothing", id, recv, field)
				}
				continue
			}
			if s, ok := LookupMethod(recv, method); ok {
				if !slices.Contains(s.Write, id) {
					t.Errorf("%v: api.(*%s).%s shows %v", id, recv, method, s.Write)
				}
				continue
			}
			// What every release hands over has no symbol; a change must have one.
			if k := id.Kind(); k == capability.Adjust && method != "" && !byField[id] {
				t.Errorf("%v: no symbol for api.%s.%s", id, recv, method)
			}
		}
	}
}

func TestHandlers(t *testing.T) {
	all := Handlers()
	if !slices.IsSortedFunc(all, func(a, b Handler) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted by name")
	}
	shown := map[capability.ID]bool{}
	for _, h := range all {
		for _, id := range append(h.Requires, h.Wants...) {
			if !id.Known() {
				t.Errorf("%s: %v is not a capability", h.Name, id)
			}
			shown[id] = true
		}
		if len(h.Stub) == 0 && h.Interface != "" {
			t.Errorf("%s: interface without a signature", h.Name)
		}
		for i, s := range h.Stub {
			if (i == 0) != (s.Until == "") {
				t.Errorf("%s: only the newest signature has no end", h.Name)
			}
			for _, o := range h.Stub[:i] {
				if s.Equal(o) {
					t.Errorf("%s: signature given twice", h.Name)
				}
			}
		}
	}
	for _, id := range capability.All() {
		if id.Kind() == capability.Subscribe && !shown[id] {
			t.Errorf("no handler shows %v", id)
		}
		// EVENT_STOP_CONTAINER_ON_EXIT is about when a call comes, not about a handler.
		if id.Kind() == capability.Event && !shown[id] && id != capability.EventStopContainerOnExit {
			t.Errorf("no handler shows %v", id)
		}
	}
}
