package symbols

import (
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// How tells what the plugin does with a symbol.
type How string

// The ways to use a symbol; they are the kinds of [capability.Evidence].
const (
	Read      How = "read"      // a field is read
	Write     How = "write"     // a field is written
	Call      How = "call"      // a method or function is called
	Inline    How = "inline"    // the same, expanded in place by the compiler
	Construct How = "construct" // a value of the type is made
)

// Context tells which object the one in use hangs off. It matters for
// LinuxResources and what is below it, which occur in several places.
type Context uint8

// The contexts.
const (
	Unclear         Context = iota
	OfContainer             // a Container that the plugin was given
	OfPod                   // a PodSandbox that the plugin was given
	OfUpdateRequest         // the resources given to UpdateContainer
	OfPodUpdate             // the resources given to UpdatePodSandbox
	OfAdjustment            // a ContainerAdjustment
	OfUpdate                // a ContainerUpdate
)

// Use is one use of a symbol by the plugin's own code.
type Use struct {
	Symbol  Symbol
	How     How
	Context Context
	// Unproven is set where nothing shows that the using code can run.
	Unproven bool
	// Evidence says where; its Kind and Symbol are filled in by [Requirements].
	Evidence capability.Evidence
}

// Notes of requirements that need a word.
const (
	noteWhole       = "handled as a whole: single fields cannot be told apart"
	noteEither      = "changes resources, but whether in an adjustment or in an update could not be told"
	noteLinked      = "nothing shows that the code that does it can run"
	noteConstruct   = "only the making of the value was seen, not what becomes of it"
	noteReplacement = "removed and set in the same function: a replacement, which needs no support for removal"
	noteShutdown    = "no NRI release calls Shutdown"
)

// Requirements says what the uses show, normalised. Every requirement has
// level [capability.Requires], except a removal that is half of a replacement.
func Requirements(uses []Use, source capability.Source) []capability.Requirement {
	r := newResolver(uses)
	var reqs []capability.Requirement
	for _, u := range uses {
		ids, unproven, note := r.shown(u)
		ev := u.Evidence
		ev.Kind, ev.Symbol = string(u.How), u.Symbol.Full
		for _, id := range ids {
			reqs = append(reqs, capability.Requirement{
				Capability: id, Level: capability.Requires, Source: source,
				Unproven: u.Unproven || unproven, Note: note, Evidence: []capability.Evidence{ev},
			})
		}
	}
	return replacements(normalize(reqs))
}

// HandlerRequirements says what having a handler shows.
func HandlerRequirements(h Handler, source capability.Source, ev capability.Evidence) []capability.Requirement {
	ev.Kind = "handler"
	if h.Interface != "" {
		ev.Symbol = "stub." + h.Interface
	}
	var reqs []capability.Requirement
	for _, id := range h.Requires {
		reqs = append(reqs, capability.Requirement{Capability: id, Level: capability.Requires, Source: source, Evidence: []capability.Evidence{ev}})
	}
	for _, id := range h.Wants {
		reqs = append(reqs, capability.Requirement{Capability: id, Level: capability.Wants, Source: source, Note: noteShutdown, Evidence: []capability.Evidence{ev}})
	}
	return reqs
}

// normalize joins entries. Of the notes, that of the strongest entry counts: a
// proven one, which usually has none, before one that only lacks a caller, and
// that before one where only the making of a value was seen.
func normalize(reqs []capability.Requirement) []capability.Requirement {
	rank := func(r capability.Requirement) int {
		switch {
		case !r.Unproven:
			return 0
		case r.Note == "" || r.Note == noteLinked:
			return 1
		}
		return 2
	}
	best := map[capability.ID]int{}
	for _, r := range reqs {
		if n, ok := best[r.Capability]; !ok || rank(r) < n {
			best[r.Capability] = rank(r)
		}
	}
	for i := range reqs {
		r := &reqs[i]
		switch n := best[r.Capability]; {
		case rank(*r) > n && n == 0:
			r.Note = ""
		case rank(*r) > n || n == 1:
			r.Note = noteLinked
		}
	}
	return capability.Normalize(reqs)
}

// resolver answers questions about all uses together.
type resolver struct {
	// clear holds the places where the context of an object is known.
	clear map[place]bool
	// parts holds which types' fields are used, how and in which context.
	parts map[part]bool
	// adjusts and updates tell whether the plugin is seen to make adjustments
	// and updates.
	adjusts, updates bool
}

type place struct{ function, receiver, name string }

type part struct {
	receiver string
	changing bool
	context  Context
}

func newResolver(uses []Use) resolver {
	r := resolver{clear: map[place]bool{}, parts: map[part]bool{}}
	for _, u := range uses {
		if u.Context != Unclear {
			r.clear[placeOf(u)] = true
		}
		if u.Symbol.Kind != Type {
			r.parts[part{u.Symbol.Receiver(), changing(u), u.Context}] = true
		}
		switch u.Symbol.Receiver() {
		case "ContainerAdjustment", "LinuxContainerAdjustment":
			r.adjusts = true
		case "ContainerUpdate", "LinuxContainerUpdate":
			r.updates = true
		}
	}
	return r
}

func placeOf(u Use) place {
	name := u.Symbol.Name()
	if u.Symbol.Kind == Getter {
		name = strings.TrimPrefix(name, "Get")
	}
	return place{u.Evidence.Function, u.Symbol.Receiver(), name}
}

// shown returns the capabilities that one use shows in the light of all uses.
func (r resolver) shown(u Use) (ids []capability.ID, unproven bool, note string) {
	switch u.How {
	case Read:
		ids = r.read(u)
	case Write, Construct:
		ids, unproven, note = r.write(u)
	case Call, Inline:
		ids = r.read(u)
		w, up, n := r.write(u)
		ids, unproven, note = append(slices.Clone(ids), w...), up, n
	}
	if len(ids) == 0 {
		return nil, false, ""
	}
	if u.Symbol.RefinedBy != "" {
		if r.refined(u) {
			return nil, false, ""
		}
		unproven, note = true, noteWhole
	}
	if u.How == Construct && note == "" {
		unproven, note = true, noteConstruct
	}
	return ids, unproven, note
}

// read returns what a read shows: nothing if the object is the plugin's own.
func (r resolver) read(u Use) []capability.ID {
	if !resourcePart(u.Symbol) {
		return u.Symbol.Read
	}
	switch u.Context {
	case OfAdjustment, OfUpdate, OfPod:
		return nil
	case OfPodUpdate:
		return []capability.ID{capability.InputPodUpdateResources}
	case OfUpdateRequest:
		ids := []capability.ID{capability.InputUpdateLinuxResources}
		if slices.Contains(u.Symbol.Read, capability.InputLinuxUnified) {
			ids = append(ids, capability.InputUpdateLinuxUnified)
		}
		if slices.Equal(u.Symbol.Read, []capability.ID{capability.InputLinuxMemorySwap}) {
			ids = append(ids, capability.InputUpdateLinuxMemorySwap)
		}
		return ids
	case Unclear:
		if r.clear[placeOf(u)] {
			return nil
		}
	}
	return u.Symbol.Read
}

// write returns what a write shows. Where the context is not known and the
// plugin makes both adjustments and updates, it is either.
func (r resolver) write(u Use) (ids []capability.ID, unproven bool, note string) {
	if !u.Symbol.ByContext() {
		return u.Symbol.Write, false, ""
	}
	switch u.Context {
	case OfAdjustment:
		return u.Symbol.Adjust, false, ""
	case OfUpdate:
		return u.Symbol.Update, false, ""
	case Unclear:
		if r.clear[placeOf(u)] {
			return nil, false, ""
		}
		switch {
		case r.adjusts && !r.updates:
			return u.Symbol.Adjust, false, ""
		case r.updates && !r.adjusts:
			return u.Symbol.Update, false, ""
		}
		return append(slices.Clone(u.Symbol.Adjust), u.Symbol.Update...), true, noteEither
	}
	// A change to an object that the plugin was given goes nowhere.
	return nil, false, ""
}

// refined tells whether fields of the type that says more exactly what is meant
// are used too, in the same context as far as that is known.
func (r resolver) refined(u Use) bool {
	has := func(c Context) bool { return r.parts[part{u.Symbol.RefinedBy, changing(u), c}] }
	if u.Context != Unclear {
		return has(u.Context) || has(Unclear)
	}
	for c := Unclear; c <= OfUpdate; c++ {
		if has(c) {
			return true
		}
	}
	return false
}

// changing tells whether the use changes something rather than reads it.
func changing(u Use) bool {
	switch u.How {
	case Write, Construct:
		return true
	case Read:
		return false
	}
	return len(u.Symbol.Read) == 0
}

// resourcePart tells whether the symbol belongs to LinuxResources or a type
// below it.
func resourcePart(s Symbol) bool {
	switch s.Receiver() {
	case "LinuxResources", "LinuxCPU", "LinuxMemory":
		return true
	}
	return false
}

// replacements lowers the level of a removal where each function that removes
// also sets: "remove, then add" works in every release.
func replacements(reqs []capability.Requirement) []capability.Requirement {
	sets := map[capability.ID]capability.ID{
		capability.AdjustAnnotationsRemoval:         capability.AdjustAnnotations,
		capability.AdjustEnvRemoval:                 capability.AdjustEnv,
		capability.AdjustLinuxDevicesRemoval:        capability.AdjustLinuxDevices,
		capability.AdjustLinuxNamespacesRemoval:     capability.AdjustLinuxNamespaces,
		capability.AdjustLinuxNetworkDevicesRemoval: capability.AdjustLinuxNetworkDevices,
		capability.AdjustMountsRemoval:              capability.AdjustMounts,
	}
	where := map[capability.ID][]string{}
	for _, r := range reqs {
		for _, e := range r.Evidence {
			where[r.Capability] = append(where[r.Capability], e.Function)
		}
	}
	for i := range reqs {
		set, ok := sets[reqs[i].Capability]
		if !ok {
			continue
		}
		outside := slices.ContainsFunc(reqs[i].Evidence, func(e capability.Evidence) bool {
			return !slices.Contains(where[set], e.Function)
		})
		if !outside {
			reqs[i].Level, reqs[i].Note = capability.Wants, noteReplacement
		}
	}
	return reqs
}
