// Package rows turns what probes found into the rows of the table: it compares
// them with the rows that are there, says what would change, and writes a new
// table file. What probes cannot know, such as pull requests, bugs and notes,
// is kept.
package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Document is a whole table file.
type Document struct {
	SchemaVersion int                 `json:"schemaVersion"`
	Version       string              `json:"version"`
	Origins       []inference.Origin  `json:"origins"`
	Releases      []inference.Release `json:"releases"`
	Settings      []inference.Default `json:"settings"`
	Bugs          []inference.Bug     `json:"bugs"`
	Notes         []inference.Note    `json:"notes"`
	Changes       []inference.Change  `json:"changes"`
	Ranges        []inference.Range   `json:"ranges"`
}

// Read reads a table file, which must be a whole and correct one.
func Read(file string) (*Document, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if problems := inference.Verify(bytes.NewReader(data), file); len(problems) > 0 {
		return nil, problems[0]
	}
	d := &Document{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(d.Origins) == 0 {
		return nil, fmt.Errorf("%s: it has no origins: an overlay cannot be generated", file)
	}
	return d, nil
}

// Text returns the document in canonical form, after checking it.
func (d *Document) Text() ([]byte, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	text, err := inference.Canonical(bytes.NewReader(data), "the new table")
	if err != nil {
		return nil, err
	}
	if problems := inference.Verify(bytes.NewReader(text), "the new table"); len(problems) > 0 {
		return nil, problems[0]
	}
	return text, nil
}

// Write writes the document to a file. The file is replaced as a whole: an
// interrupted run leaves the old one.
func (d *Document) Write(file string) error {
	text, err := d.Text()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // in vain after the rename
	_, err = temporary.Write(text)
	for _, step := range []func() error{
		func() error { return temporary.Chmod(mode) },
		temporary.Sync,
		temporary.Close,
	} {
		if err2 := step(); err == nil {
			err = err2
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}

// First returns the first release of a runtime that has an NRI socket.
func (d *Document) First(runtime string) inference.Version {
	for _, o := range d.Origins {
		if o.Runtime == runtime {
			return o.First
		}
	}
	return inference.Version{}
}

// Versions returns the releases of a runtime that the table has, in its order.
func (d *Document) Versions(runtime string) []inference.Version {
	var out []inference.Version
	for _, r := range d.Releases {
		if r.Runtime == runtime {
			out = append(out, r.Version)
		}
	}
	return out
}

// release returns the row of a release, nil if there is none.
func (d *Document) release(runtime string, v inference.Version) *inference.Release {
	for i := range d.Releases {
		if d.Releases[i].Runtime == runtime && d.Releases[i].Version == v {
			return &d.Releases[i]
		}
	}
	return nil
}

// cellKey is one capability of one release.
type cellKey struct {
	runtime string
	version inference.Version
	id      capability.ID
}

// cells spreads the ranges out: what holds for every capability of every release.
func (d *Document) cells() map[cellKey]*inference.Range {
	type lineKey struct {
		runtime, line string
		id            capability.ID
	}
	byLine := map[lineKey][]*inference.Range{}
	for i := range d.Ranges {
		r := &d.Ranges[i]
		k := lineKey{r.Runtime, r.Line, r.Capability}
		byLine[k] = append(byLine[k], r)
	}
	out := map[cellKey]*inference.Range{}
	for _, rel := range d.Releases {
		for _, id := range inference.CapabilitiesOf(rel.Runtime) {
			for _, r := range byLine[lineKey{rel.Runtime, rel.Version.Line(), id}] {
				if r.From.Compare(rel.Version) <= 0 {
					out[cellKey{rel.Runtime, rel.Version, id}] = r
				}
			}
		}
	}
	return out
}

func sortReleases(releases []inference.Release) {
	slices.SortFunc(releases, func(a, b inference.Release) int {
		if a.Runtime != b.Runtime {
			return bytes.Compare([]byte(a.Runtime), []byte(b.Runtime))
		}
		return a.Version.Compare(b.Version)
	})
}
