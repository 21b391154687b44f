package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refuses checks that opening fails with one line that says what is wanted.
func refuses(t *testing.T, ref Ref, o Options, want string) {
	t.Helper()
	img, err := Open(t.Context(), ref, o)
	if err == nil {
		_, err = img.Executables(t.Context(), plugins)
		img.Close()
	}
	if err == nil {
		t.Errorf("%s: accepted, want %s", ref, want)
		return
	}
	if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), ref.String()) {
		t.Errorf("%s\nwant %s", err, want)
	}
}

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRefusesArchives(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	file := func(name string, data []byte) Ref {
		return Ref{DockerArchive, writeFile(t, filepath.Join(dir, name), data)}
	}
	good := imageOf(t, v1.Config{}, archiveOf(t, "plugin", elf+"plugin"))
	whole, err := os.ReadFile(archiveRef(t, good).Target)
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, Ref{DockerArchive, filepath.Join(dir, "none")}, Options{}, "no such file")
	refuses(t, Ref{DockerArchive, dir}, Options{}, "is a directory: use oci-dir:")
	refuses(t, Ref{DockerArchive, "/dev/null"}, Options{}, "not a regular file")
	refuses(t, file("empty", nil), Options{}, `not an archive of "docker save": "manifest.json" is not in the archive`)
	refuses(t, file("text", bytes.Repeat([]byte("hello "), 500)), Options{}, "not a tar archive, or damaged")
	refuses(t, file("gzip", gzipped(t, whole)), Options{}, "compressed with gzip: unpack it")
	refuses(t, file("plain tar", archiveOf(t, "a", "b")), Options{}, `"manifest.json" is not in the archive`)
	refuses(t, file("no json", archiveOf(t, "manifest.json", "x")), Options{}, "manifest.json: invalid character")
	refuses(t, file("two images", archiveOf(t, "manifest.json", `[{"RepoTags":["a"]},{"RepoTags":["b"]}]`)), Options{}, "2 images in one archive (a, b)")
	refuses(t, file("no config", archiveOf(t, "manifest.json", `[{"Config":"c.json"}]`)), Options{}, `"c.json" is not in the archive`)
	refuses(t, file("link circle", archiveOf(t, "manifest.json", `[{"Config":"c.json"}]`, "c.json -> d", "", "d -> c.json", "")), Options{}, `"c.json": too many links`)
	refuses(t, file("large config", archiveOf(t, "manifest.json", `[{"Config":"c.json"}]`, "c.json", strings.Repeat(" ", maxDocument+1))), Options{}, "more than the limit")
	refuses(t, file("no layers", archiveOf(t, "manifest.json", `[{"Config":"c.json"}]`, "c.json", "{}")), Options{}, "an image without layers")
	refuses(t, file("layers differ", archiveOf(t, "manifest.json", `[{"Config":"c.json","Layers":["l"]}]`, "c.json", "{}", "l", "")), Options{}, "1 layers, but its configuration lists 0")

	refuses(t, file("config changed", archiveOf(t, "manifest.json", `[{"Config":"`+strings.Repeat("0", 64)+`.json"}]`, strings.Repeat("0", 64)+".json", "{}")), Options{}, "digest mismatch: the configuration")
	config, err := good.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, file("layer changed", archiveOf(t, "manifest.json", `[{"Config":"c.json","Layers":["l"]}]`, "c.json", string(config),
		"l", string(archiveOf(t, "plugin", elf+"another")))), Options{}, "layer 1 of 1: digest mismatch")

	// A file with a hole of 2 GiB costs no memory.
	sparse := filepath.Join(dir, "sparse")
	writeFile(t, sparse, nil)
	if err := os.Truncate(sparse, 2<<30); err != nil {
		t.Fatal(err)
	}
	refuses(t, Ref{DockerArchive, sparse}, Options{}, `"manifest.json" is not in the archive`)

	// Wherever an archive is cut, it is refused.
	for cut := 1; cut < 50; cut++ {
		n := len(whole) * cut / 50
		if n >= len(bytes.TrimRight(whole, "\x00")) {
			break
		}
		img, err := Open(t.Context(), file("cut", whole[:n]), Options{})
		if err == nil {
			img.Close()
			t.Errorf("cut at %d of %d: accepted", n, len(whole))
		}
	}
}

func TestRefusesLayouts(t *testing.T) {
	isolate(t)
	layer := gzipped(t, archiveOf(t, "plugin", elf+"plugin"+strings.Repeat("x", 10_000)))
	img := imageOf(t, v1.Config{Entrypoint: []string{"/plugin"}}, layer)
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, Ref{OCIDir, filepath.Join(t.TempDir(), "none")}, Options{}, "no such file")
	refuses(t, Ref{OCIDir, t.TempDir()}, Options{}, "not an OCI image layout: it has no index.json")
	refuses(t, Ref{OCIDir, writeFile(t, filepath.Join(t.TempDir(), "f"), nil)}, Options{}, "not a directory: use docker-archive:")

	for _, test := range []struct {
		name, want string
		damage     func(t *testing.T, dir string)
	}{
		{"index no JSON", "index.json: not valid JSON", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "index.json"), []byte("x"))
		}},
		{"index too large", "index.json: larger than the limit", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "index.json"), bytes.Repeat([]byte(" "), maxDocument+1))
		}},
		{"index empty", "an index without images", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "index.json"), []byte("{}"))
		}},
		{"digest of no kind", "not an image index", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "index.json"), []byte(`{"manifests":[{"digest":"../../etc:passwd"}]}`))
		}},
		{"manifest changed", "digest mismatch", func(t *testing.T, dir string) { flip(t, blobPath(dir, digest)) }},
		{"config changed", "digest mismatch", func(t *testing.T, dir string) { flip(t, blobPath(dir, m.Config.Digest)) }},
		{"config missing", "no such file", func(t *testing.T, dir string) { os.Remove(blobPath(dir, m.Config.Digest)) }},
		{"layer changed", "layer 1 of 1: digest mismatch", func(t *testing.T, dir string) { flip(t, blobPath(dir, m.Layers[0].Digest)) }},
		{"layer truncated", "layer 1 of 1: truncated or changed", func(t *testing.T, dir string) {
			os.Truncate(blobPath(dir, m.Layers[0].Digest), 40)
		}},
		{"layer empty", "layer 1 of 1: truncated or changed: 0 of", func(t *testing.T, dir string) {
			os.Truncate(blobPath(dir, m.Layers[0].Digest), 0)
		}},
		{"layer a directory", "layer 1 of 1: is a directory", func(t *testing.T, dir string) {
			os.Remove(blobPath(dir, m.Layers[0].Digest))
			os.Mkdir(blobPath(dir, m.Layers[0].Digest), 0o700)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ref := dirOf(t, img)
			test.damage(t, ref.Target)
			refuses(t, ref, Options{}, test.want)
		})
	}
}

// TestLayersThatAreLinks: older versions of "docker save" write a layer that
// several images share as a link.
func TestLayersThatAreLinks(t *testing.T) {
	isolate(t)
	data := archiveOf(t, "plugin", elf+"plugin")
	img := imageOf(t, v1.Config{Cmd: []string{"/plugin"}}, data)
	config, err := img.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"b/layer.tar -> ../a/layer.tar", "b/layer.tar => a/layer.tar"} {
		file := writeFile(t, filepath.Join(t.TempDir(), "image.tar"), archiveOf(t,
			"manifest.json", `[{"Config":"config.json","Layers":["b/layer.tar"]}]`,
			"config.json", string(config), "a/layer.tar", string(data), link, ""))
		opened, err := Open(t.Context(), Ref{DockerArchive, file}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := opened.Executables(t.Context(), plugins)
		if err != nil || contents(t, got)["/plugin"] != elf+"plugin" {
			t.Errorf("%s: %v, %v", link, got, err)
		}
		opened.Close()
	}
}

// flip changes one byte in the middle of a file, without making JSON invalid.
func flip(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.IndexAny(data, "s"); json.Valid(data) {
		data[n] = 'S'
	} else {
		data[len(data)/2] ^= 0xff
	}
	writeFile(t, name, data)
}

func TestRefusesLayers(t *testing.T) {
	isolate(t)
	long := strings.Repeat("x", 5000)
	deep := strings.Repeat("d/", 1500)
	for _, test := range []struct {
		name  string
		layer []byte
		want  string
	}{
		{"no executable", archiveOf(t, "-plugin", elf), "no executable program in the image; the image names no command to start"},
		{"scripts only", archiveOf(t, "run", "#!/bin/sh"), "no executable program in the image"},
		{"no plugin", archiveOf(t, "a", elf, "b", elf+"x"), "none of the 2 executable programs in the image is a plugin"},
		{"not a tar", bytes.Repeat([]byte("hello "), 500), "layer 1 of 1: not a tar archive, or damaged"},
		{"gzip of no tar", gzipped(t, bytes.Repeat([]byte("hello "), 500)), "layer 1 of 1: not a tar archive, or damaged"},
		{"broken gzip", append(gzipped(t, archiveOf(t, "a", elf))[:30], bytes.Repeat([]byte{0xff}, 100)...), "layer 1 of 1: "},
		{"broken zstd", append(zstded(t, archiveOf(t, "a", elf))[:12], bytes.Repeat([]byte{0xff}, 100)...), "layer 1 of 1: "},
		{"huge file that is not there", claiming(t, 1<<40), "truncated: the archive ends in the middle of a file"},
		{"gzip bomb", gzipped(t, archiveOf(t, "a", strings.Repeat("\x00", 8<<20))), "unpacks to more than the limit"},
		{"zstd bomb", zstded(t, archiveOf(t, "a", strings.Repeat("\x00", 8<<20))), "unpacks to more than the limit"},
		{"long name", archiveOf(t, long, elf), "a name of 5000 bytes"},
		{"long link", archiveOf(t, "a -> "+long, ""), "a name of 5000 bytes"},
		{"deep", archiveOf(t, deep+"a", elf), "directories more than 1024 deep"},
		{"deep through links", archiveOf(t,
			strings.Repeat("d/", 600)+"a", elf, "b -> "+strings.Repeat("d/", 600), "", "b/"+strings.Repeat("e/", 600)+"f", elf), "directories more than 1024 deep"},
		{"too many plugins", archiveOf(t, numbered(maxFound+1)...), "more than 64 programs in the image are plugins"},
	} {
		t.Run(test.name, func(t *testing.T) {
			img, err := Open(t.Context(), rawDir(t, test.layer), Options{MaxBytes: 4 << 20})
			if err == nil {
				_, err = img.Executables(t.Context(), plugins)
				img.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

// TestTooManyNames: millions of names in a small layer end in an error and not
// in memory.
func TestTooManyNames(t *testing.T) {
	if testing.Short() {
		t.Skip("writes an archive of half a million names")
	}
	isolate(t)
	pr, pw := io.Pipe()
	go func() {
		w := tar.NewWriter(pw)
		for n := 0; n <= maxNames; n++ {
			if w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("%d", n)}) != nil {
				break
			}
		}
		pw.CloseWithError(w.Close())
	}()
	l := layer{size: -1, open: func() (io.ReadCloser, error) { return pr, nil }}
	tree := newTree()
	err := l.read(t.Context(), &meter{}, &budget{DefaultMaxBytes}, true, func(e entry) (bool, error) { return true, tree.add(e) })
	if err == nil || !strings.Contains(err.Error(), "more than 500000 names") {
		t.Errorf("%v", err)
	}
}

// rawDir writes a layout with one layer of any bytes, whose digests are right.
func rawDir(t *testing.T, data []byte) Ref {
	t.Helper()
	dir := t.TempDir()
	put := func(data []byte) v1.Descriptor {
		h, n, err := v1.SHA256(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(blobPath(dir, h)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, blobPath(dir, h), data)
		return v1.Descriptor{Digest: h, Size: n}
	}
	plain, done, err := decompress(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	diffID, _, err := v1.SHA256(plain)
	if err != nil {
		diffID = v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("0", 64)} // cannot be unpacked
	}
	marshal := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	l := put(data)
	l.MediaType = types.OCILayer
	config := put(marshal(v1.ConfigFile{RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diffID}}}))
	config.MediaType = types.OCIConfigJSON
	manifest := put(marshal(v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{l}}))
	manifest.MediaType = types.OCIManifestSchema1
	writeFile(t, filepath.Join(dir, "index.json"), marshal(v1.IndexManifest{SchemaVersion: 2, Manifests: []v1.Descriptor{manifest}}))
	return Ref{OCIDir, dir}
}

// claiming makes an archive whose only file claims a size it does not have.
func claiming(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Mode: 0o755, Size: size}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func numbered(n int) []string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf("p%d", i), elf+"plugin")
	}
	return pairs
}

func TestPlatforms(t *testing.T) {
	isolate(t)
	add := func(os, arch, variant string) mutate.IndexAddendum {
		img := imageOf(t, v1.Config{Cmd: []string{"/plugin"}}, archiveOf(t, "plugin", elf+"plugin "+arch+variant))
		file, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		file = file.DeepCopy()
		file.OS, file.Architecture, file.Variant = os, arch, variant
		if img, err = mutate.ConfigFile(img, file); err != nil {
			t.Fatal(err)
		}
		return mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: os, Architecture: arch, Variant: variant}}}
	}
	attestation := add("unknown", "unknown", "")
	attestation.Annotations = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		add("linux", "s390x", ""), add("linux", "arm", "v6"), add("linux", "arm", "v7"), attestation)

	dir := t.TempDir()
	if _, err := layout.Write(dir, index); err != nil {
		t.Fatal(err)
	}
	nested := t.TempDir()
	p, err := layout.Write(nested, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendIndex(index); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	tag, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/p:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag, index); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []Ref{{OCIDir, dir}, {OCIDir, nested}, {Registry, tag.String()}} {
		for platform, want := range map[string]string{"linux/s390x": "s390x", "linux/arm/v6": "armv6", "linux/arm": "armv7"} {
			img, err := Open(t.Context(), ref, Options{Platform: platform})
			if err != nil {
				t.Errorf("%s: %v", platform, err)
				continue
			}
			got, err := img.Executables(t.Context(), nil)
			if err != nil || contents(t, got)["/plugin"] != elf+"plugin "+want {
				t.Errorf("%s: %v, %v", platform, got, err)
			}
			img.Close()
		}
		refuses(t, ref, Options{Platform: "windows/amd64"}, "no image for platform windows/amd64: there is linux/arm/v6, linux/arm/v7, linux/s390x")
		refuses(t, ref, Options{Platform: "linux"}, `invalid platform "linux": write OS/ARCH`)
	}

	single := dirOf(t, imageOf(t, v1.Config{Cmd: []string{"/plugin"}}, archiveOf(t, "plugin", elf+"plugin")))
	refuses(t, single, Options{Platform: "linux/arm64"}, "no image for platform linux/arm64: there is linux/amd64")

	twice := t.TempDir()
	same := mutate.AppendManifests(empty.Index, add("linux", "s390x", ""), add("linux", "s390x", ""))
	if _, err := layout.Write(twice, same); err != nil {
		t.Fatal(err)
	}
	refuses(t, Ref{OCIDir, twice}, Options{Platform: "linux/s390x"}, "2 images for platform linux/s390x")
}

func TestRefusesRegistries(t *testing.T) {
	isolate(t)
	img := imageOf(t, v1.Config{Cmd: []string{"/plugin"}}, gzipped(t, archiveOf(t, "plugin", elf+"plugin")))
	var answer func(w http.ResponseWriter, r *http.Request) bool
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer == nil || !answer(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	tag, err := name.ParseReference(host + "/p:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, img); err != nil {
		t.Fatal(err)
	}
	ref := Ref{Registry, tag.String()}
	blobs := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
	}

	refuses(t, Ref{Registry, host + "/none:v1"}, Options{}, "no image "+host+"/none:v1")
	_, err = Open(t.Context(), Ref{Registry, host + "/none:v1"}, Options{})
	var told interface{ Details() []string }
	if !errors.As(err, &told) || !slices.Contains(told.Details(), "HTTP status 404 Not Found of GET http://"+host+"/v2/none/manifests/v1") {
		t.Errorf("what is known of %v: %+v", err, told)
	}
	refuses(t, Ref{Registry, "UPPER/case"}, Options{}, "invalid image name")
	refuses(t, ref, Options{MaxBytes: 10}, "layers of more than the limit of 10 bytes: not fetched")

	answer = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusUnauthorized); return true }
	refuses(t, ref, Options{}, "unauthorized: log in with \"docker login "+host+"\"")
	answer = func(w http.ResponseWriter, r *http.Request) bool {
		if blobs(r) {
			w.WriteHeader(http.StatusForbidden)
		}
		return blobs(r)
	}
	refuses(t, ref, Options{}, "unauthorized: log in")
	answer = func(w http.ResponseWriter, r *http.Request) bool {
		if blobs(r) {
			w.Write([]byte("something else"))
		}
		return blobs(r)
	}
	refuses(t, ref, Options{}, "size")
	answer = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/manifests/") && r.Method == http.MethodGet {
			w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
			w.Write([]byte(`{"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"sha256:` + strings.Repeat("0", 64) + `"}}`))
			return true
		}
		return false
	}
	refuses(t, ref, Options{}, `not an image but an artifact of type "application/vnd.cncf.helm.config.v1+json"`)

	// A registry that never answers is left when the context ends.
	ctx, cancel := context.WithCancel(t.Context())
	answer = func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	}
	if _, err := Open(ctx, ref, Options{}); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("canceled: %v", err)
	}
}

// TestFollowsTheContext: local images too end with their context.
func TestFollowsTheContext(t *testing.T) {
	isolate(t)
	img := imageOf(t, v1.Config{}, archiveOf(t, "plugin", elf+"plugin"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ref := range []Ref{dirOf(t, img), archiveRef(t, img)} {
		if _, err := Open(ctx, ref, Options{}); err == nil || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("%v", err)
		}
	}
}
