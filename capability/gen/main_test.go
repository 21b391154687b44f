package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGeneratedFileIsCurrent: ids_gen.go is what the catalogue gives.
func TestGeneratedFileIsCurrent(t *testing.T) {
	catalogue, err := os.ReadFile("../catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../ids_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("ids_gen.go is not current: run go generate in the capability directory")
	}
}
