package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/collect"
	"github.com/nri-compat/nri-compat/inference/gen/rows"
)

// kubeletFiles returns the files of a reduced kubelet, by their names.
func kubeletFiles(t *testing.T, version string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/kubelet-" + version + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// as renames the modules to those of another release.
func as(files map[string]string, from, to string) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		name = strings.Replace(name, "kubernetes@v1."+from, "kubernetes@v1."+to, 1)
		out[strings.Replace(name, "kubelet@v0."+from, "kubelet@v0."+to, 1)] = text
	}
	return out
}

// change edits a file, which is known by the end of its name. Without an old
// text the file is taken away.
func change(t *testing.T, files map[string]string, e edit) {
	t.Helper()
	var names []string
	for name := range files {
		if strings.HasSuffix(name, "/"+e.file) {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		t.Fatalf("%s is the end of %d files, want one", e.file, len(names))
	}
	name := names[0]
	switch {
	case e.old == "":
		delete(files, name)
	case !strings.Contains(files[name], e.old):
		t.Fatalf("%s does not contain %q", name, e.old)
	default:
		files[name] = strings.ReplaceAll(files[name], e.old, e.new)
	}
}

func writeFiles(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compareKubelet compares releases with the built-in table.
func compareKubelet(t *testing.T, d *rows.Document, files map[string]string) *rows.Comparison {
	t.Helper()
	sources := collect.Sources{Kubernetes: []string{writeFiles(t, files)}, Kubelets: d.Versions(inference.Kubelet)}
	found, err := collect.New(t.Context(), sources, d.First,
		func(string, inference.Version) bool { return true }, func(int, int, string) {}).All()
	if err != nil {
		t.Fatal(err)
	}
	return rows.Compare(d, found)
}

// differences are the cells and facts in which a comparison differs, as text.
func differences(c *rows.Comparison) []string {
	var out []string
	for _, cell := range c.Cells {
		if cell.New.State == capability.Unknown {
			out = append(out, fmt.Sprintf("%s: undecided", cell.Capability))
		} else {
			out = append(out, fmt.Sprintf("%s: %s", cell.Capability, cell.New))
		}
	}
	for _, f := range c.Facts {
		if f.Why != "" {
			out = append(out, f.What+": undecided")
		} else {
			out = append(out, fmt.Sprintf("%s: %s", f.What, f.New))
		}
	}
	slices.Sort(out)
	return out
}

// TestKubeletForms: a kubelet of each form answers in every cell as the release
// that it is modelled on.
func TestKubeletForms(t *testing.T) {
	d := builtin(t)
	for _, version := range []string{"1.16", "1.37"} {
		c := compareKubelet(t, d, kubeletFiles(t, version))
		if got := differences(c); len(got) > 0 || c.Equal != len(capability.OfFamily(capability.Kubelet)) {
			t.Errorf("%s: %d cells are equal, these differ: %q", version, c.Equal, got)
		}
	}
	// What 1.32 has of its own is the gates and DRA.
	files := as(kubeletFiles(t, "1.37"), "37", "32")
	maps.Copy(files, kubeletFiles(t, "1.32"))
	for _, found := range differences(compareKubelet(t, d, files)) {
		if strings.HasPrefix(found, "DRA_") || strings.HasPrefix(found, "setting ") {
			t.Errorf("1.32: %s", found)
		}
	}
}

// TestNewKubelet: a release that the table does not have is told by what differs
// from the newest one, defaults of settings included, and written.
func TestNewKubelet(t *testing.T) {
	const pods = `{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.Beta},`
	files := as(kubeletFiles(t, "1.37"), "37", "39")
	change(t, files, edit{"pkg/features/kube_features.go", pods, strings.Replace(pods, "true", "false", 1)})
	change(t, files, edit{"podresources/v1/api.pb.go", `{MethodName: "Get"},`, ""})
	change(t, files, edit{"plugin/v1beta1/client.go", `"localhost"`, "authority"})
	change(t, files, edit{"pkg/features/kube_features.go", "\tPodsAPI: {\n", "\tPluginsOnSundays: {{Version: version.MustParse(\"1.39\"), Default: false}},\n\tPodsAPI: {\n"})
	change(t, files, edit{"devicemanager/manager.go", "m.known[resource]", "m.known[resource][gate.Enabled(features.PluginsOnSundays)]"})
	dir, file := writeFiles(t, files), table(t)
	out, err := generate(t, "-kubernetes", dir, "-table", file)
	if !errors.Is(err, errDiffers) {
		t.Fatalf("%v, want a difference", err)
	}
	for _, want := range []string{
		"New releases:\n  kubelet 1.39.0, day not known\n",
		"DEVICE_GRPC_AUTHORITY_LOCALHOST\n    kubelet 1.39.0 (line 1.39, 1): not decided; the authority is no literal\n",
		"kubelet 1.39.0 differs from 1.38.0-beta.0:\n    PODRES_GET: yes → no  (PodResourcesLister has no method Get)  LOST\n",
		"\n    setting featureGates.PodsAPI: \"true\" → \"false\"  pkg/features/kube_features.go:",
		"    featureGates.PluginsOnSundays, which no rule knows, is asked for: pkg/kubelet/cm/devicemanager/manager.go:",
		"kubelet 1.39 is a new line: add it to \"affected\" of the bugs that it has. Its predecessor has none.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	write := []string{"-kubernetes", dir, "-table", file, "-write", "-because", "a test"}
	if _, err := generate(t, write...); err == nil || !strings.Contains(err.Error(), "kubelet 1.39.0: column date: the day of the release is not in what was read") {
		t.Errorf("a row without a day: %v", err)
	}
	info := filepath.Join(dir, "cache/download/k8s.io/kubernetes/@v/v1.39.0.info")
	if err := os.MkdirAll(filepath.Dir(info), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(info, []byte(`{"Version":"v1.39.0","Time":"2027-04-21T23:59:00-02:00"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := generate(t, write...); err != nil {
		t.Fatal(err)
	}
	d, err := rows.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(d.Releases, func(r inference.Release) bool { return r.Runtime == inference.Kubelet && r.Version.Minor == 39 })
	if at < 0 || d.Releases[at].Date != "2027-04-22" {
		t.Fatalf("no row with its day: %+v", d.Releases)
	}
	states := map[string]string{}
	for _, r := range d.Ranges {
		if r.Runtime == inference.Kubelet && r.Line == "1.39" {
			states[r.Capability.String()] = r.State.String()
		}
	}
	for id, want := range map[string]string{"PODRES_GET": "no", "PODRES_POD_LEVEL": "conditional", "DEVICE_TOPOLOGY": "partial", "DEVICE_GRPC_AUTHORITY_LOCALHOST": "unknown"} {
		if states[id] != want {
			t.Errorf("%s: %s, want %s", id, states[id], want)
		}
	}
	if s := d.Settings[slices.IndexFunc(d.Settings, func(s inference.Default) bool { return s.From.Minor == 39 })]; s.Setting != "featureGates.PodsAPI" || s.Value != "false" {
		t.Errorf("settings from 1.39 on: %+v", s)
	}
}

// TestRenamedGate: a gate that is off and gets another name does not make a new
// release have what stands behind it, without a person who says so.
func TestRenamedGate(t *testing.T) {
	files := as(kubeletFiles(t, "1.37"), "37", "39")
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "PodLevelResourceManagers", "PodLevelManagers")
	}
	info := "cache/download/k8s.io/kubernetes/@v/v1.39.0.info"
	files[info] = `{"Version":"v1.39.0","Time":"2027-04-21T23:59:00Z"}`
	dir, file := writeFiles(t, files), table(t)
	out, err := generate(t, "-kubernetes", dir, "-table", file)
	if !errors.Is(err, errDiffers) || !strings.Contains(out, "PODRES_POD_LEVEL: conditional (featureGates.PodLevelResourceManagers=true)") || !strings.Contains(out, "  WITHOUT ITS SETTING\n") {
		t.Errorf("%v\n%s", err, out)
	}
	_, err = generate(t, "-kubernetes", dir, "-table", file, "-write")
	if err == nil || !strings.Contains(err.Error(), "off by default in the release before") || !strings.Contains(err.Error(), "kubelet 1.39.0: PODRES_POD_LEVEL: look") {
		t.Errorf("written: %v", err)
	}
	if _, err := generate(t, "-kubernetes", dir, "-table", file, "-write", "-because", "a test"); err != nil {
		t.Fatal(err)
	}
	d, err := rows.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if last := d.Changes[len(d.Changes)-1]; last.Because != "a test; kubelet 1.39.0: PODRES_POD_LEVEL" {
		t.Errorf("%+v", last)
	}
}

// TestKubernetesArguments: patch releases are compared with the row of their
// minor; what is no release gets one clear line.
func TestKubernetesArguments(t *testing.T) {
	file := table(t)
	patch := writeFiles(t, as(kubeletFiles(t, "1.37"), "37.0", "37.2"))
	out, err := generate(t, "-kubernetes", patch, "-table", file)
	if err != nil || !strings.Contains(out, "kubelet 1.37.2 was read, which the row of 1.37.0 answers for.\n") || !strings.Contains(out, "38 cells compared, 38 derived: 38 equal") {
		t.Errorf("1.37.2: %v\n%s", err, out)
	}
	if _, err := generate(t, "-kubernetes", patch, "-table", file, "-write", "-because", "a test"); err == nil || !strings.Contains(err.Error(), "kubelet 1.37.2 has no row of its own") {
		t.Errorf("a patch release was written: %v", err)
	}
	out, err = generate(t, "-kubernetes", patch, "-table", file, "-show", "-release", "kubelet@1.37.0")
	if err != nil || !strings.HasPrefix(out, "kubelet 1.37.2, day not known\nsettings:\n") || strings.Contains(out, "NRI") {
		t.Errorf("-show: %v\n%s", err, out)
	}
	half := as(kubeletFiles(t, "1.37"), "37", "37")
	for name := range half {
		if strings.Contains(name, "kubelet@") {
			delete(half, name)
		}
	}
	other := kubeletFiles(t, "1.16")
	change(t, other, edit{"pkg/features/kube_features.go", "", ""})
	for _, test := range []struct{ value, want string }{
		{"1.x", `-kubernetes "1.x" is neither a release nor a directory: write 1.34, 1.34.1, all, or a directory with k8s.io/kubernetes@VERSION in it`},
		{filepath.Join(patch, "none"), "is neither a release nor a directory"},
		{"1.77.3", "kubelet 1.77.3: the table has no row for 1.77, which would answer for it: read 1.77.0 first"},
		{t.TempDir(), "it has no directory k8s.io/kubernetes@VERSION"},
		{patch + ",1.37", "both are compared with the row of 1.37.0: read one at a time"},
		{writeFiles(t, half), "k8s.io/kubelet@v0.37.0: no such file or directory"},
		{writeFiles(t, other), "kubelet 1.16.0: no source of Kubernetes: it has no pkg/features"},
	} {
		_, err := generate(t, "-kubernetes", test.value, "-table", file)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", test.value, err, test.want)
		}
	}
}

// TestKubernetesModule: the real source says what the table says. It is read if
// the module cache has it; nothing is downloaded.
func TestKubernetesModule(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	out, err := generate(t, "-kubernetes", "1.34.1", "-table", "../table.json")
	if err != nil && strings.Contains(err.Error(), "module lookup disabled") {
		t.Skipf("needs k8s.io/kubernetes v1.34.1 and k8s.io/kubelet v0.34.1 in the module cache: %v", err)
	}
	if err != nil || !strings.Contains(out, "38 cells compared, 38 derived: 38 equal, 0 different; 0 not decided.") {
		t.Errorf("%v\n%s", err, out)
	}
}
