package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/rows"
)

// repository is a git repository that a test makes.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	r := &repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_AUTHOR_DATE=2027-01-02T23:30:00 -0800",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com", "GIT_COMMITTER_DATE=2027-01-02T23:30:00 -0800",
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// edit is a change of the miniature: in a file, one text is replaced.
type edit struct{ file, old, new string }

// tag commits the miniature with some edits and tags it.
func (r *repository) tag(name string, edits ...edit) {
	r.t.Helper()
	for file, text := range miniature(r.t, edits...) {
		path := filepath.Join(r.dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A", "-f")
	r.git("commit", "-q", "--allow-empty", "-m", name)
	r.git("tag", "-a", "-m", name, name)
}

func miniature(t *testing.T, edits ...edit) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/miniature.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	for _, e := range edits {
		if !strings.Contains(files[e.file], e.old) {
			t.Fatalf("%s does not contain %q", e.file, e.old)
		}
		files[e.file] = strings.Replace(files[e.file], e.old, e.new, 1)
	}
	return files
}

// object returns the file of a loose object of a path at a tag.
func (r *repository) object(tag, path string) string {
	hash := r.git("rev-parse", tag+":"+path)
	return filepath.Join(r.dir, ".git", "objects", hash[:2], hash[2:])
}

// table copies the built-in table.
func table(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../table.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "table.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func generate(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, stderr bytes.Buffer
	err = run(t.Context(), args, &out, &stderr)
	return out.String(), err
}

const (
	generator = "vendor/github.com/containerd/nri/pkg/runtime-tools/generate/generate.go"
	library   = "vendor/github.com/containerd/nri/pkg/adaptation/adaptation.go"
	layer     = "internal/cri/nri/nri_api_linux.go"
	noOptions = "options := []nrigen.GeneratorOption{}"
	injector  = `options := []nrigen.GeneratorOption{nrigen.WithCDIDeviceInjector(func([]string) error { return nil })}`
)

// gated is an injector that needs a setting.
const gated = `cdi := nrigen.WithCDIDeviceInjector(func([]string) error {
		if !a.cri.Config().EnableCDI {
			return errors.New("CDI is off")
		}
		return nil
	})
	options := []nrigen.GeneratorOption{cdi}`

// made initialises the map of sysctls.
var made = edit{library, "&api.LinuxContainerAdjustment{},", "&api.LinuxContainerAdjustment{Sysctl: map[string]string{}},"}

// TestNewReleases: what is found in releases that the table does not have, by
// line and release, a backport to an older line included.
func TestNewReleases(t *testing.T) {
	r := newRepository(t)
	r.tag("v2.8.0")
	r.tag("v2.8.1", edit{layer, noOptions, injector}) // the backport
	r.tag("v2.9.0-rc.0", made)
	r.tag("v2.9.0", made, edit{layer, noOptions, gated}, edit{"internal/nri/nri.go", "Disable: true", "Disable: false"})
	r.tag("v1.6.0") // before NRI
	r.tag("api/v1.9.0")
	file := table(t)

	out, err := generate(t, "-containerd", r.dir, "-table", file)
	if !errors.Is(err, errDiffers) {
		t.Fatalf("%v, want a difference", err)
	}
	for _, want := range []string{
		`containerd 2.9.0, 2027-01-02: NRI v0.10.0, reports the name "containerd", NRI on by default`,
		`containerd 2.8.1 differs from 2.8.0:`,
		`ADJUST_CDI_DEVICES: no → yes`,
		`containerd 2.9 is a new line: add it to "affected" of the bugs that it has.`,
		"0 cells compared",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if strings.Contains(out, "1.6.0") || strings.Contains(out, "1.9.0") {
		t.Error("what is no release with NRI was read")
	}

	// New releases lose what older ones have, so a reason is asked for.
	_, err = generate(t, "-containerd", r.dir, "-table", file, "-write")
	if err == nil || !strings.Contains(err.Error(), "containerd 2.8.0: ADJUST_") || !strings.Contains(err.Error(), "-because") {
		t.Errorf("losing capabilities without a reason: %v", err)
	}
	if _, err := generate(t, "-containerd", r.dir, "-table", file, "-write", "-because", "it is a miniature", "-date", "2027-01-03"); err != nil {
		t.Fatal(err)
	}
	d, err := rows.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ id, version, state, when, effect string }{
		{"ADJUST_ENV", "2.8.0", "yes", "", "none"},
		{"ADJUST_ENV_REMOVAL", "2.8.0", "no", "", "none"},
		{"ADJUST_LINUX_SYSCTL", "2.8.0", "harmful", "", "crash"},
		{"ADJUST_LINUX_SYSCTL", "2.9.0-rc.0", "yes", "", "none"},
		{"ADJUST_MOUNTS", "2.9.0", "no", "", "none"},
		{"ADJUST_CDI_DEVICES", "2.8.0", "no", "", "none"},
		{"ADJUST_CDI_DEVICES", "2.8.1", "yes", "", "none"},
		{"ADJUST_CDI_DEVICES", "2.9.0-rc.0", "no", "", "none"},
		{"ADJUST_CDI_DEVICES", "2.9.0", "conditional", "cri.enable_cdi=true", "create-error"},
		{"INPUT_CONTAINER_ENV", "2.8.0", "yes", "", "none"},
		{"INPUT_LINUX_SYSCTL", "2.8.0", "no", "", "none"}, // its getter returns nil
		{"INPUT_LINUX_CPUSET_CPUS", "2.8.0", "yes", "", "none"},
		{"INPUT_CONTAINER_MOUNTS", "2.8.0", "no", "", "none"},
		{"INPUT_SYNC_EXITED_CONTAINERS", "2.8.0", "no", "", "none"},
		{"EVENT_CREATE_CONTAINER", "2.8.0", "yes", "", "none"},
		{"EVENT_UPDATE_POD_SANDBOX", "2.8.0", "no", "", "refused"},
		{"PROTO_NRI_SOCKET", "2.8.0", "yes", "", "none"},
		// The miniature has nothing that starts plugins.
		{"PROTO_SYNCHRONIZE_PREINSTALLED", "2.8.0", "unknown", "", "none"},
		{"UPDATE_UNSOLICITED", "2.8.0", "unknown", "", "none"},
	} {
		got := cell(d, c.id, c.version)
		if got.State.String() != c.state || got.When != c.when || got.Effect.String() != c.effect {
			t.Errorf("%s of %s: %s %q %s, want %s %q %s", c.id, c.version, got.State, got.When, got.Effect, c.state, c.when, c.effect)
		}
	}
	if n := len(d.Changes); d.Changes[n-1].Date != "2027-01-03" || !strings.HasPrefix(d.Changes[n-1].Because, "it is a miniature; containerd 2.8.0: ") {
		t.Errorf("last change: %+v", d.Changes[n-1])
	}
	// Writing the same again changes nothing.
	before, _ := os.ReadFile(file)
	if out, err := generate(t, "-containerd", r.dir, "-table", file, "-write", "-release", "containerd@2.9.0"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("writing what is there changed the file")
	}
}

// cell returns what a document says of a capability of containerd.
func cell(d *rows.Document, id, version string) inference.Range {
	var v inference.Version
	if v.UnmarshalText([]byte(version)) != nil {
		panic(version)
	}
	var out inference.Range
	for _, r := range d.Ranges {
		if r.Capability.String() == id && r.Runtime == "containerd" && r.Line == v.Line() && r.From.Compare(v) <= 0 {
			out = r
		}
	}
	return out
}

// TestLibraryOfARelease: the version of the library is that of go.mod, a
// replace included, and evidence is named by where the library lies.
func TestLibraryOfARelease(t *testing.T) {
	const required = "require github.com/containerd/nri v0.10.0"
	modules := edit{"vendor/modules.txt", "nri v0.10.0", "nri v0.9.1-0.20250219030224-e597e7849f24"}
	r := newRepository(t)
	r.tag("v2.9.0", modules, edit{"go.mod", required, "require github.com/containerd/nri v0.9.1-0.20250219030224-e597e7849f24"})
	r.tag("v2.9.1", edit{"go.mod", required, required + "\n\nreplace github.com/containerd/nri => example.com/fork/nri v0.99.0"},
		edit{"vendor/modules.txt", "nri v0.10.0", "nri v0.10.0 => example.com/fork/nri v0.99.0"})
	out, err := generate(t, "-containerd", r.dir, "-table", table(t), "-show", "-release", "containerd@2.9.0,containerd@2.9.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"containerd 2.9.0, 2027-01-02, NRI v0.9.1-0.20250219030224-e597e7849f24",
		"containerd 2.9.1, 2027-01-02, NRI v0.99.0",
		"vendor/github.com/containerd/nri/pkg/adaptation/adaptation.go:",
		`"2.9.0+unknown" if nothing is linked in`,
		`"true" by default; config.toml: [plugins."io.containerd.cri.v1.runtime"] enable_cdi = true`,
		`not decided: the function that updates a container is not where it used to be`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	for name, edits := range map[string][]edit{
		"vendor/modules.txt has NRI v0.10.0, go.mod v0.11.0": {{"go.mod", "nri v0.10.0", "nri v0.11.0"}},
		"go.mod replaces NRI by the directory third_party/nri: give the release a row by hand": {
			{"go.mod", required, required + "\n\nreplace github.com/containerd/nri => ./third_party/nri"},
		},
		"go.mod does not require github.com/containerd/nri": {{"go.mod", required, ""}},
		"no package nri, or no CRI service":                 {{"go.mod", "module example.com/runtime", "module example.com/runtime // x"}},
	} {
		r := newRepository(t)
		r.tag("v2.9.0", edits...)
		if strings.HasPrefix(name, "no package") {
			r.git("rm", "-q", "-r", "internal/nri")
			r.git("commit", "-q", "-m", "x")
			r.git("tag", "-f", "-a", "-m", "x", "v2.9.0")
		}
		if _, err := generate(t, "-containerd", r.dir, "-table", table(t)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

// TestLibraryOfTheRepository: a release that vendors nothing is joined with
// the NRI repository, at a tag or at the commit of a pseudo-version.
func TestLibraryOfTheRepository(t *testing.T) {
	nri := newRepository(t)
	const prefix = "vendor/github.com/containerd/nri/"
	for file, text := range miniature(t) {
		if rest, ok := strings.CutPrefix(file, prefix); ok {
			path := filepath.Join(nri.dir, rest)
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	nri.git("add", "-A")
	nri.git("commit", "-q", "-m", "x")
	nri.git("tag", "v0.10.0")
	hash := nri.git("rev-parse", "HEAD")[:12]
	pseudo := "v0.10.1-0.20270103073000-" + hash

	r := newRepository(t)
	for tag, version := range map[string]string{"v2.9.0": "v0.10.0", "v2.9.1": pseudo} {
		r.tag(tag, edit{"go.mod", "nri v0.10.0", "nri " + version})
		r.git("rm", "-q", "-r", "vendor")
		r.git("commit", "-q", "-m", "x")
		r.git("tag", "-f", "-a", "-m", "x", tag)
	}
	out, err := generate(t, "-containerd", r.dir, "-nri", filepath.Join(nri.dir, ".git"), "-table", table(t), "-show")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v0.10.0", pseudo} {
		if want := "github.com/containerd/nri@" + version + "/pkg/adaptation/adaptation.go:"; !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
}

// TestUndecided: where a probe does not find what it was written for, it says
// so, and the table keeps what it has.
func TestUndecided(t *testing.T) {
	for _, test := range []struct {
		name string
		edit edit
		id   string
		want string
	}{
		{"the collection was renamed", edit{library, "func (r *result) adjust(", "func (r *result) merge("}, "ADJUST_ENV", "the function that handles ContainerAdjustment.Env is not where it used to be"},
		{"the generator was renamed", edit{generator, "func (g *Generator) Adjust(", "func (g *Generator) Apply("}, "ADJUST_ENV", "the function that handles ContainerAdjustment.Env is not where it used to be"},
		{"the last event is gone", edit{"vendor/github.com/containerd/nri/pkg/api/api.go", "Event_LAST ", "Event_END "}, "EVENT_UPDATE_POD_SANDBOX", "there is no constant Event_LAST"},
		{"nothing calls the generator", edit{layer, "nrigen.SpecGenerator(nil, options...).Adjust(adjust)", "nil"}, "ADJUST_ENV", "nothing in the CRI layer calls SpecGenerator"},
		{"options come from elsewhere", edit{layer, noOptions, "options := a.options()"}, "ADJUST_CDI_DEVICES", "an argument of SpecGenerator in API.WithContainerAdjustment is not understood"},
		{"a condition on CDI is another one", edit{layer, noOptions, strings.Replace(gated, "!a.cri.Config().EnableCDI", "a.cri.Config().EnableCDI == nil", 1)}, "ADJUST_CDI_DEVICES", "in a way that is not understood"},
		{"a getter is not found", edit{layer, "func (c *criContainer) GetEnv()", "func (c *criContainer) Environment()"}, "INPUT_CONTAINER_ENV", "Container.GetEnv is implemented by nothing that was found"},
		{"a handler is gone", edit{"internal/cri/server/container_create.go", "CreateContainer()", "Create()"}, "EVENT_CREATE_CONTAINER", "CreateContainer is not where it used to be"},
		{"a getter of a message is not found", edit{generator, "adjust.Env", "adjust.GetEnvironment()"}, "ADJUST_ENV", "Generator.Adjust uses something of ContainerAdjustment that was not found"},
		{"a file does not parse", edit{library, "func (r *result) adjustEnv", "func func"}, "ADJUST_ENV", "is not where it used to be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRepository(t)
			r.tag("v2.4.2", test.edit)
			file := table(t)
			out, _ := generate(t, "-containerd", r.dir, "-table", file)
			_, person, _ := strings.Cut(out, "For a person to decide:")
			_, part, ok := strings.Cut(person, "  "+test.id+"\n")
			first, _, _ := strings.Cut(part, "\n")
			if !ok || !strings.Contains(first, test.want) {
				t.Errorf("%s: %q, want %q", test.id, first, test.want)
			}
			if _, err := generate(t, "-containerd", r.dir, "-table", file, "-write", "-because", "a test"); err != nil {
				t.Fatal(err)
			}
			d, err := rows.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := cell(d, test.id, "2.4.2"), cell(builtin(t), test.id, "2.4.2"); got.State != want.State {
				t.Errorf("%s: what is not decided became %s, was %s", test.id, got.State, want.State)
			}
		})
	}
}

func builtin(t *testing.T) *rows.Document {
	t.Helper()
	d, err := rows.Read("../table.json")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFrozenReleases: a published release is changed only for a reason, which
// is kept.
func TestFrozenReleases(t *testing.T) {
	r := newRepository(t)
	r.tag("v2.4.2")
	file := table(t)
	before, _ := os.ReadFile(file)
	_, err := generate(t, "-containerd", r.dir, "-table", file, "-write")
	if err == nil || !strings.Contains(err.Error(), "containerd 2.4.2: rows of published releases would change: say why with -because") {
		t.Errorf("%v", err)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the refused run changed the table")
	}
	if _, err := generate(t, "-containerd", r.dir, "-table", file, "-write", "-because", "seen", "-date", "2027-01-03", "-capability", "ADJUST_MOUNTS"); err != nil {
		t.Fatal(err)
	}
	d, err := rows.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Changes); d.Changes[n-1] != (inference.Change{Date: "2027-01-03", Releases: "containerd 2.4.2", Because: "seen"}) {
		t.Errorf("last change: %+v", d.Changes[n-1])
	}
	if got := cell(d, "ADJUST_MOUNTS", "2.4.2"); got.State.String() != "no" || got.From.String() != "2.4.2" {
		t.Errorf("ADJUST_MOUNTS: %+v", got)
	}
	if got := cell(d, "ADJUST_MOUNTS", "2.4.1"); got.State.String() != "yes" {
		t.Errorf("ADJUST_MOUNTS of the release before: %+v", got)
	}
	if got := cell(d, "ADJUST_OCI_HOOKS", "2.4.2"); got.State.String() != "yes" {
		t.Errorf("a capability that was not named changed: %+v", got)
	}
}

// TestMissingAndCorruptObjects: a file whose content is not there leaves
// undecided what depends on it; a broken object ends the run.
func TestMissingAndCorruptObjects(t *testing.T) {
	r := newRepository(t)
	r.tag("v2.9.0")
	object := r.object("v2.9.0", library)
	data, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	out, err := generate(t, "-containerd", r.dir, "-table", table(t), "-show")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
		return strings.Contains(line, "ADJUST_ENV ") && strings.Contains(line, "not decided")
	}) {
		t.Errorf("ADJUST_ENV is decided without the library's file:\n%s", out)
	}

	file := table(t)
	before, _ := os.ReadFile(file)
	for i := range data[:8] {
		data[len(data)-1-i] ^= 0xff
	}
	if err := os.WriteFile(object, data, 0o444); err != nil {
		t.Fatal(err)
	}
	_, err = generate(t, "-containerd", r.dir, "-table", file, "-write", "-because", "x")
	if err == nil || !strings.HasPrefix(err.Error(), "containerd 2.9.0: ") || !strings.Contains(err.Error(), "read "+filepath.Base(filepath.Dir(object))) {
		t.Errorf("a corrupt object: %v", err)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the failed run changed the table")
	}
}

// TestInterrupted: a run that is interrupted writes nothing.
func TestInterrupted(t *testing.T) {
	r := newRepository(t)
	r.tag("v2.9.0")
	file := table(t)
	before, _ := os.ReadFile(file)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := run(ctx, []string{"-containerd", r.dir, "-table", file, "-write", "-because", "x"}, &out, &out)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the run was interrupted", err)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the interrupted run changed the table")
	}
	if left, _ := filepath.Glob(file + ".new-*"); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// TestBadInput: each fault gives one line that names the value.
func TestBadInput(t *testing.T) {
	empty := newRepository(t)
	empty.git("commit", "-q", "--allow-empty", "-m", "x")
	plain := t.TempDir()
	file := table(t)
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, []byte(`{"schemaVersion":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-table", file}, "nothing to read: name a repository"},
		{[]string{"-table", file, "-containerd", plain}, "not a git directory: name a clone"},
		{[]string{"-table", file, "-containerd", plain + "/x"}, "no such file or directory"},
		{[]string{"-table", file, "-containerd", empty.dir}, "it has no tag vMAJOR.MINOR.PATCH"},
		{[]string{"-table", file, "-crio", empty.dir, "-nri", plain}, "not a git directory"},
		{[]string{"-table", file, "-module", "example.com/x@v1.0.0"}, `module "example.com/x@v1.0.0": write github.com/containerd/containerd@VERSION`},
		{[]string{"-table", file, "-module", "github.com/containerd/containerd/v2@latest"}, `"latest" is no version of a release`},
		{[]string{"-table", file, "-release", "docker@1"}, `release "docker@1": write RUNTIME@VERSION`},
		{[]string{"-table", file, "-release", "cri-o@new"}, `"new" is no version`},
		{[]string{"-table", file, "-capability", "ADJUST_NOTHING"}, "ADJUST_NOTHING"},
		{[]string{"-table", file, "-date", "tomorrow"}, `invalid date "tomorrow": want YYYY-MM-DD`},
		{[]string{"-table", file, "-because", "x"}, "-because is for -write"},
		{[]string{"-table", file, "more"}, `unexpected argument "more"`},
		{[]string{"-table", overlay, "-containerd", empty.dir}, "overlay"},
		{[]string{"-table", plain + "/none.json", "-containerd", empty.dir}, "none.json"},
	} {
		_, err := generate(t, test.args...)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
}

// TestNRIModules: the library as the Go client has it is read like a vendored
// one, and the module with the newest containerd as its tag.
func TestNRIModules(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches Go modules")
	}
	out, err := generate(t, "-table", "../table.json", "-module", "github.com/containerd/containerd/v2@v2.4.2", "-module", "github.com/containerd/containerd@v1.7.36")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "376 cells compared, 376 derived: 376 equal, 0 different; 0 not decided.") {
		t.Errorf("the table does not say what the modules do:\n%s", out)
	}
}
