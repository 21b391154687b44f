package capability

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

//go:generate go run ./gen

//go:embed catalogue.json
var catalogueJSON []byte

// Entry is what the catalogue says about one capability. For those of NRI the
// facts were read from every release of the NRI library, v0.2.0 to v0.12.5; what
// the library merges and generates was also run in each of them. For those of
// the kubelet they were read from the minor releases of Kubernetes; the fields
// about the NRI library are empty there.
type Entry struct {
	ID ID `json:"name"`
	// Number is the stable number of ID.
	Number uint16 `json:"number"`
	// Title says in a few words what the capability is.
	Title string `json:"title"`
	// Effect is what happens on a runtime that does not have it, unless a
	// release is known to behave otherwise.
	Effect Effect `json:"effect"`
	// Consequence says the same in words a person understands, such as
	// "accepted and dropped: the container starts without the device".
	Consequence string `json:"consequence"`
	// Instead says what to do on a runtime that does not have it; empty if
	// nothing is known to help.
	Instead string `json:"instead,omitempty"`
	// API lists what a plugin author writes to depend on it, as symbols of the
	// NRI Go packages, such as "ContainerAdjustment.AddCDIDevice", or of the
	// packages below k8s.io/kubelet/pkg/apis. Empty where the Go API has no name
	// for it.
	API []string `json:"api,omitempty"`
	// Proto is the field or call of the protocol, such as
	// "ContainerAdjustment.CDI_devices"; several are joined by ", ".
	Proto string `json:"proto,omitempty"`
	// Since is the first NRI library version in which it works from end to end
	// inside the library; empty if it does in none, or if it is not the library
	// that decides (every INPUT_ is filled in by the runtime).
	Since string `json:"since,omitempty"`
	// SinceProto, SinceCollected and SinceGenerated are the first NRI library
	// versions in which the field exists in the protocol, is merged by the
	// adaptation, and is applied to the OCI spec; empty for never, or where the
	// layer has no part in it.
	SinceProto     string `json:"sinceProto,omitempty"`
	SinceCollected string `json:"sinceCollected,omitempty"`
	SinceGenerated string `json:"sinceGenerated,omitempty"`
	// Option says what a runtime must hand to the library for it to work; empty
	// if nothing.
	Option string `json:"option,omitempty"`
	// Hazards are the library versions in which using it does harm.
	Hazards []Hazard `json:"hazards,omitempty"`
	// Note is a remark for a person; often empty.
	Note string `json:"note,omitempty"`
}

// Hazard is a range of NRI library versions in which using a capability does
// harm or is lost.
type Hazard struct {
	// From is the first version concerned, Before the first one that is not any
	// more; each is empty where the range is open.
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"`
	// Effect says what happens, and under which condition if not always.
	Effect string `json:"effect"`
	// Crash is set if every use of the capability ends the runtime.
	Crash bool `json:"crash,omitempty"`
}

var catalogue = sync.OnceValue(func() map[ID]Entry {
	var entries []Entry
	if err := json.Unmarshal(catalogueJSON, &entries); err != nil {
		// The file is part of the program and tested; this cannot happen in a build that passed.
		panic(fmt.Sprintf("capability: embedded catalogue: %v", err))
	}
	byID := make(map[ID]Entry, len(entries))
	for _, e := range entries {
		byID[e.ID] = e
	}
	return byID
})

// Lookup returns the catalogue entry of id, false for an unknown number.
func Lookup(id ID) (Entry, bool) {
	e, ok := catalogue()[id]
	return e, ok
}
