package main

import (
	"slices"
	"strings"
	"testing"
)

// TestKubeletChanges: what changes in the source changes the cells that depend
// on it and no others.
func TestKubeletChanges(t *testing.T) {
	const (
		features = "pkg/features/kube_features.go"
		manager  = "devicemanager/manager.go"
		register = "plugin/v1beta1/server.go"
		client   = "plugin/v1beta1/client.go"
		options  = "devicemanager/pod_devices.go"
		messages = "deviceplugin/v1beta1/api.pb.go"
		server   = "pkg/kubelet/server/server.go"
		answers  = "podresources/server_v1.go"
		api      = "podresources/v1/api.pb.go"
		drivers  = "dra/plugin/dra_plugin.go"
		checks   = "dra/plugin/dra_plugin_manager.go"
		linux    = "cm/container_manager_linux.go"
		windows  = "cm/container_manager_windows.go"
		health   = `{Version: version.MustParse("1.36"), Default: true, PreRelease: featuregate.Beta},` + "\n\t},\n}\n\nvar dep"
		pods     = `{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.Beta},`
		level    = `{Version: version.MustParse("1.36"), Default: false, PreRelease: featuregate.Alpha},` + "\n\t},\n\tPodsAPI"
		levelOf  = "\tPodLevelResourceManagers: {\n\t\t" + `{Version: version.MustParse("1.36"), Default: false, PreRelease: featuregate.Alpha},` + "\n\t},\n"
	)
	d := builtin(t)
	all := func(verdict string, ids ...string) []string {
		var out []string
		for _, id := range ids {
			out = append(out, id+": "+verdict)
		}
		return out
	}
	for _, test := range []struct {
		name, version string
		edits         []edit
		want          []string
	}{
		// Feature gates.
		{"another default", "1.37", []edit{{features, pods, strings.Replace(pods, "true", "false", 1)}}, []string{"setting featureGates.PodsAPI: false"}},
		{"another default without versions", "1.16", []edit{{features, "{Default: false", "{Default: true"}}, []string{"setting featureGates.TopologyManager: true"}},
		{"locked", "1.37", []edit{{features, health, strings.Replace(health, "Beta", "GA, LockToDefault: true", 1)}},
			all("yes", "DEVICE_HEALTH_IN_POD_STATUS", "DRA_HEALTH_V1", "DRA_HEALTH_V1ALPHA1")},
		{"locked without versions", "1.16", []edit{{features, "DevicePlugins:       {Default: true, ", "DevicePlugins:       {Default: true, LockToDefault: true, "}}, []string{"DEVICE_PLUGIN_V1BETA1: yes"}},
		{"not locked any more", "1.37", []edit{{features, "DRAExtendedResource: {\n", "DRAExtendedResource: {\n{Version: version.MustParse(\"1.37\"), Default: true},\n"}, {features, `{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.GA, LockToDefault: true},`, ""}},
			[]string{"DEVICE_DRA_EXTENDED_RESOURCE: conditional (featureGates.DRAExtendedResource=true), dropped"}},
		{"locked off", "1.37", []edit{{features, level, strings.Replace(level, "Alpha", "Alpha, LockToDefault: true", 1)}}, []string{"PODRES_POD_LEVEL: no"}},
		{"gone", "1.37", []edit{{features, levelOf, ""}, {features, "PodLevelResourceManagers featuregate.Feature = \"PodLevelResourceManagers\"\n", ""}}, []string{"PODRES_POD_LEVEL: undecided"}},
		{"gone, and nothing asks", "1.37", []edit{{features, levelOf, ""}, {features, "PodLevelResourceManagers featuregate.Feature = \"PodLevelResourceManagers\"\n", ""}, {answers, "gate.Enabled(gates.PodLevelResourceManagers)", "true"}}, []string{"PODRES_POD_LEVEL: yes"}},
		{"declared elsewhere", "1.37", []edit{{features, levelOf, ""}, {features, "PodLevelResourceManagers featuregate.Feature = \"PodLevelResourceManagers\"\n", ""}, {answers, "kubernetes/pkg/features\"", "component-base/featuregate/all\""}}, []string{"PODRES_POD_LEVEL: undecided"}},
		{"a name without a default", "1.37", []edit{{features, levelOf, ""}}, all("undecided", "PODRES_POD_LEVEL", "setting featureGates.PodLevelResourceManagers")},
		{"by compatibility version", "1.37", []edit{{features, level, strings.Replace(level, "Alpha", `Alpha, MinCompatibilityVersion: version.MustParse("1.36")`, 1)}}, all("undecided", "PODRES_POD_LEVEL", "setting featureGates.PodLevelResourceManagers")},
		{"a computed version", "1.37", []edit{{features, level, strings.Replace(level, `version.MustParse("1.36")`, "newest()", 1)}}, all("undecided", "PODRES_POD_LEVEL", "setting featureGates.PodLevelResourceManagers")},
		{"a computed default", "1.16", []edit{{features, "{Default: false", "{Default: runtime.GOOS == linux"}}, all("undecided", "DEVICE_TOPOLOGY", "setting featureGates.TopologyManager")},
		{"two defaults", "1.16", []edit{{features, "\tTopologyManager:     {", "\tTopologyManager: {Default: true},\n\tTopologyManager:     {"}}, all("undecided", "DEVICE_TOPOLOGY", "setting featureGates.TopologyManager")},
		{"nothing asks for it", "1.37", []edit{{answers, "gate.Enabled(gates.PodLevelResourceManagers)", "true"}}, all("undecided", "PODRES_POD_LEVEL")},
		{"another policy", "1.37", []edit{{"v1beta1/defaults.go", "NoneT", "RestrictedT"}}, []string{"DEVICE_TOPOLOGY: yes", "setting topologyManagerPolicy: restricted"}},
		{"a computed policy", "1.37", []edit{{"v1beta1/defaults.go", "kubeletconfigv1beta1.NoneTopologyManagerPolicy", "policy()"}}, all("undecided", "DEVICE_TOPOLOGY", "setting topologyManagerPolicy")},

		// Fields and calls of the device manager.
		{"a field is gone", "1.37", []edit{{messages, "name=cdi_devices", "name=other"}}, []string{"DEVICE_CDI_DEVICES: no"}},
		{"a field is not read", "1.37", []edit{{options, "range r.CdiDevices", "range r.Others"}}, []string{"DEVICE_CDI_DEVICES: undecided"}},
		{"a message is gone", "1.37", []edit{{messages, "type ContainerAllocateResponse ", "type AllocateResponse "}}, all("undecided", "DEVICE_CDI_DEVICES", "DEVICE_CDI_VIA_ANNOTATIONS", "DEVICE_CONTAINER_ANNOTATIONS")},
		{"annotations of CDI", "1.37", []edit{{options, "package devicemanager\n", "package devicemanager\n\nimport \"tags.cncf.io/container-device-interface/pkg/cdi\"\n"}, {options, "\treturn out\n}\n\nfunc", "\tout.Annotations = append(out.Annotations, cdi.GenerateAnnotations(out.CDIDevices)...)\n\treturn out\n}\n\nfunc"}}, []string{"DEVICE_CDI_VIA_ANNOTATIONS: yes"}},
		{"the options moved", "1.37", []edit{{options, "deviceRunContainerOptions", "containerOptions"}}, all("undecided", "DEVICE_CDI_DEVICES", "DEVICE_CDI_VIA_ANNOTATIONS", "DEVICE_CONTAINER_ANNOTATIONS")},
		{"the runtime does not get it", "1.37", []edit{{"kuberuntime_container.go", "range o.CDIDevices", "range o.Others"}}, []string{"DEVICE_CDI_DEVICES: undecided"}},
		{"a call is gone", "1.37", []edit{{"deviceplugin/v1beta1/api_grpc.pb.go", `{MethodName: "GetPreferredAllocation", Handler: handler},`, ""}}, []string{"DEVICE_PREFERRED_ALLOCATION: no"}},
		{"nothing calls it", "1.37", []edit{{"devicemanager/endpoint.go", "e.api.PreStartContainer(", "e.api.Start("}}, []string{"DEVICE_PRESTART_CONTAINER: undecided"}},
		{"the checkpoint is a list", "1.37", []edit{{"checkpoint/checkpoint.go", "map[int64][]string", "[]string"}}, []string{"DEVICE_CHECKPOINT_NUMA: no"}},
		{"the checkpoint is by name", "1.37", []edit{{"checkpoint/checkpoint.go", "map[int64][]string", "map[string][]string"}}, []string{"DEVICE_CHECKPOINT_NUMA: undecided"}},
		{"sidecars like others", "1.37", []edit{{manager, " && !podutil.IsRestartableInitContainer(&i)", ""}}, []string{"DEVICE_SIDECAR_CONTAINERS: no"}},
		{"topology is not read", "1.37", []edit{{manager, "d.Topology", "d"}}, []string{"DEVICE_TOPOLOGY: undecided"}},
		{"claims are not looked at", "1.37", []edit{{manager, "ExtendedResourceClaimStatus", "Claims"}}, []string{"DEVICE_DRA_EXTENDED_RESOURCE: undecided"}},
		{"nothing leaves anything to claims", "1.37", []edit{{manager, "ExtendedResourceClaimStatus", "Claims"}, {manager, "gate.Enabled(features.DRAExtendedResource) && ", ""}}, []string{"DEVICE_DRA_EXTENDED_RESOURCE: no"}},
		{"one plugin for a resource", "1.37", []edit{{register, "map[string][]Client", "map[string]Client"}, {manager, "map[string]map[string]*endpointInfo", "map[string]string"}}, []string{"DEVICE_MULTI_INSTANCE: no"}},
		{"one client for a resource", "1.37", []edit{{register, "map[string][]Client", "map[string]Client"}}, []string{"DEVICE_MULTI_INSTANCE: undecided"}},
		{"no health of the server", "1.37", []edit{{manager, "GetHealthChecker() healthz.HealthChecker", "health() any"}, {manager, "\t\"k8s.io/apiserver/pkg/server/healthz\"\n", ""}}, []string{"DEVICE_REGISTRATION_HEALTHZ: no"}},
		{"no health of devices", "1.37", []edit{{manager, "UpdateAllocatedResourcesStatus", "update"}, {manager, "AllocatedResourcesStatus", "other"}}, []string{"DEVICE_HEALTH_IN_POD_STATUS: no"}},
		{"nothing asks for the health", "1.37", []edit{{linux, "GetHealthChecker", "Health"}}, []string{"DEVICE_REGISTRATION_HEALTHZ: undecided"}},
		{"no device manager on Windows", "1.37", []edit{{windows, "import \"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager\"", ""}}, []string{"DEVICE_WINDOWS: no"}},
		{"no container manager of Windows", "1.37", []edit{{windows, "", ""}}, []string{"DEVICE_WINDOWS: undecided"}},
		{"no handler of device plugins", "1.16", []edit{{"kubelet/kubelet.go", "\tk.plugins.AddHandler(registration.DevicePlugin, k.containers.handler())\n", ""}}, []string{"DEVICE_PLUGINWATCHER_REGISTRATION: no"}},
		{"another handler", "1.16", []edit{{"kubelet/kubelet.go", "registration.DevicePlugin", "registration.OtherPlugin"}}, []string{"DEVICE_PLUGINWATCHER_REGISTRATION: undecided"}},
		{"handlers from elsewhere", "1.37", []edit{{linux, "registration.DevicePlugin", "deviceHandler"}}, []string{"DEVICE_PLUGINWATCHER_REGISTRATION: undecided"}},
		{"handlers are added elsewhere", "1.16", []edit{{"kubelet/kubelet.go", ".AddHandler(registration.DevicePlugin", ".Add(registration.Device"}, {"kubelet/kubelet.go", ".AddHandler(", ".Add("}}, []string{"DEVICE_PLUGINWATCHER_REGISTRATION: undecided"}},
		{"the API moved", "1.37", []edit{{messages, "", ""}, {"deviceplugin/v1beta1/api_grpc.pb.go", "", ""}, {"v1beta1/constants.go", "", ""}},
			all("undecided", "DEVICE_CDI_DEVICES", "DEVICE_CDI_VIA_ANNOTATIONS", "DEVICE_CONTAINER_ANNOTATIONS", "DEVICE_PLUGIN_V1BETA1", "DEVICE_PREFERRED_ALLOCATION", "DEVICE_PRESTART_CONTAINER", "DEVICE_TOPOLOGY")},
		{"another version of the API", "1.37", []edit{{"v1beta1/constants.go", "v1beta1\"", "v1\""}}, []string{"DEVICE_PLUGIN_V1BETA1: undecided"}},

		// Registration.
		{"Register does not wait", "1.37", []edit{{register, "\tif err := s.connectClient(r.ResourceName, r.Endpoint); err != nil {\n\t\treturn nil, err\n\t}\n", "\tgo s.connectClient(r.ResourceName, r.Endpoint)\n"}}, all("yes", "DEVICE_REGISTER_BEFORE_SERVE", "DEVICE_WITHOUT_GET_OPTIONS")},
		{"Register waits", "1.16", []edit{{manager, "go m.addEndpoint(r)", "m.addEndpoint(r)"}}, []string{"DEVICE_REGISTER_BEFORE_SERVE: no"}},
		{"the connection is lazy, the call is not", "1.37", []edit{{client, ", grpc.WithBlock()", ""}}, nil},
		{"nothing is waited for", "1.16", []edit{{manager, "go m.addEndpoint(r)", "m.addEndpoint(r)"}, {"devicemanager/endpoint.go", ", grpc.WithBlock()", ""}}, []string{"DEVICE_REGISTER_BEFORE_SERVE: undecided"}},
		{"no options at all", "1.37", []edit{{manager, "p.API().GetDevicePluginOptions(&api.Empty{})", "noOptions()"}}, all("undecided", "DEVICE_GET_OPTIONS", "DEVICE_REGISTER_OPTIONS", "DEVICE_WITHOUT_GET_OPTIONS")},
		{"an error is put up with", "1.37", []edit{{manager, `return fail("no options", err)`, "options = &api.DevicePluginOptions{}"}}, []string{"DEVICE_WITHOUT_GET_OPTIONS: undecided"}},
		{"options of the request count", "1.37", []edit{{register, "s.connectClient(r.ResourceName, r.Endpoint)", "s.connectClient(r.ResourceName, r.Endpoint, r.Options)"}}, []string{"DEVICE_REGISTER_OPTIONS: yes"}},
		{"Register moved", "1.37", []edit{{register, ") Register(", ") Accept("}}, all("undecided", "DEVICE_GET_OPTIONS", "DEVICE_REGISTER_BEFORE_SERVE", "DEVICE_REGISTER_OPTIONS", "DEVICE_WITHOUT_GET_OPTIONS")},
		{"no authority", "1.37", []edit{{client, `grpc.WithAuthority("localhost"), `, ""}}, []string{"DEVICE_GRPC_AUTHORITY_LOCALHOST: no"}},
		{"another authority", "1.37", []edit{{client, `"localhost"`, "authority"}}, []string{"DEVICE_GRPC_AUTHORITY_LOCALHOST: undecided"}},
		{"another way to connect", "1.37", []edit{{client, `DialContext(soon(), socket, grpc.WithAuthority("localhost"), `, "NewClient(socket, "}}, []string{"DEVICE_GRPC_AUTHORITY_LOCALHOST: undecided"}},

		// Pod resources.
		{"no limit", "1.37", []edit{{server, `limits.WithRateLimiter("podresources", podresources.DefaultQPS, podresources.DefaultBurstTokens)`, ""}}, []string{"PODRES_UNLIMITED_RATE: yes"}},
		{"another limit", "1.37", []edit{{"podresources/constants.go", "100", "200"}}, []string{"PODRES_UNLIMITED_RATE: undecided"}},
		{"a service is not served", "1.37", []edit{{server, "\tpodresourcesalpha.RegisterPodResourcesListerServer(s, old(providers))\n", ""}}, []string{"PODRES_V1ALPHA1_LIST: undecided"}},
		{"an old API moved", "1.37", []edit{{"podresources/v1alpha1/api.pb.go", "", ""}}, []string{"PODRES_V1ALPHA1_LIST: undecided"}},
		{"an old API is gone", "1.37", []edit{{server, "podresourcesalpha \"k8s.io/kubelet/pkg/apis/podresources/v1alpha1\"", ""}, {"podresources/v1alpha1/api.pb.go", "", ""}}, []string{"PODRES_V1ALPHA1_LIST: no"}},
		{"Get is gone", "1.37", []edit{{api, `{MethodName: "Get"},`, ""}}, []string{"PODRES_GET: no"}},
		{"Get is not answered", "1.37", []edit{{answers, ") Get(", ") One("}}, []string{"PODRES_GET: undecided"}},
		{"memory of containers is not set", "1.37", []edit{{answers, "Memory: s.memoryOf(c), ", ""}}, []string{"PODRES_MEMORY: undecided"}},
		{"memory of pods is not set", "1.37", []edit{{answers, "\t\tout.Memory = s.memory(pod)\n", ""}}, []string{"PODRES_POD_LEVEL: undecided"}},
		{"claims are not in the API", "1.37", []edit{{api, "name=dynamic_resources", "name=claims"}}, []string{"PODRES_DYNAMIC_RESOURCES: no"}},
		{"the pods API has no Watch", "1.37", []edit{{"pods/v1alpha1/api_grpc.pb.go", "WatchPods", "Follow"}}, []string{"PODS_API_V1ALPHA1: no"}},

		// DRA.
		{"a service is not in the list", "1.37", []edit{{drivers, "\tdrav1beta1.DRAPluginService,\n}", "}"}}, []string{"DRA_V1BETA1: no"}},
		{"nothing calls a service", "1.37", []edit{{drivers, "drav1.NewDRAPluginClient(p.conn)", "p.client()"}}, []string{"DRA_V1: undecided"}},
		{"an API moved", "1.37", []edit{{"apis/dra-health/v1alpha1/types.go", "", ""}}, []string{"DRA_HEALTH_V1ALPHA1: undecided"}},
		{"an API is gone", "1.37", []edit{{drivers, "healthv1alpha1 \"k8s.io/kubelet/pkg/apis/dra-health/v1alpha1\"", ""}, {"apis/dra-health/v1alpha1/types.go", "", ""}}, []string{"DRA_HEALTH_V1ALPHA1: no"}},
		{"unknown services are taken", "1.37", []edit{{checks, `return "", errUnknown`, "chosen = drav1beta1.DRAPluginService"}}, []string{"DRA_UNKNOWN_SERVICES: yes"}},
		{"a usual service is returned", "1.37", []edit{{checks, `return "", errUnknown`, "return drav1beta1.DRAPluginService, nil"}}, []string{"DRA_UNKNOWN_SERVICES: undecided"}},
		{"something else is assigned", "1.37", []edit{{checks, `return "", errUnknown`, "err = errUnknown"}}, []string{"DRA_UNKNOWN_SERVICES: undecided"}},
		{"more is done without a service", "1.37", []edit{{checks, `return "", errUnknown`, "log()\n\t\treturn \"\", errUnknown"}}, []string{"DRA_UNKNOWN_SERVICES: undecided"}},
		{"another check of services", "1.37", []edit{{checks, "validateSupportedServices", "validate"}}, []string{"DRA_UNKNOWN_SERVICES: undecided"}},
		{"versions instead of services", "1.37", []edit{{checks, "import \"k8s.io/kubernetes/pkg/features\"", "import (\n\t\"k8s.io/apimachinery/pkg/util/version\"\n\t\"k8s.io/kubernetes/pkg/features\"\n)\n\nfunc validateVersions(named []string) error {\n\t_, err := version.HighestSupportedVersion(named)\n\treturn err\n}"}, {checks, "validateSupportedServices", "validate"}}, []string{"DRA_UNKNOWN_SERVICES: undecided"}},
		{"a file does not parse", "1.37", []edit{{drivers, "package plugin", "package"}}, all("undecided", "DRA_HEALTH_V1", "DRA_HEALTH_V1ALPHA1", "DRA_UNKNOWN_SERVICES", "DRA_V1", "DRA_V1BETA1")},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := kubeletFiles(t, test.version)
			for _, e := range test.edits {
				change(t, files, e)
			}
			slices.Sort(test.want)
			if got := differences(compareKubelet(t, d, files)); !slices.Equal(got, test.want) {
				t.Errorf("%q\nwant %q", got, test.want)
			}
		})
	}
}
