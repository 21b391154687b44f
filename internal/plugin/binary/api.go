package binary

import (
	"bytes"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

const nriModule = "github.com/containerd/nri"

// apiTypes holds the message types of the NRI API in this program. The API is
// found by what its types are, so that a copy under another import path is
// found too; there may be several.
type apiTypes struct {
	packages []string         // import paths of the API, sorted
	names    map[rtype]string // the message types: "Container"
	pointers map[rtype]string // pointers to them, by the name of the message type
}

// findAPI finds the packages that define ContainerAdjustment, and their types.
func findAPI(ts *types) apiTypes {
	a := apiTypes{names: map[rtype]string{}, pointers: map[rtype]string{}}
	var named []rtype
	ts.all(func(p rtype) {
		if ts.kind(p) != kindPointer {
			return
		}
		t := ts.elem(p)
		if ts.kind(t) != kindStruct {
			return
		}
		if ts.isAdjustment(t) {
			if pkg := ts.pkg(t); pkg != "" && !slices.Contains(a.packages, pkg) {
				a.packages = append(a.packages, pkg)
			}
		}
		named = append(named, p)
	})
	slices.Sort(a.packages)
	if len(a.packages) == 0 {
		return a
	}
	for _, p := range named {
		t := ts.elem(p)
		pkg := ts.pkgBytes(t)
		if slices.ContainsFunc(a.packages, func(api string) bool { return string(pkg) == api }) {
			name := bareType(ts.name(t))
			a.names[t], a.pointers[p] = name, name
		}
	}
	return a
}

// isAdjustment tells whether t is a ContainerAdjustment by its name and the
// fields it has had since the first release.
func (ts *types) isAdjustment(t rtype) bool {
	want := []string{"Annotations", "Mounts", "Env", "Hooks", "Linux"}
	if ts.word(t, 64) < uint64(len(want)) || !bytes.HasSuffix(ts.nameBytes(t), []byte(".ContainerAdjustment")) {
		return false
	}
	for _, name := range want {
		if !slices.ContainsFunc(ts.fields(t), func(f field) bool { return f.name == name }) {
			return false
		}
	}
	return true
}

// bareType cuts the package off a type's name.
func bareType(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// class tells what a function belongs to.
type class byte

const (
	foreign   class = iota // the standard library, protobuf and gRPC, the runtime
	pluginOwn              // the plugin and the libraries it uses
	nriAPI                 // NRI's API package, or the plugin's copy of it
	nriOther               // another package of NRI
)

// classifier tells classes by import path.
type classifier struct {
	api  []string // import paths of the API
	nri  []string // of NRI's other packages
	main string   // path of the main module
}

func newClassifier(api apiTypes, mainModule string) classifier {
	c := classifier{api: api.packages, main: mainModule}
	for _, pkg := range append([]string{nriModule + "/pkg/api"}, api.packages...) {
		root, ok := strings.CutSuffix(pkg, "/api")
		if !ok {
			continue
		}
		// A copy may stand among the plugin's own packages, so that only the
		// names of NRI's packages count.
		for _, name := range []string{"adaptation", "adaptation/builtin", "log", "net", "net/multiplex", "plugin", "runtime-tools/generate", "stub", "version"} {
			c.nri = append(c.nri, root+"/"+name)
		}
	}
	return c
}

// class returns the class of a function with the given full name.
func (c classifier) class(name []byte) class {
	pkg, _ := splitName(name)
	return c.ofPackage(pkg)
}

// ofPackage returns the class of the functions of a package, whose import path
// is as the linker writes it.
func (c classifier) ofPackage(pkg []byte) class {
	if len(pkg) == 0 {
		return foreign
	}
	path := unescape(pkg)
	is := func(p string) bool { return p == path }
	switch {
	case slices.ContainsFunc(c.api, is):
		return nriAPI
	case slices.ContainsFunc(c.nri, is):
		return nriOther
	case path == "main", c.main != "" && under(path, c.main):
		return pluginOwn
	case strings.HasPrefix(path, "google.golang.org/"), strings.HasPrefix(path, "github.com/golang/protobuf"),
		strings.HasPrefix(path, "github.com/gogo/protobuf"), standard(pkg):
		return foreign
	}
	return pluginOwn
}

func under(path, module string) bool {
	return path == module || strings.HasPrefix(path, module) && path[len(module)] == '/'
}

// standard tells whether an import path belongs to the standard library.
func standard(path []byte) bool {
	first, _, _ := bytes.Cut(path, []byte("/"))
	switch string(first) {
	case "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug",
		"embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal",
		"io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime",
		"slices", "sort", "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode",
		"unique", "unsafe", "vendor", "weak":
		return true
	}
	// "type:.eq.T", "go:buildid" and the like are the linker's.
	return bytes.IndexByte(first, ':') >= 0
}

// splitName splits a function's full name into the import path, as the linker
// writes it, and the rest: "(*T).M", "F", "F.func1". The path is empty for a
// function of the linker.
func splitName(name []byte) (pkg, rest []byte) {
	base := name
	if i := bytes.IndexByte(base, '['); i >= 0 {
		base = base[:i]
	}
	slash := bytes.LastIndexByte(base, '/') + 1
	dot := bytes.IndexByte(base[slash:], '.')
	if dot < 0 {
		return nil, name
	}
	return name[:slash+dot], name[slash+dot+1:]
}

// The linker writes a dot in the last element of an import path as %2e.
func unescape(pkg []byte) string { return strings.ReplaceAll(string(pkg), "%2e", ".") }

func escape(pkg string) string {
	i := strings.LastIndexByte(pkg, '/') + 1
	return pkg[:i] + strings.ReplaceAll(pkg[i:], ".", "%2e")
}

// apiSymbol returns the symbol that a function of an NRI package stands for;
// rest is its name without the import path.
func apiSymbol(c class, pkg string, rest []byte) (symbols.Symbol, bool) {
	name := strings.TrimSuffix(string(rest), "-fm") // a method value's wrapper
	if c == nriAPI {
		return symbols.Lookup("api." + name)
	}
	if strings.HasSuffix(pkg, "/stub") {
		return symbols.Lookup("stub." + name)
	}
	return symbols.Symbol{}, false
}
