package config

import (
	"debug/buildinfo"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	stubPackage = "github.com/containerd/nri/pkg/stub"
	nriModule   = "github.com/containerd/nri"
	// maxLooked is how many files a search looks at before it leaves it at that.
	maxLooked = 20000
)

// Find looks for the plugins of a repository: main packages that import the
// stub of the NRI library, and if there are none the Go programs in bin that
// were built with that library. It returns references as check takes them,
// sorted. Files that cannot be read are passed over: what is found is a
// beginning for a person to complete.
func Find(dir string) ([]string, error) {
	sources, err := findSources(dir)
	if err != nil || len(sources) > 0 {
		return sources, err
	}
	return findPrograms(dir)
}

func findSources(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return nil, nil
	}
	var found []string
	looked := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := d.Name(); {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil
		case d.IsDir() && name != "." && (base == "vendor" || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_'):
			return fs.SkipDir
		case looked == maxLooked:
			return fs.SkipAll
		case d.Type().IsRegular() && strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go"):
			looked++
			ref := "./" + path.Dir(name)
			if ref == "./." {
				ref = "."
			}
			if !slices.Contains(found, ref) && isPlugin(filepath.Join(dir, filepath.FromSlash(name))) {
				found = append(found, ref)
			}
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// isPlugin tells whether a file of a main package imports the stub.
func isPlugin(name string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.SkipObjectResolution)
	if err != nil || f.Name.Name != "main" {
		return false
	}
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil && p == stubPackage {
			return true
		}
	}
	return false
}

func findPrograms(dir string) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(dir, "bin"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var found []string
	for _, f := range files {
		if !f.Type().IsRegular() {
			continue
		}
		info, err := buildinfo.ReadFile(filepath.Join(dir, "bin", f.Name()))
		if err != nil {
			continue // no Go program
		}
		for _, dep := range info.Deps {
			if dep.Path == nriModule {
				found = append(found, "./bin/"+f.Name())
			}
		}
	}
	return found, err
}
