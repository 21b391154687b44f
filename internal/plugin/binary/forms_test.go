package binary

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// A program that the system's linker has put together is read as one that Go's
// own has.
func TestExternalLinking(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library with cgo")
	}
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler, _, _ := strings.Cut(strings.TrimSpace(string(cc)), " ")
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("external linking needs a C compiler: %v", err)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the C compiler here makes programs for another target")
	}
	for name, flags := range map[string][]string{
		"plain":        {"-ldflags=-linkmode=external"},
		"pie-stripped": {"-buildmode=pie", "-ldflags=-linkmode=external -s -w"},
	} {
		for _, plugin := range []string{"limits", "updates"} {
			t.Run(name+"/"+plugin, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "plugin")
				cmd := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), ".")...)
				cmd.Dir = filepath.Join(pluginsDir, plugin)
				cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOWORK=off", "GOFLAGS=")
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, msg)
				}
				p, err := inspectFile(t, out)
				if err != nil {
					t.Fatal(err)
				}
				readExpectation(t, plugin).compare(t, p)
				if !p.Identity.CGO {
					t.Errorf("built without cgo: %+v", p.Identity)
				}
			})
		}
	}
}

// brokenReader cannot read a part of a file.
type brokenReader struct {
	io.ReaderAt
	from, to int64
}

func (f brokenReader) ReadAt(b []byte, off int64) (int, error) {
	if off < f.to && off+int64(len(b)) > f.from {
		return 0, errors.New("broken disk")
	}
	return f.ReaderAt.ReadAt(b, off)
}

// Code that cannot be read is an error, of whichever function: no list of
// requirements is made of the rest.
func TestUnreadableCode(t *testing.T) {
	data, err := os.ReadFile(build(t, "limits", variants()[0]))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, s := range list {
		if !strings.HasPrefix(s.Name, "main.") && !strings.HasSuffix(s.Name, "/stub.New") || s.Value < text.Addr || s.Value >= text.Addr+text.Size {
			continue
		}
		tried++
		from := int64(text.Offset + s.Value - text.Addr)
		r := brokenReader{bytes.NewReader(data), from, from + 1}
		if p, err := Inspect(context.Background(), r, int64(len(data)), "limits"); err == nil || !strings.Contains(err.Error(), "broken disk") {
			t.Errorf("%s: error %v, %d requirements", s.Name, err, len(p.Requirements))
		}
	}
	if tried < 5 {
		t.Errorf("only %d functions", tried)
	}
}
