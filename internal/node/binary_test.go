package node

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDescribe(t *testing.T) {
	k3s := `path	github.com/k3s-io/k3s/cmd/server
mod	github.com/k3s-io/k3s	v1.32.9+k3s1
dep	github.com/containerd/containerd/v2	v2.1.4
=>	github.com/k3s-io/containerd/v2	v2.1.4-k3s1	
dep	github.com/containerd/nri	v0.8.0
build	vcs.revision=aaaa
`
	tests := map[string]struct {
		info    string // as shown by "go version -m"
		content string // of the executable
		want    Binary
		version string
		err     string
	}{
		"upstream containerd, stamped": {
			info: `path	github.com/containerd/containerd/v2/cmd/containerd
mod	github.com/containerd/containerd/v2	(devel)
dep	github.com/containerd/nri	v0.8.0
build	-ldflags="-X github.com/containerd/containerd/v2/version.Version=v2.1.3 -X github.com/containerd/containerd/v2/version.Revision=abc -X github.com/containerd/containerd/v2/version.Package=github.com/containerd/containerd/v2 "
build	vcs.revision=c787fb98911740dd3ff2d0e45ce88cdf01410486
build	vcs.modified=false
`,
			want: Binary{Runtime: "containerd", Program: "containerd", Stamped: "v2.1.3",
				Module: Module{Path: "github.com/containerd/containerd/v2"}, NRI: Module{nriModule, "v0.8.0"},
				Revision: "c787fb98911740dd3ff2d0e45ce88cdf01410486"},
			version: "v2.1.3",
		},
		"upstream containerd of the first major version": {
			info: `path	github.com/containerd/containerd/cmd/containerd
mod	github.com/containerd/containerd	v1.7.27+dirty
dep	github.com/containerd/nri	v0.8.0
build	vcs.modified=true
`,
			want: Binary{Runtime: "containerd", Program: "containerd", Modified: true,
				Module: Module{"github.com/containerd/containerd", "v1.7.27+dirty"}, NRI: Module{nriModule, "v0.8.0"}},
			version: "v1.7.27+dirty",
		},
		"built as a dependency": {
			info: `path	github.com/containerd/containerd/v2/cmd/containerd
mod	example.com/tools	(devel)
dep	github.com/containerd/containerd/v2	v2.4.2
dep	github.com/containerd/nri	v0.12.3
build	vcs.revision=not-of-containerd
`,
			want: Binary{Runtime: "containerd", Program: "containerd",
				Module: Module{"github.com/containerd/containerd/v2", "v2.4.2"}, NRI: Module{nriModule, "v0.12.3"}},
			version: "v2.4.2",
		},
		"embedded in k3s": {
			info:    k3s,
			content: "\x00github.com/containerd/containerd/v2/cmd/containerd/command.App\x00",
			want: Binary{Runtime: "containerd", Program: "k3s", Fork: true,
				Module:   Module{"github.com/k3s-io/containerd/v2", "v2.1.4-k3s1"},
				Replaces: Module{"github.com/containerd/containerd/v2", "v2.1.4"}, NRI: Module{nriModule, "v0.8.0"}},
			version: "v2.1.4-k3s1",
		},
		"the same modules without the daemon": {info: k3s, content: "client only", err: "neither containerd nor CRI-O"},
		"fork with a path of its own": {
			info: `path	github.com/k3s-io/containerd/v2/cmd/containerd
mod	github.com/k3s-io/containerd/v2	v2.0.5-k3s1.32
dep	github.com/containerd/nri	v0.8.0
=>	github.com/example/nri	v0.8.1-fix	
`,
			want: Binary{Runtime: "containerd", Program: "containerd", Fork: true,
				Module: Module{"github.com/k3s-io/containerd/v2", "v2.0.5-k3s1.32"},
				NRI:    Module{"github.com/example/nri", "v0.8.1-fix"}, NRIReplaces: Module{nriModule, "v0.8.0"}},
			version: "v2.0.5-k3s1.32",
		},
		"NRI from a directory": {
			info: `path	github.com/containerd/containerd/v2/cmd/containerd
mod	github.com/containerd/containerd/v2	v2.4.2
dep	github.com/containerd/nri	v0.12.3
=>	./nri	(devel)	
`,
			want: Binary{Runtime: "containerd", Program: "containerd",
				Module: Module{"github.com/containerd/containerd/v2", "v2.4.2"},
				NRI:    Module{Path: "./nri"}, NRIReplaces: Module{nriModule, "v0.12.3"}},
			version: "v2.4.2",
		},
		"CRI-O": {
			info: `path	github.com/cri-o/cri-o/cmd/crio
mod	github.com/cri-o/cri-o	v0.0.0-20250909101112-abcdefabcdef
dep	github.com/containerd/containerd	v1.7.28
dep	github.com/containerd/nri	v0.9.1-0.20250219030224-e597e7849f24
`,
			want: Binary{Runtime: "cri-o", Program: "crio",
				Module: Module{"github.com/cri-o/cri-o", "v0.0.0-20250909101112-abcdefabcdef"},
				NRI:    Module{nriModule, "v0.9.1-0.20250219030224-e597e7849f24"}},
			version: "", // The time of a commit is no release.
		},
		"built without modules": {
			info: "path\tgithub.com/containerd/containerd/cmd/containerd\nbuild\t-ldflags=\"-X=github.com/containerd/containerd/version.Version=1.7.24~ds1 -X github.com/containerd/containerd/version.Package=github.com/containerd/containerd\"\n",
			want: Binary{Runtime: "containerd", Program: "containerd", Stamped: "1.7.24~ds1",
				Module: Module{Path: "github.com/containerd/containerd"}},
			version: "1.7.24~ds1",
		},
		"no NRI": {
			info: "path\tgithub.com/containerd/containerd/cmd/containerd\nmod\tgithub.com/containerd/containerd\tv1.5.0\n",
			want: Binary{Runtime: "containerd", Program: "containerd", Module: Module{"github.com/containerd/containerd", "v1.5.0"}},

			version: "v1.5.0",
		},
		"a client": {
			info: "path\tgithub.com/containerd/nerdctl/v2/cmd/nerdctl\nmod\tgithub.com/containerd/nerdctl/v2\tv2.1.0\ndep\tgithub.com/containerd/containerd/v2\tv2.1.0\n",
			err:  `neither containerd nor CRI-O (its main package is "github.com/containerd/nerdctl/v2/cmd/nerdctl")`,
		},
		"the command line client": {
			info: "path\tgithub.com/containerd/containerd/v2/cmd/ctr\nmod\tgithub.com/containerd/containerd/v2\tv2.1.0\n",
			err:  "neither containerd nor CRI-O",
		},
		"something called containerd": {
			info:    "path\texample.com/x\nmod\texample.com/x\tv1.0.0\ndep\texample.com/containerd\tv9.9.9\n",
			content: "example.com/containerd/cmd/containerd/",
			err:     "neither containerd nor CRI-O",
		},
		"nothing": {err: "neither containerd nor CRI-O"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			info, err := debug.ParseBuildInfo(test.info)
			if err != nil {
				t.Fatal(err)
			}
			got, err := describe(info, strings.NewReader(test.content), int64(len(test.content)))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%+v, error %v, want %q", got, err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if v := got.Version(); v != test.version {
				t.Errorf("version %q, want %q", v, test.version)
			}
		})
	}
}

func TestInspectBinaryErrors(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		self:                               "neither containerd nor CRI-O",
		text:                               "no Go program with build information",
		t.TempDir():                        "is no regular file",
		filepath.Join(t.TempDir(), "none"): "no such file",
	} {
		if _, err := InspectBinary(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

func TestContains(t *testing.T) {
	const text = "github.com/containerd/containerd/v2/cmd/containerd/"
	for _, at := range []int{0, 10, 1<<20 - 20, 1 << 20, 1<<20 - len(text), 2<<20 + 5} {
		b := append(make([]byte, at), text...)
		for _, more := range []int{0, 1, 1 << 20} {
			whole := append(bytes.Clone(b), make([]byte, more)...)
			if !contains(bytes.NewReader(whole), int64(len(whole)), text) {
				t.Errorf("not found at %d with %d behind", at, more)
			}
		}
		cut := b[:len(b)-1]
		if contains(bytes.NewReader(cut), int64(len(cut)), text) {
			t.Errorf("found what ends at %d", at)
		}
	}
}

// patched is an executable with some bytes replaced and, if cut is above zero, an
// end.
type patched struct {
	r     io.ReaderAt
	at    int64
	patch []byte
	cut   int64
}

func (p patched) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.r.ReadAt(b, off)
	if p.cut > 0 && off+int64(n) > p.cut {
		n, err = int(max(p.cut-off, 0)), io.EOF
	}
	for i, c := range p.patch {
		if at := p.at + int64(i) - off; at >= 0 && at < int64(n) {
			b[at] = c
		}
	}
	return n, err
}

// FuzzInspect proves that a damaged executable is never taken for a runtime that
// it is not: this one is none.
func FuzzInspect(f *testing.F) {
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	file, err := os.Open(self)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { file.Close() })
	info, err := file.Stat()
	if err != nil {
		f.Fatal(err)
	}
	size := info.Size()
	f.Add(int64(0), []byte("MZ"), int64(0))
	f.Add(int64(0x3e), []byte{0xff, 0xff}, int64(0))
	f.Add(int64(0), []byte(nil), int64(100))
	f.Add(int64(40), []byte{0xff, 0xff, 0xff, 0x7f}, size/2)
	f.Fuzz(func(t *testing.T, at int64, patch []byte, cut int64) {
		b, err := inspect(patched{r: file, at: at, patch: patch, cut: cut}, size)
		if err == nil {
			t.Errorf("taken for %+v", b)
		}
	})
}
