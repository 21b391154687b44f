// Package plugin finds out what NRI plugins, device plugins and DRA drivers
// need: from an executable, from source code, from a container image, and from
// the manifest in which an author declares it.
//
// Its subpackages each read one of these; this one understands references,
// picks the reader, and lets a manifest that lies with the plugin have its say.
// Nothing of a plugin is ever run.
package plugin

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/manifest"
)

// Options change how plugins are read. The zero value is ready to use.
type Options struct {
	// Platform chooses among the platforms of an image, such as "linux/arm64".
	Platform string
	// Tags are build tags for source code.
	Tags []string
	// IgnoreManifest leaves out what authors declare.
	IgnoreManifest bool
	// Progress, if not nil, is told in a few words what is being done with which
	// reference. It is called from several goroutines.
	Progress func(ref, stage string)
}

// Plugin is what was found out about one plugin.
type Plugin struct {
	found.Plugin
	// Manifest names the manifest that had its say; empty if there was none.
	Manifest string
	// Differences are where the manifest and what was detected do not agree.
	Differences []manifest.Difference
}

// Answer is what became of one reference: the plugins in it, or why it could
// not be read.
type Answer struct {
	Ref     string
	Plugins []Plugin
	Err     error
	// Took is how long it took to read.
	Took time.Duration
}

// Inspect reads all references, several at a time, and answers in their order.
// A reference that cannot be read does not keep the others from being read.
func Inspect(ctx context.Context, refs []string, o Options) []Answer {
	answers := make([]Answer, len(refs))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, ref := range refs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			start := time.Now()
			plugins, err := inspect(ctx, ref, o)
			answers[i] = Answer{Ref: ref, Plugins: plugins, Err: err, Took: time.Since(start).Round(time.Microsecond)}
		}()
	}
	wg.Wait()
	return answers
}

// progress tells what is being done with a reference.
func (o Options) progress(ref, stage string) {
	if o.Progress != nil {
		o.Progress(ref, stage)
	}
}
