package probe

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// change is a change of a source file: what matches is replaced.
type change struct{ file, from, to string }

const (
	resultFile    = "nri/pkg/adaptation/result.go"
	pluginFile    = "nri/pkg/adaptation/plugin.go"
	adaptFile     = "nri/pkg/adaptation/adaptation.go"
	generateFile  = "nri/pkg/runtime-tools/generate/generate.go"
	domainFile    = "internal/nri/nri.go"
	criFile       = "internal/cri/nri/nri_api_linux.go"
	optionsFile   = "internal/cri/opts/spec_linux_opts.go"
	stopFile      = "internal/cri/server/container_stop.go"
	resourcesFile = "internal/cri/server/container_update_resources_linux.go"
)

// TestRefactoring: when upstream moves its code about without changing what it
// does, a probe may lose its way, but must know it: no verdict turns into
// another one, at most into none.
func TestRefactoring(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches the modules of containerd and NRI")
	}
	files := released(t)
	want := verdicts(t, files)
	for id, v := range want {
		if v.State == capability.Unknown {
			t.Errorf("%s is not decided: %s", id, v.Why)
		}
	}
	for name, changes := range refactorings() {
		t.Run(name, func(t *testing.T) {
			got := verdicts(t, files, changes...)
			undecided := 0
			for id, v := range got {
				switch {
				case v.State == capability.Unknown:
					undecided++
				case !v.Same(want[id]):
					t.Errorf("%s: %s turned into %s: %s %v", id, want[id], v, v.In, v.Files)
				}
			}
			t.Logf("%d of %d verdicts are left undecided", undecided, len(got))
		})
	}
}

func refactorings() map[string][]change {
	return map[string][]change{
		"a handler of the collection is renamed": {{resultFile, `adjustSysctl`, `mergeSysctl`}},
		"the collection is renamed":              {{resultFile, `\.adjust\(rpl`, `.mergeAdjustment(rpl`}, {resultFile, `\) adjust\(rpl`, `) mergeAdjustment(rpl`}},
		"a field is handed over in a closure": {{resultFile, `if err := r\.adjustEnv\(rpl\.Env, plugin\); err != nil`,
			"env := func() error { return r.adjustEnv(rpl.Env, plugin) }\n\tif err := env(); err != nil"}},
		"a field is kept in the result": {{resultFile, `if err := r\.adjustEnv\(rpl\.Env, plugin\)`, "r.env = rpl.Env\n\tif err := r.adjustEnv(r.env, plugin)"}},
		"the reply is kept in the result": {{resultFile, `if err := r\.adjustEnv\(rpl\.Env, plugin\)`,
			"r.rpl = rpl\n\tif err := r.adjustEnv(r.rpl.Env, plugin)"}},
		"the handlers are in a table": {{resultFile, `(?s)func \(r \*result\) adjust\(rpl \*ContainerAdjustment, plugin string\) error \{.*?\n\}`,
			"func (r *result) adjust(rpl *ContainerAdjustment, plugin string) error {\n\tfor _, h := range r.handlers {\n\t\th(rpl, plugin)\n\t}\n\treturn nil\n}"}},
		"removals are marked in a function of their own": {{resultFile, `(?s)for _, m := range del \{.*?\n\t\}\n`, "r.mark(del)\n"}},
		"the reply is made elsewhere":                    {{resultFile, `(?s)adjust: &ContainerAdjustment\{.*?\n\t\t\t\},\n\t\t\},`, "adjust: api.NewAdjustment(),\n\t\t},"}},
		"the generator is renamed":                       {{generateFile, `\bGenerator\b`, `SpecAdjuster`}},
		"the generator groups its steps": {{generateFile, `g\.AdjustEnv\(adjust\.GetEnv\(\)\)`, `g.adjustProcess(adjust)`},
			{generateFile, `func nopFilter`, "func (g *Generator) adjustProcess(a *nri.ContainerAdjustment) { g.AdjustEnv(a.GetEnv()) }\n\nfunc nopFilter"}},
		"the generator sets values by a helper": {{generateFile, `(?s)if r\.Cpu\.Period != nil \{.*?\n\t\t\}`, `set(g.SetLinuxResourcesCPUPeriod, r.Cpu.GetPeriod())`}},
		"the start of plugins is renamed":       {{adaptFile, `startPlugins`, `launchPlugins`}},
		"updates go by another name":            {{adaptFile, `\bupdateContainers\b`, `relayUpdates`}, {pluginFile, `\bupdateContainers\b`, `relayUpdates`}},
		"the magic of WebAssembly is renamed":   {{pluginFile, `isWasm\(`, `hasWasmMagic(`}},

		"local is renamed":                {{domainFile, `\blocal\b`, `service`}},
		"local has a mutex of its own":    {{domainFile, `l\.(Lock|Unlock)\(\)`, `l.mu.$1()`}},
		"the socket is opened elsewhere":  {{domainFile, `l\.nri\.Start\(\)`, `l.open()`}},
		"the synchronization is renamed":  {{domainFile, `syncPlugin`, `synchronize`}},
		"applying updates is renamed":     {{domainFile, `applyUpdates`, `update`}},
		"the API of CRI is renamed":       {{criFile, `\*API\b`, `*Bridge`}, {criFile, `type API struct`, `type Bridge struct`}},
		"the wrapper is renamed":          {{criFile, `criContainer`, `container`}},
		"a getter is moved":               {{criFile, `\(c \*criContainer\) GetSysctl\(`, `(c *criContainer) sysctl(`}},
		"the conversion to CRI is moved":  {{criFile, `toCRIResources`, `convert`}},
		"the conversion of CRI is moved":  {{criFile, `fromCRILinuxResources`, `convert`}},
		"a state is renamed":              {{criFile, `CONTAINER_EXITED`, `CONTAINER_ENDED`}},
		"a handler of CRI is renamed":     {{stopFile, `\) StopContainer\(`, `) stop(`}},
		"WithResources is renamed":        {{optionsFile, `WithResources`, `Apply`}, {resourcesFile, `WithResources`, `Apply`}},
		"WithResources is split":          {{optionsFile, `if unified := resources\.GetUnified\(\); unified != nil \{`, `if unified := unifiedOf(resources); unified != nil {`}, {optionsFile, `func WithResources`, "func unifiedOf(r *runtime.LinuxContainerResources) map[string]string { return r.GetUnified() }\n\nfunc WithResources"}},
		"the options come from elsewhere": {{criFile, `generatorOptions\.\.\.\)`, `a.options()...)`}},
	}
}

// released returns the files of a release and its library that probes read.
func released(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, m := range []struct {
		path, version, prefix string
		dirs                  []string
	}{
		{"github.com/containerd/containerd/v2", "v2.4.2", "", []string{"internal/nri", "internal/cri/nri", "internal/cri/server", "internal/cri/opts", "internal/cri/config", "internal/cri/store/sandbox", "plugins", "plugins/nri", "plugins/cri/runtime", "plugins/services", "plugins/services/tasks", "version"}},
		{source.NRIModule, "v0.12.3", "nri/", []string{"pkg/api", "pkg/adaptation", "pkg/runtime-tools/generate"}},
	} {
		fetched, err := source.Fetch(t.Context(), m.path, m.version)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range m.dirs {
			names, err := filepath.Glob(filepath.Join(fetched.Dir, dir, "*.go"))
			if err != nil || len(names) == 0 {
				t.Fatalf("%s: %v", dir, err)
			}
			for _, name := range names {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				files[m.prefix+dir+"/"+filepath.Base(name)] = string(data)
			}
		}
	}
	return files
}

// verdicts reads the files with some changes.
func verdicts(t *testing.T, files map[string]string, changes ...change) map[capability.ID]Verdict {
	t.Helper()
	changed := map[string]string{}
	for _, c := range changes {
		text, ok := changed[c.file]
		if !ok {
			text = files[c.file]
		}
		after := regexp.MustCompile(c.from).ReplaceAllString(text, c.to)
		if after == text {
			t.Fatalf("%s: nothing matches %s", c.file, c.from)
		}
		changed[c.file] = after
	}
	dir := t.TempDir()
	for name, text := range files {
		if after, ok := changed[name]; ok {
			text = after
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := source.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	library, err := tree.Sub("nri")
	if err != nil {
		t.Fatal(err)
	}
	report, err := NewReader().Read(tree, "containerd", library)
	if err != nil {
		t.Fatal(err)
	}
	for id, v := range report.Verdicts {
		if strings.Contains(v.Why, "no probe is about it") {
			t.Errorf("%s: %s", id, v.Why)
		}
	}
	return report.Verdicts
}
