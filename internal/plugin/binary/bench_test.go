package binary

import (
	"io"
	"os"
	"runtime"
	"testing"
	"time"
)

// benchmark reports how long one analysis takes, how that compares with reading
// the file into memory once, and how much memory it holds at its peak beyond
// the size of the file.
func benchmark(b *testing.B, path string) {
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	var read time.Duration
	peak := uint64(0)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		runtime.GC()
		start := time.Now()
		readAll(b, path)
		read += time.Since(start)
		stop := watchHeap(&peak)
		b.StartTimer()
		if _, err := inspectFile(b, path); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		stop()
		b.StartTimer()
	}
	b.ReportMetric(float64(st.Size())/(1<<20), "MiB-file")
	b.ReportMetric(float64(b.Elapsed())/float64(read), "times-reading")
	b.ReportMetric((float64(peak)-float64(st.Size()))/(1<<20), "MiB-peak-over-file")
}

// readAll does what cat does.
func readAll(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 128<<10)
	for {
		if _, err := f.Read(buf); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// watchHeap notes the largest size of the heap until stop is called.
func watchHeap(peak *uint64) (stop func()) {
	done, finished := make(chan struct{}), make(chan struct{})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	go func() {
		defer close(finished)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > before {
				*peak = max(*peak, m.HeapAlloc-before)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done); <-finished }
}

// BenchmarkSmall analyses a plugin of about 10 MB.
func BenchmarkSmall(b *testing.B) { benchmark(b, build(b, "everything", variants()[0])) }

// BenchmarkLarge analyses the plugin named by LARGE_PLUGIN: one of a realistic
// large size imports hundreds of modules, which the tests do not want to fetch.
func BenchmarkLarge(b *testing.B) {
	path := os.Getenv("LARGE_PLUGIN")
	if path == "" {
		b.Skip("set LARGE_PLUGIN to the path of a large plugin")
	}
	benchmark(b, path)
}
