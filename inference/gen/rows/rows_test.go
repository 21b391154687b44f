package rows

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/nri-compat/nri-compat/inference"
)

// TestDocumentIsTheTable: reading and writing the built-in table changes
// nothing, nor does building its ranges anew from their cells.
func TestDocumentIsTheTable(t *testing.T) {
	want, err := os.ReadFile("../../table.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read("../../table.json")
	if err != nil {
		t.Fatal(err)
	}
	merged, err := Compare(d, nil).Merge("", "2027-01-01")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "table.json")
	if err := merged.Write(file); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the table changed: %v", err)
	}
	if left, _ := filepath.Glob(file + "*"); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

// TestFailedWrite leaves the old file.
func TestFailedWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.json")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Read("../../table.json")
	if err != nil {
		t.Fatal(err)
	}
	d.Releases[0].NRI = "none"
	if err := d.Write(file); err == nil {
		t.Error("a table with an invalid row was written")
	}
	if got, _ := os.ReadFile(file); string(got) != "old" {
		t.Errorf("the file is %q", got)
	}
}

func TestSpans(t *testing.T) {
	var releases []inference.Release
	for _, name := range [][2]string{{"containerd", "2.2.1"}, {"containerd", "2.2.9"}, {"containerd", "2.3.0"}, {"cri-o", "main"}} {
		r := inference.Release{Runtime: name[0]}
		if err := r.Version.UnmarshalText([]byte(name[1])); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	if got, want := spans(releases), "containerd 2.2.1 to 2.2.9; containerd 2.3.0; cri-o main"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
