package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Without section headers everything is found through the segments and by
// magic numbers.
func TestNoSectionHeaders(t *testing.T) {
	for _, v := range variants() {
		if v.slow && testing.Short() {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			path := build(t, "limits", v)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := inspectBytes(data)
			if err != nil {
				t.Fatal(err)
			}
			le := binary.LittleEndian
			le.PutUint64(data[40:], 0) // their place
			le.PutUint16(data[60:], 0) // how many
			le.PutUint16(data[62:], 0) // which has the names
			got, err := inspectBytes(data)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := fmt.Sprintf("%+v", got.Requirements), fmt.Sprintf("%+v", want.Requirements); a != b {
				t.Errorf("\n got %s\nwant %s", a, b)
			}
			// The standard library finds build information by a section's name in
			// a position independent executable; the protocol is found anyway.
			if !got.Identity.Stripped || got.NRI.ProtocolFrom != want.NRI.ProtocolFrom || got.NRI.Package != want.NRI.Package {
				t.Errorf("%+v %+v", got.Identity, got.NRI)
			}
			if got.Identity.Module == "" && len(got.Warnings) == 0 {
				t.Error("no warning that the plugin could not be identified")
			}
		})
	}
}

// Executables of other systems and processors tell who they are, and that
// nothing more can be said.
func TestForeignFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library for three other targets")
	}
	for _, target := range []string{"darwin/arm64", "windows/amd64", "linux/386"} {
		t.Run(target, func(t *testing.T) {
			system, arch, _ := strings.Cut(target, "/")
			out := filepath.Join(t.TempDir(), "plugin")
			cmd := exec.Command("go", "build", "-o", out, ".")
			cmd.Dir = filepath.Join(pluginsDir, "quiet")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOWORK=off", "GOFLAGS=")
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			p, err := inspectFile(t, out)
			if err != nil {
				t.Fatal(err)
			}
			if p.Identity.OS != system || p.Identity.Arch != arch || p.NRI.Version != "v0.12.5" {
				t.Errorf("%+v %+v", p.Identity, p.NRI)
			}
			if len(p.Requirements) > 0 || len(p.Gaps) != 1 {
				t.Errorf("requirements %v, gaps %q", p.Requirements, p.Gaps)
			}
		})
	}
}

// A plugin that carries a copy of NRI's packages under its own import path
// needs the same as one that uses the original.
func TestOwnCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a copy of NRI")
	}
	for _, name := range []string{"devices", "limits"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(pluginsDir, name)
			copyTree(t, source, dir, nil)
			list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", nriModule)
			list.Dir = source
			list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
			nri, err := list.Output()
			if err != nil {
				t.Fatal(err)
			}
			own := "example.com/" + name + "/internal/mynri"
			rename := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(nriModule+"/pkg/"), []byte(own+"/")) }
			for _, pkg := range []string{"api", "stub", "log", "net"} {
				copyTree(t, filepath.Join(strings.TrimSpace(string(nri)), "pkg", pkg), filepath.Join(dir, "internal", "mynri", pkg), rename)
			}
			for _, file := range []string{"main.go", "tune/tune.go"} {
				path := filepath.Join(dir, file)
				b, err := os.ReadFile(path)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, rename(b), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(dir, "plugin")
			cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, ".")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOWORK=off", "GOFLAGS=")
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			p, err := inspectFile(t, out)
			if err != nil {
				t.Fatal(err)
			}
			readExpectation(t, name).compare(t, p)
			if p.NRI.Package != own+"/api" || p.NRI.Module != "example.com/"+name {
				t.Errorf("%+v", p.NRI)
			}
		})
	}
}

// copyTree copies Go files and module files, but no tests.
func copyTree(t *testing.T, from, to string, change func([]byte) []byte) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if !slices.Contains([]string{".go", ".mod", ".sum"}, filepath.Ext(path)) {
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if change != nil {
			b = change(b)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
