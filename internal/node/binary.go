package node

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
)

// nriModule is the module of the NRI library.
const nriModule = "github.com/containerd/nri"

// Module is a Go module in a binary.
type Module struct {
	Path string
	// Version is empty if the module was built from a directory.
	Version string
}

// String gives path@version.
func (m Module) String() string {
	if m.Version == "" {
		return m.Path
	}
	return m.Path + "@" + m.Version
}

// Binary is what the build information of a runtime's executable says.
type Binary struct {
	// Path is the file that was read.
	Path string
	// Runtime is "containerd" or "cri-o".
	Runtime string
	// Program is what the executable is: "containerd", "crio", or the program
	// that has the runtime inside, such as "k3s".
	Program string
	// Module is the module that provides the runtime: the replacement if there is
	// one, such as github.com/k3s-io/containerd/v2.
	Module Module
	// Replaces is the module that the replacement stands in for; zero if none.
	Replaces Module
	// Fork tells that the code does not come from the project's own module.
	Fork bool
	// Stamped is the version that the linker was told to write into the binary,
	// which is the one that the runtime reports; empty if the build information
	// has no linker flags, as after a build with -trimpath.
	Stamped string
	// Revision is the version control revision; Modified tells of local changes.
	Revision string
	Modified bool
	// NRI is the module that provides the NRI library, the replacement if there
	// is one; NRIReplaces is as Replaces. It is zero if the build information names
	// none, which says nothing for a build without modules, as Debian's are: those
	// have no version in Module either.
	NRI         Module
	NRIReplaces Module
	// Go is the version of the toolchain, such as "go1.26.8".
	Go string
}

// Version is the best answer to which version of the runtime this is: the stamped
// one, else that of the module; empty if neither says.
func (b Binary) Version() string {
	if b.Stamped != "" {
		return b.Stamped
	}
	v := b.Module.Version
	// A build in a work tree without tags says v0.0.0 and the time of the commit.
	if base, err := module.PseudoVersionBase(v); err == nil && base == "" {
		return ""
	}
	return v
}

// InspectBinary reads the executable of a runtime on this machine. The error says
// if it is no Go program, or one without a runtime in it.
func InspectBinary(file string) (Binary, error) {
	f, err := os.Open(file)
	if err != nil {
		return Binary{}, fmt.Errorf("runtime binary: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Binary{}, fmt.Errorf("runtime binary: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Binary{}, fmt.Errorf("runtime binary: %s: is no regular file", file)
	}
	b, err := inspect(f, info.Size())
	if err != nil {
		return Binary{}, fmt.Errorf("runtime binary: %s: %w", file, err)
	}
	b.Path = file
	return b, nil
}

// inspect reads an executable.
func inspect(r io.ReaderAt, size int64) (Binary, error) {
	info, err := buildinfo.Read(r)
	if err != nil {
		return Binary{}, fmt.Errorf("no Go program with build information: %w", err)
	}
	return describe(info, r, size)
}

// describe reads the build information of an executable.
func describe(info *buildinfo.BuildInfo, r io.ReaderAt, size int64) (Binary, error) {
	b := Binary{Go: info.GoVersion}
	if err := b.identify(info, r, size); err != nil {
		return Binary{}, err
	}
	for _, dep := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if dep.Path == nriModule {
			b.NRI, b.NRIReplaces, _ = provider(dep)
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "-ldflags":
			b.Stamped = stamped(s.Value, b.Runtime)
		}
	}
	if b.Module.Path != info.Main.Path {
		// The revision is that of the main module, which is another one.
		b.Revision, b.Modified = "", false
	}
	return b, nil
}

// identify finds the runtime in a program and the module that provides it.
func (b *Binary) identify(info *buildinfo.BuildInfo, r io.ReaderAt, size int64) error {
	modules := append([]*debug.Module{&info.Main}, info.Deps...)
	for _, kind := range []struct{ runtime, program, upstream string }{
		{"containerd", "containerd", "github.com/containerd/containerd"},
		{"cri-o", "crio", "github.com/cri-o/cri-o"},
	} {
		b.Runtime, b.Program = kind.runtime, kind.program
		// The main package is the daemon's, of upstream or of a fork. Packages that
		// are built without modules, as Debian's are, list none.
		home, isDaemon := strings.CutSuffix(info.Path, "/cmd/"+kind.program)
		if prefix, _, ok := module.SplitPathVersion(home); isDaemon && ok && path.Base(prefix) == path.Base(kind.upstream) {
			b.Module = Module{Path: home}
			for _, m := range modules {
				if m.Path == home {
					b.Module, b.Replaces, b.Fork = provider(m)
				}
			}
			b.Fork = b.Fork || prefix != kind.upstream
			return nil
		}
		// Or another program contains the daemon. Many have its module for the client
		// only, so the daemon's code must be there as well.
		for _, m := range info.Deps {
			prefix, _, ok := module.SplitPathVersion(m.Path)
			if ok && prefix == kind.upstream && contains(r, size, m.Path+"/cmd/"+kind.program+"/") {
				b.Program = path.Base(info.Main.Path)
				b.Module, b.Replaces, b.Fork = provider(m)
				return nil
			}
		}
	}
	return errors.New("a Go program, but neither containerd nor CRI-O (its main package is " + quoted(info.Path) + ")")
}

// provider gives the module that really provides a package, the one that it
// replaces, and whether the two have different paths.
func provider(m *debug.Module) (real, replaces Module, fork bool) {
	version := func(m *debug.Module) Module {
		if m.Version == "(devel)" {
			return Module{Path: m.Path}
		}
		return Module{Path: m.Path, Version: m.Version}
	}
	if m.Replace == nil {
		return version(m), Module{}, false
	}
	return version(m.Replace), version(m), m.Replace.Path != m.Path
}

// stamped finds the version among linker flags: -X PACKAGE/version.Version=VALUE.
func stamped(ldflags, runtime string) string {
	re := regexp.MustCompile(`-X[ =]['"]?(\S*/version)\.Version=([^\s'"]+)`)
	name := map[string]string{"containerd": "/containerd/", "cri-o": "/cri-o/"}[runtime]
	value := ""
	for _, m := range re.FindAllStringSubmatch(ldflags, -1) {
		if strings.Contains(m[1], name) {
			value = m[2]
		}
	}
	return value
}

// contains tells whether a file contains a text, which is the path of a package
// in the names of its functions.
func contains(r io.ReaderAt, size int64, text string) bool {
	const chunk = 1 << 20
	buf := make([]byte, chunk+len(text))
	for at := int64(0); at < size; at += chunk {
		n, err := r.ReadAt(buf, at)
		if bytes.Contains(buf[:n], []byte(text)) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}
