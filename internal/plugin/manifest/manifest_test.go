package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/nri-compat/nri-compat/capability"
)

const full = `# declared by the author
schema: nri-compat.dev/manifest/v1
plugin: device-injector   # a name
requires:
  - ADJUST_LINUX_DEVICES
  - capability: adjust-mounts
    reason: >
      two
      lines
wants: [ADJUST_CDI_DEVICES, {capability: ADJUST_ENV, reason: "nice: to, have"}]
excludes:
- {capability: "ADJUST_LINUX_SYSCTL", reason: linked only}
runtimes:
  - containerd@>=1.7.7 <2.2
  - "cri-o@1.30"
`

func TestRead(t *testing.T) {
	got, err := Read(strings.NewReader(full), "dir/nri-compat.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Manifest{
		Name:   "dir/nri-compat.yaml",
		Plugin: "device-injector",
		Requires: []Entry{
			{capability.AdjustLinuxDevices, "", "", 5},
			{capability.AdjustMounts, "", "two lines", 6},
		},
		Wants: []Entry{
			{capability.AdjustCDIDevices, "", "", 10},
			{capability.AdjustEnv, "", "nice: to, have", 10},
		},
		Excludes: []Entry{{capability.AdjustLinuxSysctl, "", "linked only", 12}},
		Runtimes: []string{"containerd@>=1.7.7 <2.2", "cri-o@1.30"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReadOneOf(t *testing.T) {
	got, err := Read(strings.NewReader(`schema: nri-compat.dev/manifest/v1
requires:
  - oneOf: [dra-v1, DRA_V1BETA1]
    reason: serves both
  - ADJUST_ENV
wants:
  - oneOf:
      - DRA_HEALTH_V1
      - DRA_HEALTH_V1ALPHA1 # older
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dra, health := "DRA_V1/DRA_V1BETA1", "DRA_HEALTH_V1/DRA_HEALTH_V1ALPHA1"
	want := Manifest{
		Name: "m.yaml",
		Requires: []Entry{
			{capability.DRAV1, dra, "serves both", 3},
			{capability.DRAV1beta1, dra, "serves both", 3},
			{capability.AdjustEnv, "", "", 5},
		},
		Wants: []Entry{{capability.DRAHealthV1, health, "", 8}, {capability.DRAHealthV1alpha1, health, "", 9}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReadRefuses(t *testing.T) {
	const head = "schema: nri-compat.dev/manifest/v1\n"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "m.yaml: empty"},
		{"comments only", "# hello\n", "m.yaml: empty"},
		{"a list", "- a\n", "m.yaml: not a mapping"},
		{"a word", "hello\n", "m.yaml: not a mapping"},
		{"no schema", "plugin: x\n", `m.yaml: no key "schema": write "schema: nri-compat.dev/manifest/v1"`},
		{"other schema", "plugin: x\nschema: nri-compat.dev/manifest/v2\n", `m.yaml:2: unknown schema "nri-compat.dev/manifest/v2"`},
		{"unknown key", head + "requries: []\n", `m.yaml:2: unknown key "requries": the keys are`},
		{"key in other case", head + "Requires: []\n", `m.yaml:2: unknown key "Requires"`},
		{"duplicate key", head + "wants: []\nwants: []\n", `m.yaml:3: not valid YAML: key "wants" already set`},
		{"bad indentation", head + "wants:\n  - a\n - b\n", "m.yaml:3: not valid YAML"},
		{"unclosed quote", head + "plugin: \"x\n", "not valid YAML"},
		{"unknown capability", head + "requires:\n- ADJUST_CDI_DEVICE\n", `m.yaml:3: requires: unknown capability "ADJUST_CDI_DEVICE": did you mean ADJUST_CDI_DEVICES`},
		{"twice in one list", head + "requires: [ADJUST_ENV, adjust-env]\n", "ADJUST_ENV is named in requires and again in requires"},
		{"in two lists", head + "requires: [ADJUST_ENV]\nwants: [ADJUST_ENV]\n", "ADJUST_ENV is named in requires and again in wants"},
		{"no reason", head + "excludes:\n- ADJUST_ENV\n", "m.yaml:3: excludes: ADJUST_ENV has no reason"},
		{"blank reason", head + "excludes:\n- {capability: ADJUST_ENV, reason: ' '}\n", "m.yaml:3: excludes: ADJUST_ENV has no reason"},
		{"unknown entry key", head + "wants:\n- {capability: ADJUST_ENV, because: x}\n", `m.yaml:3: wants: unknown key "because"`},
		{"capability as key", head + "wants:\n- ADJUST_ENV: x\n", `m.yaml:3: wants: unknown key "ADJUST_ENV" in an entry`},
		{"entry without capability", head + "wants:\n- reason: x\n", `m.yaml:2: wants: an entry has no key "capability"`},
		{"one alternative", head + "requires:\n- oneOf: [ADJUST_ENV]\n", "m.yaml:3: requires: oneOf names fewer than two capabilities: write {capability: …} for one"},
		{"no alternative", head + "requires:\n- oneOf:\n", "m.yaml:3: requires: oneOf names fewer than two"},
		{"alternatives as text", head + "requires:\n- oneOf: ADJUST_ENV\n", "m.yaml:3: oneOf: not a list"},
		{"number as alternative", head + "requires:\n- oneOf: [ADJUST_ENV, 7]\n", "m.yaml:3: requires: oneOf: 7 is not a capability: write its name"},
		{"empty alternative", head + "requires:\n- oneOf: [ADJUST_ENV, ' ']\n", "is not a capability: write its name"},
		{"unknown alternative", head + "requires:\n- oneOf: [ADJUST_ENV, ADJUST_EN]\n", `m.yaml:3: requires: unknown capability "ADJUST_EN"`},
		{"alternative twice", head + "requires:\n- oneOf: [ADJUST_ENV, ADJUST_ENV]\n", "ADJUST_ENV is named in requires and again in requires"},
		{"alternative and alone", head + "requires:\n- oneOf: [ADJUST_ENV, ADJUST_MOUNTS]\n- ADJUST_ENV\n", "ADJUST_ENV is named in requires and again in requires"},
		{"capability and alternatives", head + "requires:\n- {capability: ADJUST_ENV, oneOf: [ADJUST_MOUNTS, ADJUST_OCI_HOOKS]}\n", "m.yaml:3: requires: an entry has capability and oneOf: keep one of them"},
		{"excluded alternatives", head + "excludes:\n- {oneOf: [ADJUST_ENV, ADJUST_MOUNTS], reason: x}\n", "m.yaml:3: excludes: oneOf is for what is needed: name each capability by itself"},
		{"number as entry", head + "wants: [7]\n", "m.yaml:2: wants: 7 is neither"},
		{"null as entry", head + "wants: [~]\n", "m.yaml:2: wants: null is neither"},
		{"text as list", head + "wants: ADJUST_ENV\n", "m.yaml:2: wants: not a list"},
		{"number as name", head + "plugin: 7\n", "m.yaml:2: plugin: not text"},
		{"number as runtime", head + "runtimes: [1.7]\n", "m.yaml:2: runtimes: 1.7 is not a runtime"},
		{"empty runtime", head + "runtimes: ['']\n", "m.yaml:2: runtimes: \"\" is not a runtime"},
		{"runtime twice", head + "runtimes: [a, a]\n", `runtimes: "a" is named twice`},
		{"second document", head + "---\nrequires: [ADJUST_ENV]\n", "m.yaml:2: a second YAML document"},
		{"alias", head + "plugin: &a x\nruntimes: [*a, *a]\n", "m.yaml:3: an anchor and an alias"},
		{"UTF-16", "\xff\xfes\x00c\x00", "m.yaml: not UTF-8 text"},
		{"control character", head + "plugin: \x01\n", "control characters are not allowed"},
		{"too large", head + strings.Repeat("#", MaxSize), "m.yaml: larger than 256 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := Read(strings.NewReader(test.text), "m.yaml")
			if err == nil {
				t.Fatalf("accepted as %+v", m)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant %s", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			if d := cmp.Diff(Manifest{}, m); d != "" {
				t.Errorf("a manifest beside the error: %s", d)
			}
		})
	}
}

// accepted are manifests in unusual forms.
func accepted() []string {
	return []string{
		"schema: nri-compat.dev/manifest/v1\n",
		"---\nschema: nri-compat.dev/manifest/v1\n---\n# no more\n",
		"---\r\nschema: nri-compat.dev/manifest/v1\r\nwants:\r\n- ADJUST_ENV\r\n...\r\n",
		"schema: nri-compat.dev/manifest/v1\nrequires:\nwants: ~\nplugin:\n",
		"{\"schema\": \"nri-compat.dev/manifest/v1\", \"wants\": [\"ADJUST_ENV\"]}",
		"schema: nri-compat.dev/manifest/v1\nrequires: [{oneOf: [ADJUST_ENV, adjust-mounts], reason: x}, ADJUST_OCI_HOOKS]\n",
		"schema: nri-compat.dev/manifest/v1\nplugin: this & that\nruntimes: [containerd@1.7.*]\n",
	}
}

func TestReadAccepts(t *testing.T) {
	for _, text := range accepted() {
		if _, err := Read(strings.NewReader(text), "m.yaml"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzRead: nothing panics, an error is one line and comes alone, and what was
// read is read back the same after it was written.
func FuzzRead(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("schema: nri-compat.dev/manifest/v1\nplugin: \"\\x7f\\u2028\\U0001F600 \\\"'#: -\"\n"))
	f.Add([]byte("schema: nri-compat.dev/manifest/v1\nwants: [{capability: ADJUST_ENV, reason: \"a\\nb # c\"}]\n"))
	f.Add([]byte("schema: nri-compat.dev/manifest/v1\nruntimes: ['null', 'yes', '1.7', '- a', '{', '&a', '*a']\n"))
	f.Add([]byte("schema: nri-compat.dev/manifest/v1\nwants: [{oneOf: [DRA_V1, dra-v1beta1], reason: \"a\"}, {oneOf: [ADJUST_ENV, ADJUST_MOUNTS]}]\n"))
	f.Add([]byte("a: &a [x]\nb: *a\n<<: *a\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Add([]byte(strings.Repeat("[", 20000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), "m.yaml")
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "m.yaml") {
				t.Errorf("error %q", err)
			}
			return
		}
		var b bytes.Buffer
		if err := Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, "m.yaml")
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if d := cmp.Diff(m, again, cmpopts.IgnoreFields(Entry{}, "Line")); d != "" {
			t.Errorf("read back differently (-read +again)\n%s", d)
		}
	})
}

// TestSchemaHasTheSameKeys: the schema that is shipped and the reader know the
// same keys and the same version.
func TestSchemaHasTheSameKeys(t *testing.T) {
	var schema struct {
		Properties map[string]struct{ Const string }
	}
	if err := json.Unmarshal(schemaText(t), &schema); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ Const string }{}
	for _, k := range keys() {
		want[k] = struct{ Const string }{}
	}
	want["schema"] = struct{ Const string }{Schema}
	if d := cmp.Diff(want, schema.Properties); d != "" {
		t.Errorf("keys (-reader +schema)\n%s", d)
	}
}

// TestSchemaAgreesWithTheReader: what the reader accepts the schema accepts; and
// the schema refuses what is wrong in form, as far as a schema can tell.
func TestSchemaAgreesWithTheReader(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("manifest", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("manifest")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text string) error {
		asJSON, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	var written bytes.Buffer
	if err := Write(&written, detected()); err != nil {
		t.Fatal(err)
	}
	for _, text := range append(accepted(), full, written.String()) {
		if err := validate(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	const head = "schema: nri-compat.dev/manifest/v1\n"
	for _, text := range []string{
		"plugin: x\n", "[]\n",
		"schema: nri-compat.dev/manifest/v2\n",
		head + "requries: []\n",
		head + "wants: ADJUST_ENV\n",
		head + "wants: [7]\n",
		head + "wants: [{reason: x}]\n",
		head + "wants: [{capability: ADJUST_ENV, because: x}]\n",
		head + "excludes: [ADJUST_ENV]\n",
		head + "wants: [{oneOf: [ADJUST_ENV]}]\n",
		head + "wants: [{oneOf: [ADJUST_ENV, 7]}]\n",
		head + "wants: [{oneOf: [ADJUST_ENV, ADJUST_ENV]}]\n",
		head + "wants: [{oneOf: [ADJUST_ENV, ADJUST_MOUNTS], capability: ADJUST_OCI_HOOKS}]\n",
		head + "excludes: [{oneOf: [ADJUST_ENV, ADJUST_MOUNTS], reason: x}]\n",
		head + "excludes: [{capability: ADJUST_ENV, reason: ' '}]\n",
		head + "runtimes: ['']\n",
		head + "runtimes: [a, a]\n",
	} {
		if validate(text) == nil {
			t.Errorf("%q: the schema accepts it", text)
		}
		if _, err := Read(strings.NewReader(text), "m.yaml"); err == nil {
			t.Errorf("%q: the reader accepts it", text)
		}
	}
}

func schemaText(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/schema/manifest.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}
