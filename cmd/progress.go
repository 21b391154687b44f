package cmd

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// progress is one line on standard error that says what is being done. It is
// there only for a person at a terminal, and gone when the work is done.
type progress struct {
	w     io.Writer // nil where nobody watches
	width int
	mu    sync.Mutex
	shown bool
}

func (a *app) newProgress() *progress {
	f, ok := a.stderr.(*os.File)
	if !ok || a.quiet || a.verbose > 0 || a.getenv("CI") != "" || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 80
	}
	return &progress{w: f, width: width}
}

func (p *progress) show(what, stage string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	line := []rune(oneLine(what + ": " + stage))
	if len(line) >= p.width {
		line = line[:max(p.width-1, 0)]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line))
	p.shown = true
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
