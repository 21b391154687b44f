package pluginlog

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

var deathForms = sync.OnceValue(func() (p struct{ goroutine, register, frame *regexp.Regexp }) {
	p.goroutine = regexp.MustCompile(`^goroutine \d+ .*\[.*\]:$`)
	p.register = regexp.MustCompile(`^[a-z][a-z0-9]{1,5} +0x[0-9a-f]+$`)
	p.frame = regexp.MustCompile(`^\t(\S.*:\d+)(?: \+0x[0-9a-f]+)?(?: fp=0x[0-9a-f]+ sp=0x[0-9a-f]+ pc=0x[0-9a-f]+)?$`)
	return p
})

// deathLine reads the first line that the Go runtime writes when a program dies.
func deathLine(line string) (Entry, bool) {
	for _, start := range []string{"panic: ", "fatal error: ", "unexpected fault address ", "SIGQUIT: ", "SIGABRT: ", "SIGSEGV: ", "SIGBUS: ", "SIGILL: ", "SIGSYS: "} {
		if strings.HasPrefix(line, start) {
			return Entry{Severity: Fatal, Format: Panic, Message: line}, true
		}
	}
	return Entry{}, false
}

// saysMore tells whether a line behind the first one says more of why: a panic
// within a panic, the signal, the error behind an unexpected fault.
func saysMore(line string) bool {
	return strings.HasPrefix(line, "\tpanic: ") || strings.HasPrefix(line, "[signal ") || strings.HasPrefix(line, "fatal error: ") ||
		strings.HasPrefix(line, "\t") && strings.HasSuffix(line, "[recovered]")
}

func goroutineLine(line string) bool {
	return strings.HasPrefix(line, "goroutine ") && deathForms().goroutine.MatchString(line)
}

// stackLine tells whether a line belongs to the dump of goroutines.
func stackLine(line string) bool {
	return line == "" || line[0] == '\t' || goroutineLine(line) ||
		strings.HasPrefix(line, "created by ") || strings.HasPrefix(line, "exit status ") ||
		strings.HasPrefix(line, "...") && strings.HasSuffix(line, "elided...") ||
		strings.HasPrefix(line, "PC=") || strings.HasPrefix(line, "[signal ") || strings.HasPrefix(line, "runtime stack:") ||
		// "main.(*server).run(0xc000012345, {0x1, 0x2})", without a blank before the bracket.
		strings.HasSuffix(line, ")") && callLine(line) || strings.HasSuffix(line, "(...)") ||
		deathForms().register.MatchString(line)
}

// callLine tells whether a line is a call as in a stack: package path, dot,
// function, arguments.
func callLine(line string) bool {
	name, _, _ := strings.Cut(line, "({")
	if i := strings.LastIndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	return strings.Contains(name, ".") && !strings.ContainsAny(name, " \t") || strings.HasPrefix(line, "panic(")
}

// framePlace returns where a frame of a stack is, "main.go:12"; false for lines
// that are no frame and for frames of the Go runtime itself.
func framePlace(line string) (string, bool) {
	if !strings.HasPrefix(line, "\t") {
		return "", false
	}
	m := deathForms().frame.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	file := strings.ReplaceAll(m[1], `\`, "/")
	if strings.Contains(file, "/src/runtime/") || strings.HasPrefix(file, "runtime/") || strings.Contains(file, "internal/runtime/") {
		return "", false
	}
	return path.Base(file), true
}
