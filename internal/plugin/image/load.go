package image

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// candidateFile is a file that was looked at: a program, a script, or neither.
type candidateFile struct {
	File   // without a ReaderAt if it is no program
	temp   *os.File
	script string // the first line of a script
}

// load keeps a program in a temporary file; of anything else it reads no more
// than the beginning.
func (i *Image) load(name string, size int64, r io.Reader) (candidateFile, error) {
	c := candidateFile{File: File{Path: name, Size: size}}
	b := bufio.NewReader(r)
	head, err := b.Peek(80)
	if err != nil && err != io.EOF {
		return c, fmt.Errorf("%.100q: %w", name, err)
	}
	if bytes.HasPrefix(head, []byte("#!")) {
		c.script = firstLine(head)
		return c, nil
	}
	if !isProgram(head) {
		return c, nil
	}
	f, n, err := i.spool.keep(b, min(maxFile, i.maxBytes-i.spool.kept))
	if err != nil {
		return c, fmt.Errorf("%.100q: %w", name, err)
	}
	i.spool.kept += n
	c.Size, c.ReaderAt, c.temp = n, f, f
	return c, nil
}

// isProgram knows the formats of executables by their first bytes: ELF, PE and
// Mach-O in its four byte orders and as a universal file.
func isProgram(head []byte) bool {
	for _, magic := range []string{"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// firstLine is the first line of a script, fit for a message.
func firstLine(head []byte) string {
	line, _, _ := strings.Cut(strings.ToValidUTF8(string(head), "?"), "\n")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.TrimRight(line, "\r "))
}
