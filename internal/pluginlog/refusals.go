package pluginlog

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

// refusal is a text by which a runtime, or the library that speaks for it,
// refuses a plugin. Plugins repeat it in their logs.
type refusal struct {
	words []string // all of them are in the entry, letter by letter
	from  string   // where the text is written, and the releases in which it was read
	means string   // what it means, for a person
	// capabilities are missing on a runtime that says so.
	capabilities []capability.ID
	// certain is set if the text can mean nothing else.
	certain bool
	// decode reads what the text names: more to say, capabilities that are
	// missing. It is nil for a text that names nothing.
	decode func(text string) (more string, missing []capability.ID)
}

// The files that most of the texts come from.
const (
	deviceManager = "kubernetes pkg/kubelet/cm/devicemanager"
	draManager    = "kubernetes pkg/kubelet/cm/dra/plugin"
	pluginManager = "kubernetes pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go"
	podResources  = "kubernetes pkg/kubelet/apis/podresources/server_v1.go"
	grpcServer    = "google.golang.org/grpc server.go, every kubelet's"
	adaptation    = "github.com/containerd/nri pkg/adaptation/plugin.go"
	nriStub       = "github.com/containerd/nri pkg/stub/stub.go"
	validator     = "github.com/containerd/nri plugins/default-validator"
)

// refusals is looked through from above; the first one that fits counts, so
// that the more exact ones come first.
var refusals = []refusal{
	// The kubelet, to device plugins.
	{words: []string{"ailed to dial device plugin with "}, from: deviceManager + "/manager.go, 1.12 to 1.22, in the kubelet's own log", certain: true,
		means: "after the registration the kubelet could not call the plugin within 10 seconds: nobody served at the socket that was registered"},
	{words: []string{"failed to dial device plugin:"}, from: deviceManager + "/plugin/v1beta1/api.go, 1.25 to 1.37", certain: true,
		capabilities: []capability.ID{capability.DeviceRegisterBeforeServe},
		means:        "the kubelet called the plugin while it registered, and nobody served at the socket that was registered: it registers before it serves, or serves at another path"},
	{words: []string{"ailed to get device plugin options:", "code = Unimplemented"}, from: deviceManager + "/manager.go, 1.12 to 1.37", certain: true,
		capabilities: []capability.ID{capability.DeviceWithoutGetOptions},
		means:        "the kubelet asked the plugin for its options while it registered, and the plugin does not implement GetDevicePluginOptions"},
	{words: []string{"ailed to get device plugin options:"}, from: deviceManager + "/manager.go, 1.12 to 1.37", certain: true,
		means: "the kubelet asked the plugin for its options while it registered, and GetDevicePluginOptions failed"},
	{words: []string{"requested API version ", " is not supported by kubelet"}, from: deviceManager + "/plugin/v1beta1/api.go, 1.10 to 1.37", certain: true,
		means: "the kubelet does not serve the version of the device plugin API that the plugin registers with", decode: apiVersion},
	{words: []string{"the ResourceName ", " is invalid"}, from: deviceManager + "/plugin/v1beta1/api.go, 1.10 to 1.37", certain: true,
		means: "the name of the resource is not one of an extended resource, such as example.com/gpu"},
	{words: []string{"manager version, ", ", is not among plugin supported versions"}, from: deviceManager + "/plugin/v1beta1/handler.go, 1.12 to 1.37", certain: true,
		means: "the plugin does not name the version of the device plugin API that the kubelet serves"},
	{words: []string{"unknown service v1beta1.Registration"}, from: grpcServer, certain: true,
		capabilities: []capability.ID{capability.DevicePluginV1beta1},
		means:        "the kubelet does not serve the device plugin API v1beta1"},
	{words: []string{"unknown service deviceplugin.Registration"}, from: grpcServer, certain: true,
		means: "the plugin registers by the device plugin API v1alpha, which kubelets serve up to 1.9 only"},

	// The kubelet, to what registers in its plugins_registry directory.
	{words: []string{"no handler registered for plugin type: DevicePlugin"}, from: pluginManager + ", 1.12 to 1.37", certain: true,
		capabilities: []capability.ID{capability.DevicePluginwatcherRegistration},
		means:        "the kubelet takes no device plugins by its plugins directory"},
	{words: []string{"no handler registered for plugin type: DRAPlugin"}, from: pluginManager + ", 1.12 to 1.37", certain: true,
		means: "the kubelet takes no DRA drivers: it is older than 1.26, or its feature gate DynamicResourceAllocation is off"},
	{words: []string{"none of services supported by the plugin"}, from: draManager + "/dra_plugin_manager.go, 1.34 to 1.37", certain: true,
		capabilities: []capability.ID{capability.DRAUnknownServices},
		means:        "the kubelet supports none of the DRA services that the driver names", decode: draServices},
	{words: []string{"version check of plugin ", "none of the versions are supported"}, from: draManager + "/plugin.go, 1.31", certain: true,
		means: "the kubelet takes the driver's list for versions, which it is not: a kubelet 1.31 and earlier wants one such as 1.0.0", decode: draServices},
	{words: []string{" for DRA plugin ", "None of the versions specified"}, from: draManager + "/plugin.go, 1.26 to 1.30", certain: true,
		means: "the kubelet takes the driver's list for versions, which it is not: a kubelet 1.31 and earlier wants one such as 1.0.0", decode: draServices},

	// The kubelet, to clients of its pod resources API and its pods API.
	{words: []string{"PodResources API Get method disabled"}, from: podResources + ", 1.27 to 1.34", certain: true,
		capabilities: []capability.ID{capability.PodresGet},
		means:        "the call Get of the pod resources API is off: the feature gate KubeletPodResourcesGet"},
	{words: []string{"unknown method Get for service v1.PodResourcesLister"}, from: grpcServer, certain: true,
		capabilities: []capability.ID{capability.PodresGet},
		means:        "the kubelet's pod resources API has no call Get"},
	{words: []string{"API GetAllocatableResources disabled"}, from: podResources + ", 1.21 to 1.27, of which the later ones write PodResources in one word", certain: true,
		capabilities: []capability.ID{capability.PodresGetAllocatable},
		means:        "the call GetAllocatableResources of the pod resources API is off: the feature gate KubeletPodResourcesGetAllocatable"},
	{words: []string{"unknown method GetAllocatableResources for service v1.PodResourcesLister"}, from: grpcServer, certain: true,
		capabilities: []capability.ID{capability.PodresGetAllocatable},
		means:        "the kubelet's pod resources API has no call GetAllocatableResources"},
	{words: []string{"unknown service v1.PodResourcesLister"}, from: grpcServer, certain: true,
		capabilities: []capability.ID{capability.PodresV1List},
		means:        "the kubelet does not serve the pod resources API v1"},
	{words: []string{"unknown service v1alpha1.PodResourcesLister"}, from: grpcServer, certain: true,
		capabilities: []capability.ID{capability.PodresV1alpha1List},
		means:        "the kubelet does not serve the pod resources API v1alpha1"},
	{words: []string{"unknown service v1alpha1.Pods"}, from: grpcServer, certain: true,
		capabilities: []capability.ID{capability.PodsAPIV1alpha1},
		means:        "the kubelet does not serve the pods API v1alpha1"},
	{words: []string{"code = ResourceExhausted desc = rejected by rate limit"}, from: "kubernetes pkg/kubelet/apis/grpc/ratelimit.go, 1.27 to 1.37", certain: true,
		means: "the kubelet limits the calls of its pod resources API and its pods API, and this was one too many"},

	// NRI, in the log of the runtime or of the plugin.
	{words: []string{"invalid plugin events: 0x"}, from: adaptation + ", v0.2.0 to v0.12.5, in the runtime's own log", certain: true,
		means: "the runtime refuses the registration: the plugin subscribes for events that it does not know", decode: eventMask},
	{words: []string{"internal error: unhandled events "}, from: nriStub + ", v0.2.0 to v0.12.5", certain: true,
		means: "the plugin subscribes for events that it has no handler for; its own NRI library refuses that"},
	{words: []string{"invalid plugin index"}, from: adaptation + ", v0.2.0 to v0.12.5", certain: true,
		means: "the runtime refuses the registration: the index of the plugin must be two digits"},
	{words: []string{"invalid (empty) plugin name"}, from: adaptation + ", v0.2.0 to v0.11.0", certain: true,
		means: "the runtime refuses the registration: the plugin has no name"},
	{words: []string{"failed to register with NRI/Runtime:", "invalid plugin name"}, from: adaptation + ", v0.12.0 to v0.12.5", certain: true,
		means: "the runtime refuses the registration: the plugin's name is empty, or has a character other than letters, digits and _.+-"},
	{words: []string{"plugin does not handle split sync requests"}, from: adaptation + ", v0.8.0 to v0.12.5, in the runtime's own log", certain: true,
		means: "the node has more pods and containers than fit one message, and the NRI library of the plugin is older than v0.7.0"},
	{words: []string{"can't load WASM plugin ", "no WASM support"}, from: adaptation + ", v0.11.0 to v0.12.5, in the runtime's own log", certain: true,
		capabilities: []capability.ID{capability.ProtoWASMPlugins},
		means:        "the runtime was built without WebAssembly"},
	{words: []string{"attempted restricted OCI hook injection"}, from: validator + ", v0.10.0 to v0.12.5", certain: true,
		capabilities: []capability.ID{capability.AdjustOCIHooks},
		means:        "the default validator of the runtime is told to reject OCI hooks"},
	{words: []string{"attempted restricted ", " seccomp policy adjustment"}, from: validator + ", v0.10.0 to v0.12.5", certain: true,
		capabilities: []capability.ID{capability.AdjustLinuxSeccompPolicy},
		means:        "the default validator of the runtime is told to reject seccomp policies"},
	{words: []string{"attempted restricted namespace adjustment"}, from: validator + ", v0.10.0 to v0.12.5", certain: true,
		means: "the default validator of the runtime is told to reject changes of namespaces"},
	{words: []string{"attempted restricted sysctl adjustment"}, from: validator + ", v0.11.0 to v0.12.5", certain: true,
		means: "the default validator of the runtime is told to reject changes of sysctls"},
	{words: []string{"validator ", " rejected container adjustment, reason: "}, from: "github.com/containerd/nri pkg/api/validate.go, v0.10.0 to v0.12.5", certain: true,
		means: "a validator of the runtime rejected what the plugin asked for"},

	// The socket is not there. That shows a side that is off, or another path,
	// and no capability.
	{words: []string{"listen unix ", "bind: no such file or directory"}, from: "package net of Go, for the system's ENOENT",
		means: "the directory for the plugin's socket is not there: no kubelet ran here, or its directory is not mounted into the container", decode: kubeletDirectory},
	{words: []string{"nri.sock", "no such file or directory"}, from: "package net of Go, for the system's ENOENT",
		means: "there is no NRI socket: NRI is off, the runtime does not have it, or its directory is not mounted into the container"},
	{words: []string{"nri.sock", "connection refused"}, from: "package net of Go, for the system's ECONNREFUSED",
		means: "nobody listens on the NRI socket: the runtime has ended, or was restarted with NRI off"},
	{words: []string{"nri.sock", "permission denied"}, from: "package net of Go, for the system's EACCES",
		means: "the plugin may not open the NRI socket"},
	{words: []string{"pod-resources/kubelet.sock", "no such file or directory"}, from: "package net of Go, for the system's ENOENT",
		means: "there is no socket of the pod resources API: the kubelet does not run or keeps it elsewhere, or its directory is not mounted into the container"},
	{words: []string{"kubelet.sock", "no such file or directory"}, from: "package net of Go, for the system's ENOENT",
		means: "there is no socket of the kubelet: it does not run, or its directory is not mounted into the container"},
	{words: []string{"kubelet.sock", "connection refused"}, from: "package net of Go, for the system's ECONNREFUSED",
		means: "nobody listens on the socket of the kubelet: it has ended, or is about to start again"},
	{words: []string{"kubelet.sock", "permission denied"}, from: "package net of Go, for the system's EACCES",
		means: "the plugin may not open the socket of the kubelet"},
	{words: []string{"code = DeadlineExceeded desc = context deadline exceeded"}, from: "google.golang.org/grpc, for a client that waits less long than the kubelet, which gives up after 10 seconds",
		means: "a call of the plugin was not answered in time: if it was the registration with a kubelet of 1.25 or later, nobody served at the socket that was registered, and the kubelet's own log says \"failed to dial device plugin\""},
	{words: []string{"failed to register with NRI/Runtime:", "ttrpc: closed"}, from: nriStub + ", v0.2.0 to v0.12.5",
		means: "the runtime closed the connection while the plugin registered; its own log says why"},
}

// refusalIn finds the refusal that an entry quotes, nil if it quotes none.
func refusalIn(e Entry) *refusal {
	text := e.words()
	for i := range refusals {
		if refusals[i].in(text) {
			return &refusals[i]
		}
	}
	return nil
}

// in tells whether a text quotes the refusal.
func (r *refusal) in(text string) bool {
	return !slices.ContainsFunc(r.words, func(w string) bool { return !strings.Contains(text, w) })
}

func (r *refusal) reason(e Entry) Reason {
	for line := range strings.Lines(e.Message) {
		if r.in(line) {
			e.Message = strings.TrimSpace(line)
			break
		}
	}
	out := Reason{Entry: e, Text: r.means, Capabilities: r.capabilities, Certain: r.certain, Refusal: true}
	if r.decode != nil {
		more, missing := r.decode(e.words())
		if more != "" {
			out.Text += " (" + clip(oneLine(more), maxText) + ")"
		}
		out.Capabilities = append(out.Capabilities[:len(out.Capabilities):len(out.Capabilities)], missing...)
	}
	return out
}

var decodeForms = sync.OnceValue(func() (p struct{ version, list, mask, socket *regexp.Regexp }) {
	// What is quoted may be quoted once more by the logger.
	p.version = regexp.MustCompile(`requested API version \\*"?([^"\\\s]{1,64})\\*"? is not supported by kubelet(?:\. Supported versions? (?:is|are) \[([^\]]{0,200})\])?`)
	p.list = regexp.MustCompile(`(?:services supported by the plugin|versions specified|reported by this plugin|from versions) \(?\[([^\]]{0,1000})\]`)
	p.mask = regexp.MustCompile(`invalid plugin events: 0x([0-9a-fA-F]{1,8})\b`)
	p.socket = regexp.MustCompile(`/(?:device-plugins|plugins_registry|plugins)/`)
	return p
})

// apiVersion reads which version of the device plugin API was asked for. Only
// who asks for v1beta1 shows that v1beta1 is missing.
func apiVersion(text string) (string, []capability.ID) {
	m := decodeForms().version.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	more := m[1]
	if m[2] != "" {
		more += "; it serves " + unquoted(m[2])
	}
	if m[1] == "v1beta1" {
		return more, []capability.ID{capability.DevicePluginV1beta1}
	}
	return more, nil
}

// draServices reads which DRA services a driver names. Those of the alpha
// version are left out: their names do not tell which of the two it is.
func draServices(text string) (string, []capability.ID) {
	m := decodeForms().list.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	var missing []capability.ID
	list := unquoted(m[1])
	for _, name := range strings.Split(list, ", ") {
		switch name {
		case "v1.DRAPlugin":
			missing = append(missing, capability.DRAV1)
		case "v1beta1.DRAPlugin":
			missing = append(missing, capability.DRAV1beta1)
		}
	}
	return list, missing
}

// unquoted is a list of words as Go prints it, without quotes, with commas.
func unquoted(list string) string {
	words := strings.Fields(strings.NewReplacer(`"`, "", `\`, "").Replace(list))
	return strings.Join(words, ", ")
}

// eventMask reads the event bits that a runtime does not know.
func eventMask(text string) (string, []capability.ID) {
	m := decodeForms().mask.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	mask, err := strconv.ParseUint(m[1], 16, 32)
	if err != nil {
		return "", nil
	}
	var missing []capability.ID
	var names []string
	for _, e := range []struct {
		bit  uint64
		name string
		id   capability.ID
	}{
		{0x800, "UpdatePodSandbox", capability.SubscribeUpdatePodSandbox},
		{0x1000, "PostUpdatePodSandbox", capability.SubscribePostUpdatePodSandbox},
		{0x2000, "ValidateContainerAdjustment", capability.SubscribeValidateContainerAdjustment},
	} {
		if mask&e.bit != 0 {
			names, missing = append(names, e.name), append(missing, e.id)
			mask &^= e.bit
		}
	}
	if mask != 0 {
		names = append(names, fmt.Sprintf("0x%x", mask))
	}
	return strings.Join(names, ", "), missing
}

// kubeletDirectory says which directory is missing, if it is one of the
// kubelet's.
func kubeletDirectory(text string) (string, []capability.ID) {
	return strings.Trim(decodeForms().socket.FindString(text), "/"), nil
}
