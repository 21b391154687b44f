package pluginlog

import (
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// refused are lines as plugins and runtimes write them, one at least for each
// refusal. A capability list of nil means that the line shows none.
var refused = []struct {
	line    string
	words   string // of the refusal that fits
	more    string // in the text of the reason
	missing []capability.ID
}{
	{line: `E1125 09:01:40.606674       1 plugin.go:156] gpu: Registration failed: rpc error: code = Unknown desc = failed to dial device plugin: context deadline exceeded`,
		words: "failed to dial device plugin:", more: "registers before it serves", missing: []capability.ID{capability.DeviceRegisterBeforeServe}},
	{line: `{"component":"virt-handler","level":"error","msg":"Error starting tun device plugin","pos":"device_controller.go:69","reason":"error registering with device plugin manager: rpc error: code = Unknown desc = failed to dial device plugin: context deadline exceeded","timestamp":"2022-09-16T11:16:57.049960Z"}`,
		words: "failed to dial device plugin:", missing: []capability.ID{capability.DeviceRegisterBeforeServe}},
	{line: `E1125 10:01:40.605838  143363 manager.go:488] "Failed to dial device plugin with request" err="failed to dial device plugin: context deadline exceeded" request="&RegisterRequest{Version:v1beta1,}"`,
		words: "ailed to dial device plugin with "},
	{line: `2026/11/30 16:00:00 rpc error: code = Unknown desc = failed to get device plugin options: rpc error: code = Unimplemented desc = method GetDevicePluginOptions not implemented`,
		words: "code = Unimplemented", missing: []capability.ID{capability.DeviceWithoutGetOptions}},
	{line: `2026/11/30 16:00:00 rpc error: code = Unknown desc = failed to get device plugin options: rpc error: code = Unavailable desc = error reading from server: EOF`,
		words: "ailed to get device plugin options:"},
	{line: `E1130 16:00:00.000000       1 main.go:3] "Register" err="rpc error: code = Unknown desc = requested API version \"v1beta2\" is not supported by kubelet. Supported version is [\"v1beta1\"]"`,
		words: "requested API version ", more: "(v1beta2; it serves v1beta1)"},
	{line: `time="2018-04-29T21:22:02Z" level=error msg="Could not register device plugin: rpc error: code = Unknown desc = requested API version \"v1beta1\" is not supported by kubelet. Supported versions are [\"v1alpha\"]"`,
		words: "requested API version ", more: "(v1beta1; it serves v1alpha)", missing: []capability.ID{capability.DevicePluginV1beta1}},
	{line: `rpc error: code = Unknown desc = the ResourceName "gpu" is invalid`, words: "the ResourceName "},
	{line: `E1130 16:00:00.000000       1 r.go:3] "Registration" err="RegisterPlugin error -- plugin validation failed with err: manager version, v1beta1, is not among plugin supported versions [v1alpha1]"`,
		words: "manager version, "},
	{line: `Could not register device plugin: rpc error: code = Unimplemented desc = unknown service v1beta1.Registration`,
		words: "unknown service v1beta1.Registration", missing: []capability.ID{capability.DevicePluginV1beta1}},
	{line: `ERRO[0008] Could not register device plugin: rpc error: code = Unimplemented desc = unknown service deviceplugin.Registration`,
		words: "unknown service deviceplugin.Registration", more: "v1alpha"},
	{line: `E0520 07:49:57.337809       1 nonblockinggrpcserver.go:125] "handling request failed" err="failed registration process: RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket /var/lib/kubelet/plugins_registry/netresources.spidernet.io.sock" logger="registrar" requestID=8 request="&RegistrationStatus{PluginRegistered:false,Error:RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket /var/lib/kubelet/plugins_registry/netresources.spidernet.io.sock,}"`,
		words: "no handler registered for plugin type: DRAPlugin", more: "DynamicResourceAllocation"},
	{line: `E0520 07:49:57.337809       1 x.go:1] "Registration failed" err="RegisterPlugin error -- no handler registered for plugin type: DevicePlugin at socket /var/lib/kubelet/plugins_registry/x.sock"`,
		words: "no handler registered for plugin type: DevicePlugin", missing: []capability.ID{capability.DevicePluginwatcherRegistration}},
	{line: `E0520 07:49:57.337809       1 nonblockinggrpcserver.go:170] "handling request failed" err="failed registration process: RegisterPlugin error -- plugin validation failed with err: invalid supported gRPC versions of DRA driver plugin gpu.example.com at endpoint /var/lib/kubelet/plugins/gpu.example.com/dra.sock: none of services supported by the plugin ([\"1.0.0\" \"v1alpha3.NodeService\"]) are supported by the kubelet ([\"v1.DRAPlugin\" \"v1beta1.DRAPlugin\"])"`,
		words: "none of services supported by the plugin", more: "(1.0.0, v1alpha3.NodeService)", missing: []capability.ID{capability.DRAUnknownServices}},
	{line: `{"ts":1,"msg":"handling request failed","err":"failed registration process: RegisterPlugin error -- plugin validation failed with err: invalid versions of plugin gpu.example.com: version check of plugin gpu.example.com failed: none of the versions are supported: could not find a highest supported version from versions ([v1.DRAPlugin v1beta1.DRAPlugin]) reported: could not parse \"v1.DRAPlugin\" as version"}`,
		words: "version check of plugin ", more: "(v1.DRAPlugin, v1beta1.DRAPlugin)", missing: []capability.ID{capability.DRAV1, capability.DRAV1beta1}},
	{line: `E0520 07:49:57.337809       1 x.go:1] "failed" err="RegisterPlugin error -- plugin validation failed with err: kubernetes.io/dra: ValidatePlugin for DRA plugin \"gpu.example.com\" failed. None of the versions specified [\"v1beta1.DRAPlugin\"] are supported. err=x"`,
		words: " for DRA plugin ", missing: []capability.ID{capability.DRAV1beta1}},
	{line: `time="2026-09-17T10:00:00Z" level=error msg="failed to get pod resources for ns/pod: failed to get pod resources: rpc error: code = Unknown desc = PodResources API Get method disabled"`,
		words: "PodResources API Get method disabled", missing: []capability.ID{capability.PodresGet}},
	{line: `rpc error: code = Unimplemented desc = unknown method Get for service v1.PodResourcesLister`,
		words: "unknown method Get for", missing: []capability.ID{capability.PodresGet}},
	{line: `rpc error: code = Unknown desc = Pod Resources API GetAllocatableResources disabled`,
		words: "GetAllocatableResources disabled", missing: []capability.ID{capability.PodresGetAllocatable}},
	{line: `rpc error: code = Unknown desc = PodResources API GetAllocatableResources disabled`,
		words: "GetAllocatableResources disabled", missing: []capability.ID{capability.PodresGetAllocatable}},
	{line: `rpc error: code = Unimplemented desc = unknown method GetAllocatableResources for service v1.PodResourcesLister`,
		words: "unknown method GetAllocatableResources", missing: []capability.ID{capability.PodresGetAllocatable}},
	{line: `rpc error: code = Unimplemented desc = unknown service v1.PodResourcesLister`,
		words: "unknown service v1.PodResourcesLister", missing: []capability.ID{capability.PodresV1List}},
	{line: `rpc error: code = Unimplemented desc = unknown service v1alpha1.PodResourcesLister`,
		words: "unknown service v1alpha1.PodResourcesLister", missing: []capability.ID{capability.PodresV1alpha1List}},
	{line: `rpc error: code = Unimplemented desc = unknown service v1alpha1.Pods`,
		words: "unknown service v1alpha1.Pods", missing: []capability.ID{capability.PodsAPIV1alpha1}},
	{line: `E0520 07:49:57.337809       1 x.go:1] List: rpc error: code = ResourceExhausted desc = rejected by rate limit`, words: "rejected by rate limit"},
	{line: `time="2026-09-15T10:00:00Z" level=warning msg="failed to start pre-installed NRI plugin \"nri-image-policy\": invalid plugin events: 0x2000"`,
		words: "invalid plugin events: 0x", more: "(ValidateContainerAdjustment)", missing: []capability.ID{capability.SubscribeValidateContainerAdjustment}},
	{line: `time="2026-09-15T10:00:00Z" level=error msg="failed to start external plugin: invalid plugin events: 0x7800"`,
		words: "invalid plugin events: 0x", more: "(UpdatePodSandbox, PostUpdatePodSandbox, ValidateContainerAdjustment, 0x4000)",
		missing: []capability.ID{capability.SubscribeUpdatePodSandbox, capability.SubscribePostUpdatePodSandbox, capability.SubscribeValidateContainerAdjustment}},
	{line: `time="2026-09-15T10:00:00Z" level=error msg="failed to configure: internal error: unhandled events UpdatePodSandbox (0x800)"`, words: "internal error: unhandled events "},
	{line: `level=error msg="plugin failed" error="failed to register with NRI/Runtime: rpc error: code = Unknown desc = invalid plugin index: invalid plugin index \"5\", must be 2 digits"`, words: "invalid plugin index"},
	{line: `failed to register with NRI/Runtime: rpc error: code = Unknown desc = invalid (empty) plugin name`, words: "invalid (empty) plugin name"},
	{line: `failed to register with NRI/Runtime: rpc error: code = Unknown desc = invalid plugin name: invalid plugin name "a b": contains invalid character ' '`, words: "invalid plugin name"},
	{line: `time="t" level=error msg="failed to synchronize plugin: plugin does not handle split sync requests"`, words: "plugin does not handle split sync requests"},
	{line: `time="t" level=warning msg="failed to create plugin: can't load WASM plugin /opt/nri/plugins/10-x: no WASM support"`, words: "can't load WASM plugin ", missing: []capability.ID{capability.ProtoWASMPlugins}},
	{line: `time="t" level=error msg="rejecting adjustment: validation error: plugin \"hook-injector\" attempted restricted OCI hook injection"`, words: "attempted restricted OCI hook injection", missing: []capability.ID{capability.AdjustOCIHooks}},
	{line: `time="t" level=error msg="rejecting adjustment: validation error: plugin x attempted restricted  unconfined seccomp policy adjustment"`, words: " seccomp policy adjustment", missing: []capability.ID{capability.AdjustLinuxSeccompPolicy}},
	{line: `time="t" level=error msg="rejecting adjustment: validation error: attempted restricted namespace adjustment by plugin \"x\" (namespace \"ipc\")"`, words: "attempted restricted namespace adjustment"},
	{line: `time="t" level=error msg="rejecting adjustment: validation error: attempted restricted sysctl adjustment by plugin(s) x"`, words: "attempted restricted sysctl adjustment"},
	{line: `time="t" level=error msg="CreateContainer failed: validator \"policy\" rejected container adjustment, reason: not in this namespace"`, words: "validator "},
	{line: `2026/11/30 16:00:00 listen unix /var/lib/kubelet/device-plugins/plain.sock: bind: no such file or directory`, words: "listen unix ", more: "(device-plugins)"},
	{line: `time="2023-11-20T10:00:00Z" level=error msg="plugin exited with error failed to connect to NRI service: dial unix /var/run/nri/nri.sock: connect: no such file or directory"`, words: "nri.sock", more: "NRI is off"},
	{line: `failed to connect to NRI service: dial unix /var/run/nri/nri.sock: connect: connection refused`, words: "nri.sock", more: "nobody listens"},
	{line: `failed to connect to NRI service: dial unix /var/run/nri/nri.sock: connect: permission denied`, words: "nri.sock", more: "may not open"},
	{line: `E0520 07:49:57.337809       1 x.go:1] dial unix /var/lib/kubelet/pod-resources/kubelet.sock: connect: no such file or directory`, words: "pod-resources/kubelet.sock"},
	{line: `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: no such file or directory"`, words: "kubelet.sock", more: "does not run"},
	{line: `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: connection refused"`, words: "kubelet.sock", more: "about to start again"},
	{line: `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: permission denied"`, words: "kubelet.sock", more: "may not open"},
	{line: `2026/11/30 16:14:25 rpc error: code = DeadlineExceeded desc = context deadline exceeded`, words: "code = DeadlineExceeded", more: "if it was the registration"},
	{line: `plugin exited with error failed to register with NRI/Runtime: ttrpc: closed`, words: "failed to register with NRI/Runtime:"},
}

func TestRefusals(t *testing.T) {
	met := map[*refusal]bool{}
	for _, c := range refused {
		entries := scanned(t, c.line+"\n")
		if len(entries) != 1 {
			t.Fatalf("%q: %d entries", c.line, len(entries))
		}
		found := refusalIn(entries[0])
		if found == nil || !slices.ContainsFunc(found.words, func(w string) bool { return strings.Contains(w, c.words) }) {
			t.Errorf("%q: %+v", c.line, found)
			continue
		}
		met[found] = true
		r := Reasons(entries)[0]
		if !strings.HasPrefix(r.Text, found.means) || !strings.Contains(r.Text, c.more) || !slices.Equal(r.Capabilities, c.missing) || !r.Refusal || r.Certain != found.certain {
			t.Errorf("%q:\n%q %v", c.line, r.Text, r.Capabilities)
		}
	}
	for i := range refusals {
		if r := &refusals[i]; !met[r] {
			t.Errorf("no line for %q", r.words)
		} else if r.from == "" || r.means == "" || !r.certain && len(r.capabilities) > 0 {
			t.Errorf("%q: from %q, means %q", r.words, r.from, r.means)
		}
	}
}

func TestReasons(t *testing.T) {
	const log = `E1125 09:01:30.000000       1 a.go:1] first error
W1125 09:01:30.000000       1 a.go:2] a warning is no reason
E1125 09:01:30.000000       1 a.go:3] "structured" err="cause"
E1125 09:01:30.000000       1 a.go:1] first error
I1125 09:01:30.000000       1 a.go:4] retrying: dial unix /var/run/nri/nri.sock: connect: no such file or directory
E1125 09:01:30.000000       1 a.go:5] rpc error: code = Unknown desc = the ResourceName "gpu" is invalid
panic: at last
	with more

goroutine 1 [running]:
main.main()
	/src/main.go:9 +0x1d
`
	var got []string
	for _, r := range Reasons(scanned(t, log)) {
		got = append(got, r.Entry.Source+" "+r.Text)
	}
	want := []string{
		"a.go:5 the name of the resource is not one of an extended resource, such as example.com/gpu",
		"a.go:4 there is no NRI socket: NRI is off, the runtime does not have it, or its directory is not mounted into the container",
		"main.go:9 panic: at last",
		"a.go:1 first error",
		"a.go:3 structured: cause",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if r := Reasons(scanned(t, "I1125 09:01:30.000000       1 a.go:1] all is well\nbye\n")); len(r) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestWhatFollowsIsRead: lines without a form, as other loggers of the same
// program write them, are joined to the entry before them, but never lost.
func TestWhatFollowsIsRead(t *testing.T) {
	const refusal = `no luck: rpc error: code = Unknown desc = the ResourceName "gpu" is invalid`
	for name, c := range map[string]struct{ first, line, indent string }{
		"klog":                     {first: "I1125 09:01:30.000000       1 a.go:1] started\n", line: "[plugin] working\n"},
		"klog with a block":        {first: "I1125 09:01:30.000000       1 a.go:1] \"started\" config=<\n\ta: b\n >\n", line: "[plugin] working\n"},
		"panic that was recovered": {first: "panic: told by a handler\n", line: "[plugin] working\n"},
		"indented":                 {first: "the configuration:\n", line: "  working: true\n", indent: "  "},
	} {
		for _, n := range []int{0, 1, 10, 10000} {
			log := c.first + strings.Repeat(c.line, n) + c.indent + refusal + "\n"
			var tail Tail
			_, _ = tail.Write([]byte(log))
			reasons := Reasons(tail.Entries())
			if len(reasons) == 0 || reasons[0].Entry.Message != refusal {
				t.Errorf("%s, %d lines between: %+v", name, n, reasons)
			}
		}
	}
}
