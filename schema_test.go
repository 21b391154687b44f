package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

type buffer = bytes.Buffer

func itoa(n int) string { return strconv.Itoa(n) }

// compileSchema loads a schema of this project.
func compileSchema(name string) (*jsonschema.Schema, error) {
	text, err := os.ReadFile("testdata/schema/" + name + ".v1.json")
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// validateDocument checks a JSON or YAML document against the schema that it
// names itself.
func validateDocument(text []byte) error {
	text, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	var head struct{ Schema string }
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	name := strings.TrimSuffix(strings.TrimPrefix(head.Schema, "nri-compat.dev/"), "/v1")
	schema, err := compileSchema(name)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}

// validate is the script command: schema FILE checks a document, which may be
// stdout.
func validate(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: schema FILE")
	}
	err := validateDocument([]byte(ts.ReadFile(args[0])))
	if neg == (err == nil) {
		ts.Fatalf("%s: %v", args[0], err)
	}
}

// TestEveryCommandFitsItsSchema runs each command that writes documents on a
// variety of questions and checks JSON and YAML against the schema, which must
// also refuse a document that was tampered with.
func TestEveryCommandFitsItsSchema(t *testing.T) {
	for _, line := range []string{
		"check --requires ADJUST_CDI_DEVICES,UPDATE_UNSOLICITED --wants INPUT_IP_ADDRESSES --runtime containerd@all --runtime cri-o@all",
		"check --requires ADJUST_MOUNTS --runtime containerd@9.9.9 --runtime containerd@1.6.39",
		"check --requires ADJUST_ENV_REMOVAL --runtime cri-o@main",
		"check --wants ADJUST_ENV_REMOVAL --runtime cri-o@1.36.3",
		"infer containerd://2.0.5-k3s1.32", "infer containerd@9.9.9", "infer cri-o@1.26.0", "infer containerd@1.6.39",
		"infer nri@v0.11.0", "infer nri@v0.99.0",
		"explain ADJUST_CDI_DEVICES", "explain PROTO_SHUTDOWN", "explain 0x3800", "explain 0x0", "explain 0xffffffff",
		"explain unsolicited-update-deadlock",
		"matrix", "matrix --changed --capabilities SUBSCRIBE_*", "matrix --by release --runtime containerd@2.2.x",
		"diff containerd@1.7.30 containerd@2.0.11", "diff containerd@1.7.0 containerd@9.9.9", "diff cri-o@1.30.0 cri-o@1.30.0",
		"table show", "version",
	} {
		for _, format := range []string{"json", "yaml"} {
			args := append(strings.Fields(line), "-o", format)
			_, stdout, stderr := run(args, nil)
			if err := validateDocument([]byte(stdout)); err != nil {
				t.Errorf("%s -o %s: %v\n%s", line, format, err, stderr)
			}
		}
	}
	_, stdout, _ := run(strings.Fields("check --requires ADJUST_MOUNTS --runtime containerd@2.1.3 -o json"), nil)
	for _, tamper := range [][2]string{
		{`"verdict": "compatible"`, `"verdict": "fine"`},
		{`"status": "ok"`, `"status": 1`},
		{`"advice": []`, `"advice": null`},
		{`"results":`, `"outcomes":`},
	} {
		if !strings.Contains(stdout, tamper[0]) {
			t.Fatalf("%s is not in %s", tamper[0], stdout)
		}
		if err := validateDocument([]byte(strings.Replace(stdout, tamper[0], tamper[1], 1))); err == nil {
			t.Errorf("the schema accepts %s", tamper[1])
		}
	}
}

// TestTableFitsItsSchema: the exported table and the example overlay of the
// documentation are what the schema says.
func TestTableFitsItsSchema(t *testing.T) {
	schema, err := compileSchema("table")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run([]string{"table", "export"}, nil)
	if code != 0 {
		t.Fatal(stderr)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(stdout))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
}
