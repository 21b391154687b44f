package symbols

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

//go:embed symbols.json
var symbolsJSON []byte

// Kind tells what sort of Go symbol it is.
type Kind string

// The kinds of symbols.
const (
	Field  Kind = "field"  // a field of a message type: api.Container.Rlimits
	Getter Kind = "getter" // the generated accessor of a field: api.(*Container).GetRlimits
	Method Kind = "method" // any other method: api.(*ContainerAdjustment).AddMount
	Func   Kind = "func"   // a function: stub.WithFailurePolicy
	Type   Kind = "type"   // a message type that a plugin constructs: api.LinuxDevice
)

// Symbol is one exported symbol and what its use shows.
type Symbol struct {
	// Full is the whole name, unique, with the package's last path element in
	// front: "api.Container.Rlimits", "api.(*Container).GetRlimits",
	// "stub.WithFailurePolicy", "api.LinuxDevice". Methods of an interface are
	// written without parentheses: "stub.Stub.UpdateContainers".
	Full string `json:"symbol"`
	Kind Kind   `json:"kind"`
	// Read is what is shown by reading a field or by calling a getter, method
	// or function: data the plugin is given.
	Read []capability.ID `json:"read,omitempty"`
	// Write is what is shown by writing a field, calling a method or function,
	// or constructing a value: a change the plugin asks for.
	Write []capability.ID `json:"write,omitempty"`
	// Adjust and Update are what is shown instead of Write where the object
	// that is changed hangs off a ContainerAdjustment or a ContainerUpdate.
	// They are set together or not at all.
	Adjust []capability.ID `json:"adjust,omitempty"`
	Update []capability.ID `json:"update,omitempty"`
	// RefinedBy names the message type (without package) whose own fields say
	// more exactly which of several capabilities are meant; empty if the symbol
	// is exact by itself.
	RefinedBy string `json:"refinedBy,omitempty"`
	// Since is the first NRI library version with the symbol, which is not the
	// first runtime that honours it. Until is the last one, empty if it is there
	// still.
	Since string `json:"since"`
	Until string `json:"until,omitempty"`
}

// Package is the last element of the import path: "api" or "stub".
func (s Symbol) Package() string {
	pkg, _, _ := strings.Cut(s.Full, ".")
	return pkg
}

// Receiver is the type that a field or method belongs to, without package and
// pointer, such as "Container"; the type itself for kind [Type]; empty for a
// function.
func (s Symbol) Receiver() string {
	_, rest, _ := strings.Cut(s.Full, ".")
	if recv, ok := strings.CutPrefix(rest, "(*"); ok {
		recv, _, _ = strings.Cut(recv, ")")
		return recv
	}
	if s.Kind == Func {
		return ""
	}
	recv, _, _ := strings.Cut(rest, ".")
	return recv
}

// Name is the last part of the symbol: the field, method, function or type.
func (s Symbol) Name() string { return s.Full[strings.LastIndexByte(s.Full, '.')+1:] }

// ByContext tells whether a write shows ADJUST_ or UPDATE_ by the object that is
// changed.
func (s Symbol) ByContext() bool { return len(s.Adjust) > 0 }

// The data is part of the program and tested; a panic here cannot happen in a
// build that passed.
var table = sync.OnceValue(func() []Symbol {
	var all []Symbol
	if err := json.Unmarshal(symbolsJSON, &all); err != nil {
		panic(fmt.Sprintf("symbols: embedded data: %v", err))
	}
	return all
})

// All returns every symbol, sorted by its full name.
func All() []Symbol { return slices.Clone(table()) }

// Lookup returns the symbol with the given full name.
func Lookup(full string) (Symbol, bool) {
	all := table()
	i, ok := slices.BinarySearchFunc(all, full, func(s Symbol, full string) int {
		return strings.Compare(s.Full, full)
	})
	if !ok {
		return Symbol{}, false
	}
	return all[i], true
}

// LookupField returns the symbol of field name of API message type typ.
func LookupField(typ, name string) (Symbol, bool) { return Lookup("api." + typ + "." + name) }

// LookupMethod returns the symbol of method name of API message type typ.
func LookupMethod(typ, name string) (Symbol, bool) { return Lookup("api.(*" + typ + ")." + name) }

// LookupType returns the symbol of API message type typ.
func LookupType(typ string) (Symbol, bool) {
	s, ok := Lookup("api." + typ)
	if !ok || s.Kind != Type {
		return Symbol{}, false
	}
	return s, true
}
