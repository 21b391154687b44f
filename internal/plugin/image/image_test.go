package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// elf is the shortest thing that counts as a program here; what follows tells
// programs apart.
const elf = "\x7fELF"

// header returns a tar header: "dir/", "link -> target", "name => hard link",
// else an executable file.
func header(name string) *tar.Header {
	if link, target, ok := strings.Cut(name, " -> "); ok {
		return &tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: target, Mode: 0o777}
	}
	if link, target, ok := strings.Cut(name, " => "); ok {
		return &tar.Header{Typeflag: tar.TypeLink, Name: link, Linkname: target, Mode: 0o755}
	}
	if strings.HasSuffix(name, "/") {
		return &tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}
	}
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}
}

// archiveOf makes a tar archive of pairs of name and content. A name that starts
// with "-" is not executable.
func archiveOf(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for n := 0; n < len(pairs); n += 2 {
		name, plain := strings.CutPrefix(pairs[n], "-")
		h := header(name)
		if plain {
			h.Mode = 0o644
		}
		content := pairs[n+1]
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(content))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			io.WriteString(w, content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// imageOf makes an image of layers that may be compressed already.
func imageOf(t testing.TB, config v1.Config, layers ...[]byte) v1.Image {
	t.Helper()
	img := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	for _, data := range layers {
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data)), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if img, err = mutate.AppendLayers(img, l); err != nil {
			t.Fatal(err)
		}
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Config, file.OS, file.Architecture = config, "linux", "amd64"
	if img, err = mutate.ConfigFile(img, file); err != nil {
		t.Fatal(err)
	}
	return img
}

// dirOf writes an OCI image layout.
func dirOf(t testing.TB, img v1.Image) Ref {
	t.Helper()
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendImage(img); err != nil {
		t.Fatal(err)
	}
	return Ref{OCIDir, dir}
}

// archiveRef writes what "docker save" writes.
func archiveRef(t testing.TB, img v1.Image) Ref {
	t.Helper()
	file := filepath.Join(t.TempDir(), "image.tar")
	tag, err := name.NewTag("example.test/plugin:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(file, tag, img); err != nil {
		t.Fatal(err)
	}
	return Ref{DockerArchive, file}
}

// registryRef pushes to a registry inside the test.
func registryRef(t testing.TB, img v1.Image) Ref {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/plugins/p:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}
	return Ref{Registry, ref.String()}
}

// isolate gives the test a directory of its own for temporary files and checks
// at the end that nothing is left there.
func isolate(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("DOCKER_CONFIG", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// found is what a test compares: path and content of each executable.
func contents(t *testing.T, e Executables) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range e.Files {
		data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
		if err != nil {
			t.Fatal(err)
		}
		out[f.Path] = string(data)
	}
	return out
}

// plugins accepts programs that say they are one.
func plugins(f File) bool {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
	return err == nil && strings.Contains(string(data), "plugin")
}

func TestExecutables(t *testing.T) {
	const plugin = elf + "plugin"
	many := []string{"opt/b/plugin2", plugin + "2", "opt/a/plugin1", plugin + "1", "bin/sh", elf + "shell", "run.sh", "#!/bin/sh\nexec x\n", "-opt/data", plugin}
	for _, test := range []struct {
		name   string
		config v1.Config
		layers [][]string
		want   map[string]string
		aside  string
	}{
		{
			"entrypoint", v1.Config{Entrypoint: []string{"/plugin", "-x"}},
			[][]string{{"./plugin", plugin, "other", plugin + "2"}},
			map[string]string{"/plugin": plugin}, "",
		},
		{
			"command only", v1.Config{Cmd: []string{"/plugin"}},
			[][]string{{"plugin", plugin}},
			map[string]string{"/plugin": plugin}, "",
		},
		{
			"through PATH", v1.Config{Entrypoint: []string{"plugin"}, Env: []string{"A=b", "PATH=/nowhere:/opt/bin"}},
			[][]string{{"opt/bin/plugin", plugin, "usr/bin/plugin", elf}},
			map[string]string{"/opt/bin/plugin": plugin}, "",
		},
		{
			"through the default PATH", v1.Config{Entrypoint: []string{"plugin"}},
			[][]string{{"usr/bin/plugin", plugin}},
			map[string]string{"/usr/bin/plugin": plugin}, "",
		},
		{
			"relative to the working directory", v1.Config{Entrypoint: []string{"./plugin"}, WorkingDir: "/srv"},
			[][]string{{"srv/plugin", plugin}},
			map[string]string{"/srv/plugin": plugin}, "",
		},
		{
			"behind an init program", v1.Config{Entrypoint: []string{"/tini", "--"}, Cmd: []string{"/plugin", "-v"}},
			[][]string{{"tini", elf + "init", "plugin", plugin}},
			map[string]string{"/plugin": plugin}, "",
		},
		{
			"links across layers", v1.Config{Entrypoint: []string{"/entry"}},
			[][]string{
				{"usr/bin/plugin", elf + "old", "bin -> usr/bin", "a -> /usr/../bin/plugin"},
				{"bin/plugin", plugin, "entry -> ../../a"},
			},
			map[string]string{"/usr/bin/plugin": plugin}, "",
		},
		{
			"hard link", v1.Config{Entrypoint: []string{"/entry"}},
			[][]string{{"usr/plugin", plugin, "entry => usr/plugin"}, {"usr/.wh.plugin", ""}},
			map[string]string{"/entry": plugin}, "",
		},
		{
			"overwritten", v1.Config{Entrypoint: []string{"/plugin"}},
			[][]string{{"plugin", elf + "old plugin"}, {"plugin", plugin}},
			map[string]string{"/plugin": plugin}, "",
		},
		{
			"removed by a whiteout", v1.Config{Entrypoint: []string{"/d/plugin"}},
			[][]string{{"d/plugin", plugin, "e/plugin", plugin + "2"}, {"d/.wh.plugin", ""}},
			map[string]string{"/e/plugin": plugin + "2"},
			`the image starts "/d/plugin", which is not an executable file in it`,
		},
		{
			"removed by an opaque whiteout that comes last", v1.Config{Entrypoint: []string{"/d/old"}},
			[][]string{{"d/old", plugin}, {"d/new", plugin + "2", "d/.wh..wh..opq", ""}},
			map[string]string{"/d/new": plugin + "2"},
			`the image starts "/d/old", which is not an executable file in it`,
		},
		{
			"no longer executable", v1.Config{Entrypoint: []string{"/plugin"}},
			[][]string{{"plugin", plugin, "p2", plugin + "2"}, {"-plugin", plugin}},
			map[string]string{"/p2": plugin + "2"},
			`the image starts "/plugin", which is not an executable file in it`,
		},
		{
			"directory in place of a link", v1.Config{Entrypoint: []string{"/d/plugin"}},
			[][]string{{"real/plugin", plugin, "d -> real"}, {"d/", ""}, {"d/plugin", plugin + "2"}},
			map[string]string{"/d/plugin": plugin + "2"}, "",
		},
		{
			"script", v1.Config{Entrypoint: []string{"/run.sh"}}, [][]string{many},
			map[string]string{"/opt/a/plugin1": plugin + "1", "/opt/b/plugin2": plugin + "2"},
			`the image starts the script "/run.sh" (#!/bin/sh), whose commands were not followed`,
		},
		{
			"shell with a command", v1.Config{Entrypoint: []string{"/bin/sh", "-c", "/opt/a/plugin1 -v"}}, [][]string{many},
			map[string]string{"/opt/a/plugin1": plugin + "1", "/opt/b/plugin2": plugin + "2"},
			`the image starts "/bin/sh", which is not itself a plugin`,
		},
		{
			"no command", v1.Config{}, [][]string{many},
			map[string]string{"/opt/a/plugin1": plugin + "1", "/opt/b/plugin2": plugin + "2"},
			"the image names no command to start",
		},
		{
			"names that lead out", v1.Config{Entrypoint: []string{"/../../plugin"}},
			[][]string{{"../../plugin", plugin, "up -> ../../../..", "/up/etc/x", elf}},
			map[string]string{"/plugin": plugin}, "",
		},
		{
			"links in a circle", v1.Config{Entrypoint: []string{"/a"}},
			[][]string{{"a -> b", "", "b -> a", "", "plugin", plugin}},
			map[string]string{"/plugin": plugin},
			`the image starts "/a", which is not an executable file in it`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			isolate(t)
			var layers [][]byte
			for n, pairs := range test.layers {
				data := archiveOf(t, linked(pairs)...)
				switch n % 3 {
				case 0:
					data = gzipped(t, data)
				case 1:
					data = zstded(t, data)
				}
				layers = append(layers, data)
			}
			for scheme, ref := range map[string]Ref{
				"layout":   dirOf(t, imageOf(t, test.config, layers...)),
				"archive":  archiveRef(t, imageOf(t, test.config, layers...)),
				"registry": registryRef(t, imageOf(t, test.config, layers...)),
			} {
				img, err := Open(t.Context(), ref, Options{})
				if err != nil {
					t.Fatalf("%s: %v", scheme, err)
				}
				got, err := img.Executables(t.Context(), plugins)
				if err != nil {
					t.Fatalf("%s: %v", scheme, err)
				}
				if d := cmp.Diff(test.want, contents(t, got)); d != "" {
					t.Errorf("%s: files (-want +got)\n%s", scheme, d)
				}
				if got.Aside != test.aside {
					t.Errorf("%s: aside %q\nwant %q", scheme, got.Aside, test.aside)
				}
				if img.Platform != "linux/amd64" || !strings.HasPrefix(img.Digest, "sha256:") {
					t.Errorf("%s: platform %q, digest %q", scheme, img.Platform, img.Digest)
				}
				if err := img.Close(); err != nil {
					t.Errorf("%s: %v", scheme, err)
				}
			}
		})
	}
}

// linked gives links an empty content where the list has none.
func linked(pairs []string) []string {
	var out []string
	for n := 0; n < len(pairs); n++ {
		out = append(out, pairs[n])
		if strings.Contains(pairs[n], " -> ") || strings.Contains(pairs[n], " => ") {
			out = append(out, "")
			if n+1 < len(pairs) && pairs[n+1] == "" {
				n++
			}
			continue
		}
		n++
		out = append(out, pairs[n])
	}
	return out
}

func TestManifest(t *testing.T) {
	isolate(t)
	labels := map[string]string{ManifestLabel: "of the label"}
	for _, test := range []struct {
		name       string
		labels     map[string]string
		pairs      []string
		data, from string
	}{
		{"next to the executable", labels, []string{"-opt/nri-compat.yaml", "next", "-nri-compat.yaml", "root"}, "next", ":/opt/nri-compat.yaml"},
		{"at the root", labels, []string{"-nri-compat.yaml", "root", "-etc/nri-compat.yaml", "no"}, "root", ":/nri-compat.yaml"},
		{"through a link", labels, []string{"-etc/nri-compat.yaml", "linked", "nri-compat.yaml -> etc/nri-compat.yaml", ""}, "linked", ":/etc/nri-compat.yaml"},
		{"label", labels, nil, "of the label", ": label io.nri-compat.requirements"},
		{"none", nil, []string{"-etc/nri-compat.yaml", "no"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			layer := archiveOf(t, append([]string{"opt/plugin", elf + "plugin"}, test.pairs...)...)
			ref := dirOf(t, imageOf(t, v1.Config{Labels: test.labels, Cmd: []string{"/opt/plugin"}}, layer))
			img, err := Open(t.Context(), ref, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			data, source, ok := img.Manifest("/opt/plugin")
			if string(data) != test.data || !strings.HasSuffix(source, test.from) || ok != (test.data != "") {
				t.Errorf("%q from %q, %t", data, source, ok)
			}
		})
	}
}

func TestProgressReachesTheTotal(t *testing.T) {
	isolate(t)
	layer := gzipped(t, archiveOf(t, "plugin", elf+"plugin"+strings.Repeat("x", 3<<20)))
	img := imageOf(t, v1.Config{Cmd: []string{"/plugin"}}, layer, layer)
	for _, ref := range []Ref{dirOf(t, img), archiveRef(t, img), registryRef(t, img)} {
		var done, total int64
		opened, err := Open(context.Background(), ref, Options{Progress: func(d, t int64) {
			if d < done {
				done = -1
			}
			done, total = d, t
		}})
		if err != nil {
			t.Fatal(err)
		}
		if done != total || total <= 0 {
			t.Errorf("%s: %d of %d", ref.Scheme, done, total)
		}
		opened.Close()
	}
}

func TestParseRef(t *testing.T) {
	for _, s := range []string{"image:localhost:5000/a:v1", "docker-archive:a:b.tar", "oci-dir:./x"} {
		if r, err := ParseRef(s); err != nil || r.String() != s {
			t.Errorf("%q: %v, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "plugin", "docker:x", "image:", ":x", "IMAGE:x"} {
		if r, err := ParseRef(s); err == nil {
			t.Errorf("%q was read as %+v", s, r)
		}
	}
}
