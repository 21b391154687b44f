package image

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// BenchmarkOpen opens an image with a program of 32 MiB, takes it out, and
// reports how many times longer that takes than unpacking its layer once. It
// must unpack twice: to check and index the layer, and to take out the file.
func BenchmarkOpen(b *testing.B) {
	program := make([]byte, 32<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range program {
		program[i] = byte(r.IntN(16)) // compresses as code does, to about half
	}
	packed := gzipped(b, archiveOf(b, "plugin", elf+string(program)))
	ref := dirOf(b, imageOf(b, v1.Config{Cmd: []string{"/plugin"}}, packed))
	var unpacking time.Duration
	for b.Loop() {
		b.StopTimer()
		start := time.Now()
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, z); err != nil {
			b.Fatal(err)
		}
		unpacking += time.Since(start)
		b.StartTimer()
		img, err := Open(b.Context(), ref, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := img.Executables(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		img.Close()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(unpacking), "x-unpacking")
}
