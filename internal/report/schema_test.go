package report

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the schemas")

// TestSchemasFitTheDocuments derives the schema of each document from its Go
// type and comments, so that neither can change alone.
func TestSchemasFitTheDocuments(t *testing.T) {
	for name, document := range map[string]any{
		"check": &Check{}, "compare": &Compare{}, "inspect": &Inspect{}, "observe": &Observe{}, "probe": &Probe{}, "infer": &Infer{}, "library": &Library{}, "matrix": &Matrix{}, "diff": &Diff{},
		"explain": &Explain{}, "explain-mask": &ExplainMask{}, "explain-bug": &ExplainBug{}, "releases": &Releases{}, "version": &Version{},
		"pin": &Pin{}, "pin-nri": &PinNRI{},
	} {
		r := &jsonschema.Reflector{
			Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: true,
			Mapper: textAsString,
		}
		for _, dir := range []string{".", "../../capability"} {
			if err := r.AddGoComments("github.com/nri-compat/nri-compat/"+map[string]string{".": "internal/report", "../../capability": "capability"}[dir], dir); err != nil {
				t.Fatal(err)
			}
		}
		s := r.Reflect(document)
		s.ID = jsonschema.ID("https://nri-compat.dev/schema/" + name + ".v1.json")
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n')
		path := filepath.Join("../../testdata/schema", name+".v1.json")
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, text) {
			t.Errorf("%s is not up to date: run this test with -update", path)
		}
	}
}

// textAsString: what writes itself as text is a string, whatever it is in Go.
func textAsString(t reflect.Type) *jsonschema.Schema {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}
