package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/internal/config"
	"github.com/santhosh-tekuri/jsonschema/v6"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// readStrict reads a YAML file into a value that has every key that may be in
// it: a key with a typing error is refused.
func readStrict(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dec := yamlv3.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// action is the metadata file of a composite action.
type action struct {
	Name, Description string
	Branding          map[string]string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Description, Value string }
	Runs              struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	ID, Name, If, Uses, Run, Shell string
	Dir                            string `yaml:"working-directory"`
	Env, With                      map[string]string
}

func TestAction(t *testing.T) {
	var a action
	readStrict(t, "action.yml", &a)
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || a.Name == "" || a.Description == "" {
		t.Errorf("%+v", a)
	}
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for name, in := range a.Inputs {
		if in.Description == "" || !strings.Contains(string(text), "inputs."+name) {
			t.Errorf("input %s is not described or not used", name)
		}
	}
	for _, s := range a.Runs.Steps {
		if s.Run != "" && s.Shell == "" {
			t.Errorf("step %s has no shell", s.Name)
		}
		// What an expression puts into a script runs as part of it.
		if strings.Contains(s.Run, "${{") {
			t.Errorf("the script of step %s has an expression in it: hand it over in env", s.Name)
		}
	}
}

// TestActionRuns runs the step of the action that checks, as a runner would.
func TestActionRuns(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	if testing.Short() {
		t.Skip("builds the program")
	}
	var a action
	readStrict(t, "action.yml", &a)
	i := slices.IndexFunc(a.Runs.Steps, func(s actionStep) bool {
		return s.ID == "check"
	})
	if i < 0 {
		t.Fatal("no step check")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "nri-compat"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		args, sarif, summary string
		status               string
	}{
		{"--requires ADJUST_CDI_DEVICES", "out.sarif", "true", "3"},
		{"--requires ADJUST_MOUNTS", "out.sarif", "true", "0"},
		{"--requires ADJUST_MOUNTS\n--fail-on never", "", "false", "0"},
		{"--what", "", "false", "2"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte("runtimes: containerd@2.0.5\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", a.Runs.Steps[i].Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NRI_COMPAT_ARGS="+tt.args,
			"NRI_COMPAT_SARIF="+tt.sarif, "NRI_COMPAT_SUMMARY="+tt.summary,
			"GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.String(); !strings.HasSuffix(got, " "+tt.status) {
			t.Errorf("%q: %s (%v)\n%s", tt.args, got, err, out)
		}
		if output, err := os.ReadFile(filepath.Join(dir, "output")); err != nil || string(output) != "status="+tt.status+"\n" {
			t.Errorf("%q: output %q, %v", tt.args, output, err)
		}
		_, sarif := os.Stat(filepath.Join(dir, "out.sarif"))
		_, summary := os.Stat(filepath.Join(dir, "summary"))
		if (sarif == nil) != (tt.sarif != "") || (summary == nil) != (tt.summary == "true") {
			t.Errorf("%q: SARIF %v, summary %v", tt.args, sarif, summary)
		}
	}
}

func TestWorkflow(t *testing.T) {
	var w struct {
		Name string
		On   struct {
			PullRequest any `yaml:"pull_request"`
			Push        struct{ Branches []string }
			Schedule    []struct{ Cron string }
		}
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct {
				Uses string
				With map[string]string
			}
		}
	}
	readStrict(t, "docs/workflow.yml", &w)
	var a action
	readStrict(t, "action.yml", &a)
	used := false
	for _, s := range w.Jobs["check"].Steps {
		if strings.HasPrefix(s.Uses, "nri-compat/nri-compat@") {
			used = true
			for name := range s.With {
				if _, ok := a.Inputs[name]; !ok {
					t.Errorf("the action has no input %s", name)
				}
			}
		}
	}
	if !used || w.Permissions["security-events"] != "write" {
		t.Errorf("%+v", w)
	}
}

func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID, Name, Description, Entry, Language, Files string
		PassFilenames                                 *bool `yaml:"pass_filenames"`
	}
	readStrict(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 1 || hooks[0].Entry != "nri-compat check" || hooks[0].PassFilenames == nil || *hooks[0].PassFilenames {
		t.Errorf("%+v", hooks)
	}
	files := regexp.MustCompile(hooks[0].Files)
	for _, name := range []string{"main.go", "go.mod", ".nri-compat.yaml"} {
		if !files.MatchString(name) {
			t.Errorf("a change of %s does not run the hook", name)
		}
	}
}

func TestGoReleaser(t *testing.T) {
	var g struct {
		Version     int
		ProjectName string `yaml:"project_name"`
		Before      struct{ Hooks []string }
		Builds      []struct {
			ID, Main, Binary    string
			Env, Flags, Ldflags []string
			ModTimestamp        string `yaml:"mod_timestamp"`
			Goos, Goarch        []string
		}
		Archives []struct {
			ID           string
			IDs          []string `yaml:"ids"`
			NameTemplate string   `yaml:"name_template"`
			Files        []string
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
			Algorithm    string
		}
		SBOMs     []struct{ Artifacts string } `yaml:"sboms"`
		Changelog struct{ Use, Sort string }
		Release   struct{ Draft bool }
	}
	readStrict(t, ".goreleaser.yaml", &g)
	builds := map[string]bool{}
	for _, b := range g.Builds {
		builds[b.ID] = true
		if !slices.Contains(b.Env, "CGO_ENABLED=0") {
			t.Errorf("build %s is not static", b.ID)
		}
		if !slices.Contains(b.Env, "GOFLAGS=-buildvcs=true") {
			t.Errorf("build %s may not know its version", b.ID)
		}
	}
	for _, a := range g.Archives {
		for _, id := range a.IDs {
			if !builds[id] {
				t.Errorf("archive %s has build %s, which is not there", a.ID, id)
			}
		}
		for _, pattern := range a.Files {
			if found, err := filepath.Glob(pattern); err != nil || len(found) == 0 {
				t.Errorf("archive %s: nothing matches %s (%v)", a.ID, pattern, err)
			}
		}
	}
	if g.Version != 2 || len(g.SBOMs) == 0 || g.Checksum.Algorithm != "sha256" {
		t.Errorf("%+v", g)
	}
	krew, err := os.ReadFile("deploy/krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range g.Builds {
		if b.ID != "kubectl-nri_compat" {
			continue
		}
		for _, system := range b.Goos {
			for _, arch := range b.Goarch {
				if !strings.Contains(string(krew), "_"+system+"_"+arch+".tar.gz") {
					t.Errorf("the krew manifest lacks %s/%s", system, arch)
				}
			}
		}
	}
}

// TestKrewManifest reads the manifest as it is once the bot has filled it in.
func TestKrewManifest(t *testing.T) {
	text, err := os.ReadFile("deploy/krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filled := regexp.MustCompile("{{addURIAndSha [^}]*}}[^}]*}}[^}]*}}").ReplaceAllString(string(text), "uri: https://example.com/x.tar.gz\n      sha256: 00")
	filled = strings.ReplaceAll(filled, "{{ .TagName }}", "v1.0.0")
	var m struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Spec       struct {
			Version          string `json:"version"`
			Homepage         string `json:"homepage"`
			ShortDescription string `json:"shortDescription"`
			Description      string `json:"description"`
			Platforms        []struct {
				Selector map[string]map[string]string `json:"selector"`
				URI      string                       `json:"uri"`
				SHA256   string                       `json:"sha256"`
				Bin      string                       `json:"bin"`
			} `json:"platforms"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict([]byte(filled), &m); err != nil {
		t.Fatalf("%v\n%s", err, filled)
	}
	if m.Kind != "Plugin" || m.Metadata["name"] != "nri-compat" || len(m.Spec.Platforms) != 4 || len(m.Spec.ShortDescription) > 50 {
		t.Errorf("%+v", m)
	}
	for _, p := range m.Spec.Platforms {
		if p.URI == "" || p.SHA256 == "" || p.Bin != "kubectl-nri_compat" {
			t.Errorf("%+v", p)
		}
	}
}

// TestDockerfile: every instruction is one, the image is empty but for the
// program, and nobody is root in it.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	last := map[string]string{}
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if !slices.Contains([]string{"FROM", "ARG", "WORKDIR", "COPY", "RUN", "LABEL", "USER", "ENTRYPOINT"}, word) {
			t.Errorf("unknown instruction %s", word)
		}
		last[word] = rest
	}
	if last["FROM"] != "scratch" || last["USER"] != "65532:65532" || last["ENTRYPOINT"] != `["/usr/local/bin/nri-compat"]` || !strings.Contains(joined, "CGO_ENABLED=0") {
		t.Errorf("%v", last)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if !strings.Contains(joined, "golang:"+string(version[1])+" ") {
		t.Errorf("the Dockerfile does not build with Go %s", version[1])
	}
}

// TestConfigSchema: the schema of the configuration and its reader agree.
func TestConfigSchema(t *testing.T) {
	schema, err := compileSchema("config")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(plugins:.*?)```").FindSubmatch(text)
	var begun bytes.Buffer
	if err := config.Write(&begun, []string{"./a"}, []string{"containerd@all"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		good bool
	}{
		{string(example[1]), true},
		{begun.String(), true},
		{"runtimes: containerd@all\n", true},
		{"runtime: containerd@all\n", false},
		{"plugins: ['']\n", false},
		{"plugins: {}\n", false},
		{"failOn: always\n", false},
		{"assume: [a]\n", false},
		{"waivers: [{capability: ADJUST_MOUNTS, reason: x, until: 2027-01-01}]\n", true},
		{"waivers: [{capability: ADJUST_MOUNTS}]\n", false},
		{"waivers: [{reason: x}]\n", false},
		{"waivers: [{capability: ADJUST_MOUNTS, reason: x, until: soon}]\n", false},
		{"waivers: [{capability: ADJUST_MOUNTS, reason: x, because: y}]\n", false},
	} {
		asJSON, err := yaml.YAMLToJSON([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
		if err != nil {
			t.Fatal(err)
		}
		_, readErr := config.Read(strings.NewReader(tt.text), "c.yaml")
		if schemaErr := schema.Validate(doc); (schemaErr == nil) != tt.good || (readErr == nil) != tt.good {
			t.Errorf("%s: the schema says %v, the reader %v", tt.text, schemaErr, readErr)
		}
	}
}
