package plugin

import (
	"archive/tar"
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/image"
	"github.com/nri-compat/nri-compat/internal/plugin/manifest"
)

// build builds a test plugin for Linux and returns its path.
func build(t *testing.T, plugin string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), plugin)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir = filepath.Join("../../testdata/plugins", plugin)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

type entry struct {
	path string
	mode int64
	data []byte
}

// makeImage makes an image of one layer.
func makeImage(t *testing.T, config v1.Config, files ...entry) v1.Image {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.path, Mode: f.mode, Size: int64(len(f.data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "layer.tar")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", runtime.GOARCH, config
	if img, err = mutate.ConfigFile(img, file); err != nil {
		t.Fatal(err)
	}
	return img
}

// references puts an image into an archive, a layout and a registry.
func references(t *testing.T, img v1.Image) []string {
	t.Helper()
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/plugin:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, img); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "plugin.tar")
	if err := tarball.WriteToFile(archive, tag, img); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.AppendImage(img); err != nil {
		t.Fatal(err)
	}
	return []string{"docker-archive:" + archive, "oci-dir:" + dir, "image:" + tag.String()}
}

func has(p Plugin, id capability.ID) (capability.Requirement, bool) {
	for _, r := range p.Requirements {
		if r.Capability == id {
			return r, true
		}
	}
	return capability.Requirement{}, false
}

// TestImages reads the same plugin out of an archive, a layout and a registry,
// started directly and by a script, with a manifest as a file and as a label.
func TestImages(t *testing.T) {
	program, err := os.ReadFile(build(t, "ulimits"))
	if err != nil {
		t.Fatal(err)
	}
	declared := []byte("schema: nri-compat.dev/manifest/v1\nplugin: ulimits\nwants:\n  - capability: ADJUST_POSIX_RLIMITS\n    reason: logs it otherwise\nruntimes:\n  - containerd@>=1.7\n")
	plugin := entry{"usr/bin/ulimits", 0o755, program}
	for _, test := range []struct {
		name    string
		img     v1.Image
		level   capability.Level
		warning string
		label   bool
	}{
		{"entrypoint", makeImage(t, v1.Config{Entrypoint: []string{"/usr/bin/ulimits"}}, plugin), capability.Requires, "", false},
		{"script", makeImage(t, v1.Config{Entrypoint: []string{"/start.sh"}}, plugin,
			entry{"start.sh", 0o755, []byte("#!/bin/sh\nexec ulimits\n")}), capability.Requires, "script", false},
		{"manifest", makeImage(t, v1.Config{Cmd: []string{"ulimits"}, Env: []string{"PATH=/usr/bin"}}, plugin,
			entry{"nri-compat.yaml", 0o644, declared}), capability.Wants, "", true},
		{"label", makeImage(t, v1.Config{Entrypoint: []string{"/usr/bin/ulimits"}, Labels: map[string]string{manifest.Label: string(declared)}}, plugin),
			capability.Wants, "", true},
	} {
		for _, answer := range Inspect(t.Context(), references(t, test.img), Options{}) {
			scheme, _, _ := strings.Cut(answer.Ref, ":")
			if answer.Err != nil || len(answer.Plugins) != 1 {
				t.Errorf("%s, %s: %d plugins, %v", test.name, scheme, len(answer.Plugins), answer.Err)
				continue
			}
			p := answer.Plugins[0]
			r, ok := has(p, capability.AdjustPosixRlimits)
			if !ok || r.Level != test.level || p.Name != "ulimits" || p.Path != "/usr/bin/ulimits" || len(p.Gaps) != 0 {
				t.Errorf("%s, %s: %+v", test.name, scheme, p)
			}
			if test.label != (p.Manifest != "" && len(p.Supports) == 1) {
				t.Errorf("%s, %s: manifest %q, supports %v", test.name, scheme, p.Manifest, p.Supports)
			}
			if got := strings.Join(p.Warnings, "; "); !strings.Contains(got, test.warning) || test.warning == "" && got != "" {
				t.Errorf("%s, %s: warnings %q", test.name, scheme, got)
			}
		}
	}
}

// TestImagesWithoutPlugin: an image that holds no plugin is an error that says
// so, never a plugin without needs.
func TestImagesWithoutPlugin(t *testing.T) {
	for name, img := range map[string]v1.Image{
		"no executable": makeImage(t, v1.Config{}, entry{"etc/passwd", 0o644, []byte("root")}),
		"only a script": makeImage(t, v1.Config{Entrypoint: []string{"/start.sh"}}, entry{"start.sh", 0o755, []byte("#!/bin/sh\n")}),
		"damaged":       makeImage(t, v1.Config{Entrypoint: []string{"/p"}}, entry{"p", 0o755, []byte("\x7fELF\x02\x01\x01")}),
	} {
		for _, answer := range Inspect(t.Context(), references(t, img), Options{}) {
			if answer.Err == nil || len(answer.Plugins) != 0 {
				t.Errorf("%s: %+v", name, answer)
			} else if strings.Contains(answer.Err.Error(), "\n") {
				t.Errorf("%s: %q has several lines", name, answer.Err)
			}
		}
	}
}

// TestBadReferences: each a clear error that names the reference.
func TestBadReferences(t *testing.T) {
	dir := t.TempDir()
	for ref, says := range map[string]string{
		filepath.Join(dir, "nothing"):       "no such file",
		dir:                                 "without go.mod",
		"registry.example/plugin:v1":        "image:registry.example/plugin:v1",
		"docker-archive:" + dir + "/no.tar": "no.tar",
		"oci-dir:" + dir:                    dir,
		"image:not a reference":             "not a reference",
		os.DevNull:                          "neither a regular file nor a directory",
	} {
		answer := Inspect(t.Context(), []string{ref}, Options{})[0]
		if answer.Err == nil || !strings.Contains(answer.Err.Error(), says) {
			t.Errorf("%s: %v; want an error that says %q", ref, answer.Err, says)
		}
	}
}

// TestAnswersKeepTheOrder: one reference that fails does not keep the others
// from being read, nor change their order.
func TestAnswersKeepTheOrder(t *testing.T) {
	path := build(t, "ulimits")
	refs := []string{"nothing", path, "also-nothing", "../../testdata/plugins/ulimits"}
	answers := Inspect(t.Context(), refs, Options{})
	for i, a := range answers {
		if a.Ref != refs[i] || (a.Err == nil) != (i%2 == 1) {
			t.Errorf("%d: %s, %v", i, a.Ref, a.Err)
		}
	}
}

// TestNamesOfManifests: the readers of images and of manifests mean the same
// file and label.
func TestNamesOfManifests(t *testing.T) {
	if image.ManifestName != manifest.FileName || image.ManifestLabel != manifest.Label {
		t.Errorf("%s and %s, %s and %s", image.ManifestName, manifest.FileName, image.ManifestLabel, manifest.Label)
	}
}
