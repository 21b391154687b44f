package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// maxImports bounds how many files a configuration may be made of.
const maxImports = 256

// The plugins of containerd that matter here, by their URI.
const (
	uriNRI   = "io.containerd.nri.v1.nri"
	uriCRI   = "io.containerd.grpc.v1.cri" // up to configuration version 2
	uriCRIv3 = "io.containerd.cri.v1.runtime"
	uriTasks = "io.containerd.service.v1.tasks-service"
)

// ConfigOptions say how a configuration is read.
type ConfigOptions struct {
	// Runtime is "containerd", "cri-o" or "kubelet". Empty means that the file tells.
	Runtime string
	// Major is the major version of the containerd release that reads the file,
	// 1 or 2; 0 if it is not known. What the two read differently is then
	// [Setting.Ambiguous].
	Major int
}

// containerdFile is a file of a containerd configuration.
type containerdFile struct {
	document
	version int // as written; 0 if not
}

// uris maps the sections of the settings to the tables in which a release looks
// for them, the one that counts most first.
func (f containerdFile) uris(section string, major int) []string {
	old := f.version < 2
	switch {
	case section == "nri" && old && major == 1:
		return []string{"nri"}
	case section == "nri":
		return []string{uriNRI}
	case section == "tasks" && old && major == 1:
		return []string{"tasks-service"}
	case section == "tasks" && old:
		return []string{uriTasks, "tasks-service"}
	case section == "tasks":
		return []string{uriTasks}
	case old && major == 1:
		return []string{"cri"}
	case old:
		return []string{uriCRIv3, uriCRI, "cri"}
	case major == 1:
		return []string{uriCRI}
	case f.version == 2:
		return []string{uriCRIv3, uriCRI}
	}
	return []string{uriCRIv3}
}

// readContainerd reads a containerd configuration that starts with a file, and
// everything it imports. A first file that is not there is an fs.ErrNotExist.
func (h Host) readContainerd(file string, major int) (Config, error) {
	files, err := h.containerdFiles(file)
	if err != nil {
		return Config{}, err
	}
	c := Config{Runtime: "containerd", Version: max(files[0].version, 1)}
	for _, f := range files {
		c.Files = append(c.Files, f.file)
	}
	reader := major
	if reader == 0 {
		reader = 2
	}
	c.Settings, c.Notes, err = reading{files, reader}.settings()
	if err != nil || major != 0 || c.Version > 2 {
		return c, err // Only containerd 2 starts with a version above 2.
	}
	old, notes, err := reading{files, 1}.settings()
	if err != nil {
		return c, fmt.Errorf("%w (as containerd 1.x reads it)", err)
	}
	c.Notes = append(c.Notes, notes...)
	for i := range c.Settings {
		if c.Settings[i].Ambiguous == "" {
			c.Settings[i].Ambiguous = disagreement(old[i], c.Settings[i])
		}
	}
	return c, nil
}

// disagreement tells how containerd 1 and 2 read a setting differently; empty if
// they do not.
func disagreement(one, two Setting) string {
	if one.Set == two.Set && one.Value == two.Value {
		return ""
	}
	reads := func(s Setting) string {
		if !s.Set {
			return "nothing"
		}
		return strconv.Quote(s.Value)
	}
	return fmt.Sprintf("containerd 1.x reads %s, containerd 2.x reads %s", reads(one), reads(two))
}

// containerdFiles reads a file and those it imports, in the order in which later
// ones override earlier ones: breadth first, each file once.
func (h Host) containerdFiles(first string) ([]containerdFile, error) {
	var files []containerdFile
	loaded := map[string]bool{}
	for pending := []string{first}; len(pending) > 0; pending = pending[1:] {
		file := pending[0]
		if loaded[file] {
			continue
		}
		loaded[file] = true
		if len(files) == maxImports {
			return nil, fmt.Errorf("configuration: %s: imports more than %d files", first, maxImports)
		}
		d, err := h.readDocument(file)
		if err != nil {
			if len(files) > 0 && errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("configuration: %s: imported file %s does not exist: containerd does not start", first, file)
			}
			return nil, err
		}
		f := containerdFile{document: d}
		if e, ok := d.lookup("version"); ok {
			v, isInt := e.value.(int64)
			if !isInt || v < 0 || v > 1000 {
				return nil, fmt.Errorf("configuration: %s:%d: version is %s, must be a small number", file, e.line, quoted(e.value))
			}
			f.version = int(v)
		}
		files = append(files, f)
		imports, err := h.imports(d)
		if err != nil {
			return nil, err
		}
		pending = append(pending, imports...)
	}
	return files, nil
}

// imports gives the files that a file imports.
func (h Host) imports(d document) ([]string, error) {
	e, ok := d.lookup("imports")
	if !ok {
		return nil, nil
	}
	patterns, ok := stringsOf(e.value)
	if !ok {
		return nil, fmt.Errorf("configuration: %s:%d: imports is %s, must be a list of strings", d.file, e.line, quoted(e.value))
	}
	var files []string
	for _, pattern := range patterns {
		if !path.IsAbs(pattern) {
			pattern = path.Join(path.Dir(d.file), pattern)
		}
		pattern = path.Clean(pattern)
		if !strings.Contains(pattern, "*") {
			files = append(files, pattern)
			continue
		}
		// Glob takes a directory that it cannot read for an empty one.
		if _, err := os.ReadDir(h.path(path.Dir(pattern))); err != nil && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(path.Dir(pattern), "*") {
			return nil, fmt.Errorf("configuration: %s:%d: imports: %w", d.file, e.line, err)
		}
		matches, err := filepath.Glob(h.path(pattern))
		if err != nil {
			return nil, fmt.Errorf("configuration: %s:%d: imports: %q: %w", d.file, e.line, pattern, err)
		}
		for _, m := range matches {
			if h.Root != "" {
				m = path.Join("/", strings.TrimPrefix(m, filepath.Clean(h.Root)))
			}
			files = append(files, m)
		}
	}
	return files, nil
}
