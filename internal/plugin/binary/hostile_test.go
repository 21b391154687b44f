package binary

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
)

// checkSane holds for whatever comes out of whatever file.
func checkSane(t testing.TB, p found.Plugin, err error) {
	t.Helper()
	if err != nil {
		if !slices.ContainsFunc(reasons, func(r error) bool { return errors.Is(err, r) }) {
			t.Errorf("error without a reason: %v", err)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Errorf("error is not one line: %q", err)
		}
		return
	}
	for i, r := range p.Requirements {
		if !r.Capability.Known() {
			t.Errorf("unknown capability %v", r.Capability)
		}
		if i > 0 && p.Requirements[i-1].Capability.String() >= r.Capability.String() {
			t.Errorf("requirements are not sorted: %v", r.Capability)
		}
		if len(r.Evidence) == 0 || len(r.Evidence) > maxEvidence {
			t.Errorf("%v has %d pieces of evidence", r.Capability, len(r.Evidence))
		}
	}
	// A plugin needs at least the call of a handler, unless a gap says that
	// this could not be seen.
	if len(p.Requirements) == 0 && len(p.Gaps) == 0 {
		t.Error("neither requirement nor gap")
	}
}

var reasons = []error{ErrNoAPI, ErrRuntime, ErrNotExecutable, ErrScript, ErrWasm, ErrNotGo, ErrPacked, ErrTooOld, ErrTooLarge, ErrCorrupt}

func inspectBytes(b []byte) (found.Plugin, error) {
	return Inspect(context.Background(), bytes.NewReader(b), int64(len(b)), "test")
}

func TestNotAPlugin(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrNotExecutable},
		{"one byte", []byte{0x7f}, ErrNotExecutable},
		{"text", []byte("hello\n"), ErrNotExecutable},
		{"script", []byte("#!/bin/sh\nexec plugin\n"), ErrScript},
		{"wasm", []byte("\x00asm\x01\x00\x00\x00"), ErrWasm},
		{"ELF magic only", []byte("\x7fELF"), ErrCorrupt},
		{"UPX", append([]byte("\x7fELF\x02\x01\x01"), "....UPX!...."...), ErrPacked},
		{"PE that is none", []byte("MZ and nothing"), ErrNotGo},
		{"Mach-O that is none", []byte("\xcf\xfa\xed\xfe"), ErrNotGo},
		{"ELF without Go", tinyELF(t), ErrNotGo},
		{"gzip", []byte("\x1f\x8b\x08"), ErrNotExecutable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := inspectBytes(tt.data)
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if !strings.HasPrefix(fmt.Sprint(err), "test: ") {
				t.Errorf("the error does not start with the file's name: %v", err)
			}
			checkSane(t, p, err)
		})
	}
}

// tinyELF is a complete executable that does nothing, with no Go in it.
func tinyELF(t *testing.T) []byte {
	t.Helper()
	code := []byte{0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05} // exit(0)
	const at, head = 0x400000, 64 + 56
	b := make([]byte, head, head+len(code))
	le := binary.LittleEndian
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 2)  // executable
	le.PutUint16(b[18:], 62) // amd64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], at+head) // entry
	le.PutUint64(b[32:], 64)      // program headers
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], 1)
	le.PutUint16(b[58:], 64)
	p := b[64:]
	le.PutUint32(p, 1) // loaded
	le.PutUint32(p[4:], 5)
	le.PutUint64(p[16:], at)
	le.PutUint64(p[32:], uint64(head+len(code)))
	le.PutUint64(p[40:], uint64(head+len(code)))
	return append(b, code...)
}

// A system program is no plugin, whatever it was built with.
func TestSystemPrograms(t *testing.T) {
	for _, path := range []string{"/bin/ls", "/bin/sh", "/usr/bin/env"} {
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not here", path)
			continue
		}
		if _, err := inspectFile(t, path); err == nil {
			t.Errorf("%s is taken for a plugin", path)
		} else {
			checkSane(t, found.Plugin{}, err)
		}
	}
}

// The test's own executable is a Go program without the API.
func TestGoWithoutAPI(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs an ELF executable")
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inspectFile(t, path); !errors.Is(err, ErrNoAPI) {
		t.Errorf("%v, want %v", err, ErrNoAPI)
	}
}

// A runtime carries the API too, and is no plugin.
func TestRuntime(t *testing.T) {
	if _, err := inspectFile(t, build(t, "notaplugin", variants()[1])); !errors.Is(err, ErrRuntime) {
		t.Errorf("%v, want %v", err, ErrRuntime)
	}
}

// A 2 GB file with nothing in it, and one with a plugin in front, take neither
// time nor memory.
func TestSparse(t *testing.T) {
	plugin, err := os.ReadFile(build(t, "quiet", variants()[1]))
	if err != nil {
		t.Fatal(err)
	}
	for name, head := range map[string][]byte{"nothing": nil, "ELF": []byte("\x7fELF\x02\x01\x01"), "plugin": plugin, "one segment": hugeSegment(t)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sparse")
			if err := os.WriteFile(path, head, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 2<<30); err != nil {
				t.Skipf("cannot make a sparse file: %v", err)
			}
			before := allocated()
			p, err := inspectFile(t, path)
			if name == "plugin" {
				if err != nil || len(p.Requirements) == 0 {
					t.Errorf("%+v, %v", p.Requirements, err)
				}
			} else if err == nil {
				t.Error("taken for a plugin")
			}
			checkSane(t, p, err)
			if used := allocated() - before; used > 64<<20+uint64(len(head)) {
				t.Errorf("%d MiB were allocated", used>>20)
			}
		})
	}
}

// hugeSegment claims that the whole file is one loaded segment.
func hugeSegment(t *testing.T) []byte {
	b := tinyELF(t)
	binary.LittleEndian.PutUint64(b[64+32:], 2<<30)
	binary.LittleEndian.PutUint64(b[64+40:], 2<<30)
	return b
}

// allocated is what has been allocated since the start, freed or not.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestTruncated(t *testing.T) {
	for _, v := range []variant{variants()[0], variants()[1]} {
		data, err := os.ReadFile(build(t, "quiet", v))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := inspectBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			n := len(data) * i / 50
			p, err := inspectBytes(data[:n])
			checkSane(t, p, err)
			// Either something is said to be wrong, or nothing was lost: the
			// end of a file that is not stripped is not needed.
			if err == nil && len(p.Gaps) == 0 && len(p.Requirements) != len(whole.Requirements) {
				t.Errorf("%s cut at %d of %d: %d requirements, %d in the whole file, and no gap", v.name, n, len(data), len(p.Requirements), len(whole.Requirements))
			}
		}
	}
}

// failingReader fails at some point, as a network file system does.
type failingReader struct{ left int64 }

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.left {
		return 0, errors.New("input/output error")
	}
	n := copy(p, "\x7fELF\x02\x01\x01")
	return n, io.EOF
}

func TestReadError(t *testing.T) {
	_, err := Inspect(context.Background(), failingReader{}, 100, "x")
	if err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("%v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := os.Open(build(t, "quiet", variants()[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(ctx, f, st.Size(), "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
