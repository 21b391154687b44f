package gomod

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FindImport returns the first place, as "file:line", at which the Go code of
// the module in a directory imports a package of another module; empty if it
// does so nowhere. Files of every platform, and tests, count. A file that
// cannot be read or parsed is an error: it might be the one.
func FindImport(ctx context.Context, dir, module string) (string, error) {
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if d.IsDir() {
			if path != dir && skipped(path, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(d.Name(), ".go") || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") || !d.Type().IsRegular() {
			return nil
		}
		if found, err = importIn(path, module); err != nil || found == "" {
			return err
		}
		return fs.SkipAll
	})
	if err != nil {
		return "", err
	}
	return found, nil
}

// skipped tells whether the go command would not look for packages of the
// module in a directory.
func skipped(path, name string) bool {
	if name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Lstat(filepath.Join(path, "go.mod"))
	return err == nil // another module
}

func importIn(path, module string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ImportsOnly)
	if err != nil {
		return "", fmt.Errorf("read imports: %w", err)
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (imported == module || strings.HasPrefix(imported, module+"/")) {
			return fmt.Sprintf("%s:%d", path, set.Position(spec.Pos()).Line), nil
		}
	}
	return "", nil
}
