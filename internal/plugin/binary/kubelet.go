package binary

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// ErrNoKubeletAPI is returned by [InspectKubelet] for a Go program that carries
// no API of the kubelet.
var ErrNoKubeletAPI = errors.New("no device plugin or DRA driver: it carries no API of the kubelet")

// InspectKubelet reads from an executable of the given size whether it is a
// device plugin, a DRA driver or a client of the pod resources API.
//
// Far less can be told than of an NRI plugin: every call and message of these
// APIs is linked whether it is used or not. What is told is which services the
// program offers and where it registers; for a plugin that is built on Intel's
// framework also which of its optional interfaces it has. The result always has
// a gap that says what is missing.
func InspectKubelet(ctx context.Context, r io.ReaderAt, size int64, name string) (found.Plugin, error) {
	p, err := inspectKubelet(ctx, r, size, name)
	if err != nil {
		return found.Plugin{}, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func inspectKubelet(ctx context.Context, r io.ReaderAt, size int64, name string) (found.Plugin, error) {
	format, err := sniff(r, size)
	if err != nil {
		return found.Plugin{}, err
	}
	info := buildInfo(r, size)
	if info != nil && kubeletModule(info) == nil {
		return found.Plugin{}, ErrNoKubeletAPI
	}
	p := found.Plugin{
		Name: path.Base(strings.ReplaceAll(name, `\`, "/")), Ref: name, Path: name, Reader: "binary", Identity: identity(info),
		Kubelet: kubeletVersion(info), Requirements: []capability.Requirement{}, Warnings: []string{}, Opaque: []string{},
	}
	if format != "ELF" {
		return foreignKubelet(p, info, format)
	}
	im, err := openImage(r, size)
	if err != nil {
		return found.Plugin{}, err
	}
	if im.machine != elf.EM_X86_64 && im.machine != elf.EM_AARCH64 || im.order.String() != "LittleEndian" {
		return foreignKubelet(p, info, fmt.Sprintf("ELF for %v", im.machine))
	}
	m, err := findModule(im)
	if err != nil {
		return found.Plugin{}, err
	}
	p.Identity.Stripped, p.Identity.PIE = im.stripped, im.pie
	s := &kubeletSymbols{own: map[string]string{}}
	if err := s.read(ctx, newFuncTable(im, m)); err != nil {
		return found.Plugin{}, err
	}
	if len(s.apis) == 0 {
		return found.Plugin{}, ErrNoKubeletAPI
	}
	slices.Sort(s.apis)
	p.Kubelet.APIs = slices.Compact(s.apis)
	s.requirements(&p)
	return p, nil
}

// foreignKubelet is the result for a program whose functions cannot be read:
// that it has the module is all that is known.
func foreignKubelet(p found.Plugin, info *debug.BuildInfo, format string) (found.Plugin, error) {
	if info == nil {
		return found.Plugin{}, ErrNotGo
	}
	p.Kubelet.APIs = []string{}
	p.Gaps = []string{fmt.Sprintf("requirements cannot be read from this kind of executable (%s): build it for linux on amd64 or arm64, or use its source", format)}
	return p, nil
}

// kubeletModule finds the module that has the API packages: the newest form of
// it first, k8s.io/kubelet, then Kubernetes itself.
func kubeletModule(info *debug.BuildInfo) *debug.Module {
	for _, path := range []string{"k8s.io/kubelet", "k8s.io/kubernetes"} {
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			if m.Path == path {
				return m
			}
		}
	}
	return nil
}

func kubeletVersion(info *debug.BuildInfo) *found.Kubelet {
	k := &found.Kubelet{}
	if info == nil {
		return k
	}
	m := kubeletModule(info)
	k.Module, k.Version = m.Path, m.Version
	if r := m.Replace; r != nil {
		k.Replaces = found.Replaced(m.Path, m.Version, r.Path, r.Version)
		k.Module, k.Version = r.Path, r.Version
	}
	return k
}

// kubeletSymbols are the functions that tell something.
type kubeletSymbols struct {
	apis      []string // such as "deviceplugin/v1beta1"
	serves    []string // the services that are offered, likewise
	registers string   // the function that registers a device plugin
	framework string   // a method of the manager of Intel's framework
	library   bool     // the library of DRA drivers is linked
	// own are methods of the program's own types that the framework looks for, by
	// name, with the whole name of one.
	own map[string]string
}

// handlersOf are the functions that only a program has which offers a service.
var handlersOf = map[string]string{
	"_DevicePlugin_Allocate_Handler":                "deviceplugin",
	"_DRAPlugin_NodePrepareResources_Handler":       "dra",
	"_Node_NodePrepareResources_Handler":            "dra",
	"_Node_NodePrepareResource_Handler":             "dra",
	"_DRAResourceHealth_NodeWatchResources_Handler": "dra-health",
}

func (s *kubeletSymbols) read(ctx context.Context, funcs *funcTable) error {
	var last []byte
	var api, version string
	var framework, own bool
	for i := range funcs.len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f, ok := funcs.get(i)
		if !ok {
			continue
		}
		pkg, rest := splitName(funcs.nameAt(funcs.nameOffset(f)))
		if !bytes.Equal(pkg, last) {
			path := unescape(pkg)
			last = pkg
			api, version, _ = symbols.KubeletAPI(path)
			framework = symbols.DeviceFramework(path)
			s.library = s.library || symbols.DRALibrary(path)
			own = !framework && api == "" && path != ""
			if api != "" {
				s.apis = append(s.apis, api+"/"+version)
			}
		}
		switch name := string(rest); {
		case api != "" && handlersOf[name] == api:
			s.serves = append(s.serves, api+"/"+version)
		case api == "deviceplugin" && name == "(*registrationClient).Register":
			s.registers = name
		case framework && strings.HasPrefix(name, "(*Manager)."):
			s.framework = name
		case own:
			for _, method := range []string{"GetPreferredAllocation", "PreStartContainer"} {
				if strings.HasSuffix(name, ")."+method) && strings.HasPrefix(name, "(*") && string(pkg) == "main" {
					s.own[method] = "main." + name
				}
			}
		}
	}
	return nil
}

// requirements fills in what the functions tell, and what they do not.
func (s *kubeletSymbols) requirements(p *found.Plugin) {
	add := func(id capability.ID, level capability.Level, symbol, function string) {
		p.Requirements = append(p.Requirements, capability.Requirement{
			Capability: id, Level: level, Source: capability.FromBinary,
			Evidence: []capability.Evidence{{Kind: "link", Symbol: symbol, Function: function}},
		})
	}
	device := slices.Contains(s.serves, "deviceplugin/v1beta1")
	if device {
		add(capability.DevicePluginV1beta1, capability.Requires, "deviceplugin/v1beta1.DevicePlugin", "_DevicePlugin_Allocate_Handler")
	}
	switch {
	case device && s.framework != "":
		byName := func(id capability.ID, method, symbol string) {
			if f, ok := s.own[method]; ok {
				add(id, capability.Requires, symbol, f)
				last := &p.Requirements[len(p.Requirements)-1]
				last.Unproven, last.Note = true, "there is a method of that name; its signature is not known"
			}
		}
		byName(capability.DevicePreferredAllocation, "GetPreferredAllocation", "deviceplugin.PreferredAllocator")
		byName(capability.DevicePrestartContainer, "PreStartContainer", "deviceplugin.ContainerPreStarter")
		p.Gaps = append(p.Gaps, "an executable does not tell which devices it hands out (CDI devices, NUMA nodes, annotations): use its source")
	case device:
		p.Gaps = append(p.Gaps, "an executable does not tell which parts of the device plugin API it uses (options, CDI devices, NUMA nodes, annotations), nor whether it serves before it registers: use its source")
	}
	var services []string
	for _, service := range s.serves {
		if !strings.HasPrefix(service, "deviceplugin/") && !slices.Contains(services, service) {
			services = append(services, service)
		}
	}
	for _, service := range services {
		name, version, _ := strings.Cut(service, "/")
		if id, ok := symbols.DRAService(name, version); ok {
			level := capability.Requires
			if name == "dra-health" && s.library {
				level = capability.Wants // the library offers it by itself
			}
			add(id, level, service, "handlers of the service")
			p.Requirements[len(p.Requirements)-1].OneOf = name
		}
	}
	if len(services) > 0 {
		p.Gaps = append(p.Gaps, fmt.Sprintf("it can serve %s; an executable does not tell which of them it offers: use its source", strings.Join(services, ", ")))
	}
	if len(p.Gaps) == 0 {
		p.Gaps = append(p.Gaps, fmt.Sprintf("it has %s linked; an executable does not tell what it uses of it: use its source", strings.Join(p.Kubelet.APIs, ", ")))
	}
	p.Requirements = capability.Normalize(p.Requirements)
}
