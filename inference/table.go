package inference

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/nri-compat/nri-compat/capability"
)

//go:embed table.json
var builtinJSON []byte

// SchemaVersion is the version of the table's form that this package reads.
const SchemaVersion = 1

// Table is what is known of all releases. It is safe for concurrent use and
// never changes; [Table.Overlay] returns a new one.
type Table struct {
	version  string
	origin   string
	sum      func() string
	rows     sections
	releases map[releaseKey]*Release
	lines    map[string][]releaseLine // by runtime, oldest first
	ranges   rangeSource
}

// releaseLine is a release line with its rows, oldest first.
type releaseLine struct {
	name string
	rows []*Release
}

// released returns the rows that are no pre-releases.
func (l releaseLine) released() []*Release {
	return slices.DeleteFunc(slices.Clone(l.rows), func(r *Release) bool { return r.Version.Prerelease() })
}

// sections are the parts of a table file that are small enough to be decoded
// whenever the table is used.
type sections struct {
	Origins  []Origin  `json:"origins"`
	Releases []Release `json:"releases"`
	Settings []Default `json:"settings"`
	Bugs     []Bug     `json:"bugs"`
	Notes    []Note    `json:"notes"`
	Changes  []Change  `json:"changes"`
}

// Origin tells where a runtime's NRI begins.
type Origin struct {
	Runtime string `json:"runtime"`
	// First is the first release with an NRI socket; releases before it can
	// run no NRI plugin at all, and Why says so in words.
	First Version `json:"first"`
	Why   string  `json:"why"`
}

// Release is one row: the facts about one release.
type Release struct {
	Runtime string  `json:"runtime"`
	Version Version `json:"version"`
	// Date is the day of the tag, YYYY-MM-DD.
	Date string `json:"date"`
	// NRI is the version of the NRI library it vendors, with "v"; from go.mod at
	// the tag, pseudo-versions included; empty for a kubelet, which has none.
	NRI string `json:"nri,omitempty"`
	// Name is the runtime name it sends to plugins in upstream's own build; empty
	// for a kubelet.
	Name string `json:"name,omitempty"`
	// NRIEnabled tells whether NRI is on in its default configuration.
	NRIEnabled bool `json:"nriEnabled"`
	// Executed is set if real containers were run under this very release to
	// check its row; all rows were read from the source.
	Executed bool `json:"executed,omitempty"`
	// Because says why a vendor's row differs from the upstream release; only in
	// overlays.
	Because string `json:"because,omitempty"`
}

// Default is the default of a setting from one release on.
type Default struct {
	// Setting is the short name, such as "cri.enable_cdi".
	Setting string  `json:"name"`
	Runtime string  `json:"runtime"`
	From    Version `json:"from"`
	// Value is the default; empty for a setting that is not set.
	Value string `json:"default"`
	// Key is the file, table and key in which it is changed, with the value that
	// the table's conditions ask for.
	Key string `json:"key"`
}

// Bug is a known bug of a runtime that a plugin can hit.
type Bug struct {
	ID       string `json:"id"`
	Runtime  string `json:"runtime"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
	// Ref names the issue or the pull request that fixes it; may be empty.
	Ref string `json:"ref,omitempty"`
	// Touches are the capabilities whose users can hit it.
	Touches []capability.ID `json:"touches"`
	// AnyPlugin is set if any plugin can hit it, whatever it uses.
	AnyPlugin bool `json:"anyPlugin,omitempty"`
	// Affected are the releases it is in.
	Affected []Affected `json:"affected"`
}

// Affected is a run of releases of one line that have a bug.
type Affected struct {
	Line string  `json:"line"`
	From Version `json:"from"`
	// Fixed is the first release without it; zero if the line has none.
	Fixed Version `json:"fixed,omitzero"`
}

// Note is a remark on a capability of one runtime.
type Note struct {
	Capability capability.ID `json:"capability"`
	Runtime    string        `json:"runtime"`
	Text       string        `json:"text"`
}

// Change says why a row of a release that was already published was changed.
type Change struct {
	Date     string `json:"date"`
	Releases string `json:"releases"`
	Because  string `json:"because"`
}

// Range is a run of releases of one line that treat a capability alike. It
// reaches to the next range of the same line, or to the line's newest release;
// callers must not change one.
type Range struct {
	Capability capability.ID `json:"capability"`
	Runtime    string        `json:"runtime"`
	Line       string        `json:"line"`
	From       Version       `json:"from"`
	// To is the last release of the run; only in overlays, which put a run into
	// a line.
	To    Version          `json:"to,omitzero"`
	State capability.State `json:"state"`
	// When is the condition of a conditional state, such as "cri.enable_cdi=true".
	When string `json:"when,omitempty"`
	// Effect is what happens when the capability is used, if it is not the one
	// the catalogue names.
	Effect capability.Effect `json:"effect,omitempty"`
	Source
	// Because says why a vendor's range differs; only in overlays.
	Because string `json:"because,omitempty"`

	tail []byte // the text of Source, not decoded yet; nil if Source holds
}

// Source is where a range was read.
type Source struct {
	// Ref names the pull request that brought the state about.
	Ref string `json:"ref,omitempty"`
	// Files are "file:line" at the tag of release At, or of the range's first
	// release if At is zero.
	Files []string `json:"files,omitempty"`
	At    Version  `json:"at,omitzero"`
}

type releaseKey struct {
	runtime string
	version Version
}

// rangeSource finds ranges. The built-in table reads them line by line out of
// its text, so that one answer does not cost the decoding of all of them.
type rangeSource interface {
	// ranges returns the ranges of one capability of one runtime, in the order
	// of their releases; of one line only, if line is not empty.
	ranges(id capability.ID, runtime, line string) []Range
}

// Builtin returns the table that is part of the program.
var Builtin = sync.OnceValue(func() *Table {
	head, ranges, ok := splitRanges(builtinJSON)
	t := &Table{
		origin: "builtin",
		sum:    sync.OnceValue(func() string { return digest(builtinJSON) }),
		ranges: textRanges{ranges, new(sync.Map)},
	}
	var doc struct {
		SchemaVersion int    `json:"schemaVersion"`
		Version       string `json:"version"`
		sections
	}
	if err := json.Unmarshal(head, &doc); err != nil || !ok {
		// The file is part of the program and tested; a build that passed its tests cannot get here.
		panic(fmt.Sprintf("inference: embedded table: %v", err))
	}
	t.version, t.rows = doc.Version, doc.sections
	t.index()
	return t
})

func (t *Table) index() {
	t.releases = make(map[releaseKey]*Release, len(t.rows.Releases))
	t.lines = map[string][]releaseLine{}
	for i := range t.rows.Releases {
		r := &t.rows.Releases[i]
		t.releases[releaseKey{r.Runtime, r.Version}] = r
		lines := t.lines[r.Runtime]
		if n := len(lines); n == 0 || !sameLine(lines[n-1].rows[0].Version, r.Version) {
			lines = append(lines, releaseLine{name: r.Version.Line()})
		}
		last := &lines[len(lines)-1]
		last.rows = append(last.rows, r)
		t.lines[r.Runtime] = lines
	}
}

// line returns a release line of a runtime; its rows are nil if there is none.
func (t *Table) line(runtime, name string) releaseLine {
	for _, l := range t.lines[runtime] {
		if l.name == name {
			return l
		}
	}
	return releaseLine{name: name}
}

// Version is the day of the table's data, YYYY-MM-DD.
func (t *Table) Version() string { return t.version }

// Origin tells which table it is: "builtin", or "builtin+FILE" with an overlay.
func (t *Table) Origin() string { return t.origin }

// SHA256 is the digest of the table's text in hexadecimal, of the overlay's
// text appended for a table with one.
func (t *Table) SHA256() string { return t.sum() }

// Origins returns where each runtime's NRI begins.
func (t *Table) Origins() []Origin { return slices.Clone(t.rows.Origins) }

// Releases returns the rows of one runtime, oldest version first; of all
// runtimes if the name is empty.
func (t *Table) Releases(runtime string) []Release {
	var out []Release
	for _, r := range t.rows.Releases {
		if runtime == "" || r.Runtime == runtime {
			out = append(out, r)
		}
	}
	return out
}

// Lines returns the release lines of a runtime, oldest first.
func (t *Table) Lines(runtime string) []string {
	var names []string
	for _, l := range t.lines[runtime] {
		names = append(names, l.name)
	}
	return names
}

// Release returns the row of a release, false if the table has none.
func (t *Table) Release(runtime string, v Version) (Release, bool) {
	r, ok := t.releases[releaseKey{runtime, v}]
	if !ok {
		return Release{}, false
	}
	return *r, true
}

// Settings returns the defaults of all settings, by runtime and release.
func (t *Table) Settings() []Default { return slices.Clone(t.rows.Settings) }

// Changes returns why rows of published releases were changed.
func (t *Table) Changes() []Change { return slices.Clone(t.rows.Changes) }

// Ranges returns how one capability fares in one runtime, oldest release first.
func (t *Table) Ranges(id capability.ID, runtime string) []Range {
	return t.ranges.ranges(id, runtime, "")
}

// Note returns the remark on a capability of a runtime, empty if there is none.
func (t *Table) Note(id capability.ID, runtime string) string {
	for _, n := range t.rows.Notes {
		if n.Capability == id && n.Runtime == runtime {
			return n.Text
		}
	}
	return ""
}

// cell returns the range that holds for a release of the table.
func (t *Table) cell(id capability.ID, runtime string, v Version) (Range, bool) {
	return latest(t.ranges.ranges(id, runtime, v.Line()), v)
}

// latest returns the last of the ranges of a line that reaches v.
func latest(ranges []Range, v Version) (found Range, ok bool) {
	for _, r := range ranges {
		if r.From.Compare(v) <= 0 {
			found, ok = r, true
		}
	}
	return found, ok
}

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// splitRanges cuts the text of a table in canonical form into the sections
// before its ranges, closed so that they are a document, and the lines of the
// ranges.
func splitRanges(text []byte) (head []byte, ranges [][]byte, ok bool) {
	before, after, ok := bytes.Cut(text, []byte(`,`+"\n"+`"ranges":[`+"\n"))
	if !ok {
		return nil, nil, false
	}
	head = append(slices.Clip(before), '}')
	after, ok = bytes.CutSuffix(bytes.TrimRight(after, "\n"), []byte("\n]\n}"))
	return head, bytes.Split(after, []byte("\n")), ok
}
