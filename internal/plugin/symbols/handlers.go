package symbols

import (
	"slices"
	"strings"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

// Signature is the signature of a handler method without its receiver. Types
// are written with the API package left out: "context.Context", "*PodSandbox",
// "[]*ContainerUpdate", "EventMask", "string", "error".
type Signature struct {
	In, Out []string
	// Since and Until are the first and last NRI release whose stub looks for
	// exactly this signature; Until is empty for one that is in force still.
	Since, Until string
}

// Equal tells whether two signatures have the same parameters and results.
func (s Signature) Equal(o Signature) bool {
	return slices.Equal(s.In, o.In) && slices.Equal(s.Out, o.Out)
}

// Handler is a method that the stub looks for on the type given to stub.New,
// by name and exact signature. The stub ignores a method with the right name
// and a wrong signature without a word.
type Handler struct {
	Name string
	// Interface is the stub's interface with this method; empty for one that
	// only the raw protocol service has.
	Interface string
	// Requires is shown by having the handler: that the event arrives and, where
	// older releases refuse a registration with its bit, that they do not.
	Requires []capability.ID
	// Wants is shown too, but the plugin works without it.
	Wants []capability.ID
	// Stub lists the signatures the stub has looked for, newest first.
	Stub []Signature
	// Service is the signature of the same call in the protocol's service
	// interface, which a plugin without the stub implements itself. That
	// interface must be implemented as a whole, so having the method shows no
	// event.
	Service Signature
}

// NRI v0.4.0 put a context in front of every handler, and gave UpdateContainer
// the requested resources.
const (
	withContext = "v0.4.0"
	lastWithout = "v0.3.0"
)

// Handlers returns all handlers, sorted by name.
func Handlers() []Handler { return slices.Clone(handlers()) }

var handlers = sync.OnceValue(func() []Handler {
	pod := []string{"*PodSandbox"}
	container := []string{"*PodSandbox", "*Container"}
	failure := []string{"error"}
	updates := []string{"[]*ContainerUpdate", "error"}
	both := func(name, iface string, in, out []string, requires ...capability.ID) Handler {
		return Handler{
			Name: name, Interface: iface, Requires: requires, Service: service(name),
			Stub: []Signature{
				{In: ctx(in...), Out: out, Since: withContext},
				{In: in, Out: out, Since: "v0.2.0", Until: lastWithout},
			},
		}
	}
	since := func(version, name, iface string, in, out []string, requires ...capability.ID) Handler {
		return Handler{
			Name: name, Interface: iface, Requires: requires, Service: service(name),
			Stub: []Signature{{In: ctx(in...), Out: out, Since: version}},
		}
	}
	shutdown := Handler{
		Name: "Shutdown", Interface: "ShutdownInterface",
		// No release of NRI ever calls it, so that nobody depends on it.
		Wants: []capability.ID{capability.ProtoShutdown},
		Stub: []Signature{
			{In: ctx(), Since: withContext},
			{In: []string{"*ShutdownRequest"}, Since: "v0.2.0", Until: lastWithout},
		},
		Service: Signature{In: ctx("*Empty"), Out: []string{"*Empty", "error"}},
	}
	update := both("UpdateContainer", "UpdateContainerInterface", container, updates, capability.EventUpdateContainer)
	update.Stub[0].In = ctx("*PodSandbox", "*Container", "*LinuxResources")
	return []Handler{
		both("Configure", "ConfigureInterface", []string{"string", "string", "string"}, []string{"EventMask", "error"}),
		both("CreateContainer", "CreateContainerInterface", container,
			[]string{"*ContainerAdjustment", "[]*ContainerUpdate", "error"}, capability.EventCreateContainer),
		both("PostCreateContainer", "PostCreateContainerInterface", container, failure, capability.EventPostCreateContainer),
		both("PostStartContainer", "PostStartContainerInterface", container, failure, capability.EventPostStartContainer),
		both("PostUpdateContainer", "PostUpdateContainerInterface", container, failure, capability.EventPostUpdateContainer),
		since("v0.10.0", "PostUpdatePodSandbox", "PostUpdatePodInterface", pod, failure,
			capability.EventPostUpdatePodSandbox, capability.SubscribePostUpdatePodSandbox),
		both("RemoveContainer", "RemoveContainerInterface", container, failure, capability.EventRemoveContainer),
		both("RemovePodSandbox", "RemovePodInterface", pod, failure, capability.EventRemovePodSandbox),
		both("RunPodSandbox", "RunPodInterface", pod, failure, capability.EventRunPodSandbox),
		shutdown,
		both("StartContainer", "StartContainerInterface", container, failure, capability.EventStartContainer),
		{Name: "StateChange", Service: Signature{In: ctx("*StateChangeEvent"), Out: []string{"*Empty", "error"}}},
		both("StopContainer", "StopContainerInterface", container, updates, capability.EventStopContainer),
		both("StopPodSandbox", "StopPodInterface", pod, failure, capability.EventStopPodSandbox),
		both("Synchronize", "SynchronizeInterface", []string{"[]*PodSandbox", "[]*Container"}, updates),
		update,
		since("v0.10.0", "UpdatePodSandbox", "UpdatePodInterface",
			[]string{"*PodSandbox", "*LinuxResources", "*LinuxResources"}, failure,
			capability.EventUpdatePodSandbox, capability.SubscribeUpdatePodSandbox),
		since("v0.10.0", "ValidateContainerAdjustment", "ValidateContainerAdjustmentInterface",
			[]string{"*ValidateContainerAdjustmentRequest"}, failure,
			capability.EventValidateContainerAdjustment, capability.SubscribeValidateContainerAdjustment),
	}
})

// LookupHandler returns the handler with the given method name.
func LookupHandler(name string) (Handler, bool) {
	all := handlers()
	i, ok := slices.BinarySearchFunc(all, name, func(h Handler, name string) int { return strings.Compare(h.Name, name) })
	if !ok {
		return Handler{}, false
	}
	return all[i], true
}

func ctx(in ...string) []string { return append([]string{"context.Context"}, in...) }

func service(name string) Signature {
	return Signature{In: ctx("*" + name + "Request"), Out: []string{"*" + name + "Response", "error"}}
}
