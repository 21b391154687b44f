package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// Reader reads releases, and remembers what they have in common: most of the
// files of one release are those of the one before.
type Reader struct {
	libraries map[string]*Library
	found     map[string]*finding
	files     fileCache
}

// finding is what releases with the same content have in common.
type finding struct {
	report   *Report
	identity identity
}

// NewReader returns a reader that remembers nothing yet.
func NewReader() *Reader {
	return &Reader{libraries: map[string]*Library{}, found: map[string]*finding{}, files: fileCache{}}
}

// Report is what was found out about one release.
type Report struct {
	// Verdicts are those on every capability.
	Verdicts map[capability.ID]Verdict
	// Name is the name the runtime sends to plugins, VersionForm what it sends
	// as its version.
	Name, VersionForm Text
	// Settings are the defaults of the settings that the table knows, by their
	// short names.
	Settings map[string]Setting
	// Config are the keys of the NRI configuration with their defaults; of a
	// kubelet the feature gates that its code of plugins asks for and that no
	// capability is known to depend on.
	Config []Setting
}

// Text is something that was read, or the reason why it could not be.
type Text struct{ Value, At, Why string }

// Setting is a setting of the runtime in one release.
type Setting struct {
	Name string
	// Value is the default, in the sense of the short name.
	Value string
	// Key is the file, table and key of the setting with the value that the
	// table's conditions ask for.
	Key string
	At  string
	// Absent is set if the release has no such setting.
	Absent bool
	// Why says why nothing is known.
	Why string
}

// ErrNoNRI is the error for a release without an NRI socket.
var ErrNoNRI = errors.New("the release has no NRI with a socket")

// Read reads one release. The library is the tree of the NRI module that the
// release is built with; its evidence is named by the tree.
func (r *Reader) Read(t *source.Tree, runtime string, library *source.Tree) (*Report, error) {
	lib, libKey, err := r.library(library)
	if err != nil {
		return nil, err
	}
	p, err := findPlaces(t, runtime)
	if err != nil {
		return nil, err
	}
	if p.domain.Dir == "" || p.cri.Dir == "" || p.server == "" {
		return nil, fmt.Errorf("%w: no package nri, or no CRI service", ErrNoNRI)
	}
	key, err := contentKey(t, p, libKey)
	if err != nil {
		return nil, err
	}
	found := r.found[key]
	if found == nil {
		if found, err = r.read(t, p, lib); err != nil {
			return nil, err
		}
		r.found[key] = found
	}
	report := found.report.at(library)
	report.Name, report.VersionForm, err = found.identity.resolve(t)
	return report, err
}

// library reads the NRI library, once.
func (r *Reader) library(t *source.Tree) (*Library, string, error) {
	key, err := LibraryKey(t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", ErrNoNRI
	}
	if err != nil {
		return nil, "", err
	}
	if lib, ok := r.libraries[key]; ok {
		return lib, key, nil
	}
	lib, err := ReadLibrary(t)
	if err != nil {
		return nil, "", err
	}
	r.libraries[key] = lib
	return lib, key, nil
}

// extraDirs are read besides the CRI service for what it calls there.
func extraDirs() []string { return []string{"internal/lib", "internal/factory/container"} }

// contentKey names the content of everything of a release that decides what
// is found in it.
func contentKey(t *source.Tree, p places, libKey string) (string, error) {
	key := libKey + p.runtime
	dirs := append([]string{p.domain.Dir, p.cri.Dir, p.server, p.options, p.wrapped.Dir}, p.config...)
	for _, dir := range append(append(dirs, extraDirs()...), registrationDirs()...) {
		if dir == "" {
			continue
		}
		files, err := source.Selection{Dir: dir}.Key(t)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		key += "\n" + files
	}
	return key, nil
}

// read reads a release that is like no other before.
func (r *Reader) read(t *source.Tree, p places, lib *Library) (*finding, error) {
	g, err := readGlue(t, p, lib)
	if err != nil {
		return nil, err
	}
	s, err := readServer(t, p.server, extraDirs(), r.files)
	if err != nil {
		return nil, err
	}
	s.layer = g.declaration()
	s.unread = append(s.unread, append(g.cri.Unread, g.domain.Unread...)...)
	c, err := readConfigs(t, p, s, lib)
	if err != nil {
		return nil, err
	}
	set, keys, err := settings(t, c)
	if err != nil {
		return nil, err
	}
	return &finding{&Report{Verdicts: decide(lib, g, s, c), Settings: set, Config: keys}, g.identityOf()}, nil
}

// decide puts the verdicts of all places together.
func decide(lib *Library, g *glue, s *server, c *configs) map[capability.ID]Verdict {
	relays, unclear := g.relays()
	out := merge(lib.verdicts, g.adjusts(), g.updates(s, c), g.inputs(c, s), s.events(relays, unclear, lib))
	out[capability.InputPodUpdateResources] = all(
		out[capability.EventUpdatePodSandbox],
		g.field("UpdatePodSandboxRequest.LinuxResources"),
	).plain()
	out[capability.ProtoNRISocket] = g.startsSocket()
	out[capability.ProtoPluginSyncBlock] = s.anyRelay("BlockPluginSync")
	out[capability.ProtoDefaultValidator] = c.defaultValidator()
	for _, id := range capability.OfFamily(capability.NRI) {
		if _, ok := out[id]; !ok {
			out[id] = unknown("no probe is about it")
		}
	}
	return out
}

// plain is a verdict without an effect of its own: what happens is what the
// catalogue says.
func (v Verdict) plain() Verdict {
	if v.State == capability.No {
		v.Effect = capability.NoEffect
	}
	return v
}

// at returns the report with evidence in the library named by where it lies.
func (r *Report) at(library *source.Tree) *Report {
	out := *r
	out.Verdicts = make(map[capability.ID]Verdict, len(r.Verdicts))
	for id, v := range r.Verdicts {
		files := make([]string, len(v.Files))
		for i, f := range v.Files {
			files[i] = f
			if rest, ok := strings.CutPrefix(f, libraryMark); ok {
				files[i] = library.Path(rest)
			}
		}
		v.Files = files
		out.Verdicts[id] = v.trim(3)
	}
	return &out
}
