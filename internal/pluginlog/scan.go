package pluginlog

import (
	"bytes"
	"io"
	"strings"
)

// Scan reads a log to its end and hands over its entries in order. The only
// errors are those of r; what was read before is handed over nevertheless.
func Scan(r io.Reader, f func(Entry)) error {
	p := parser{emit: f}
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		p.write(buffer[:n])
		if err == io.EOF {
			p.end()
			return nil
		}
		if err != nil {
			p.end()
			return err
		}
	}
}

// parser cuts a log into lines and joins them to entries. It keeps the line
// that is not complete and the entry that may go on.
type parser struct {
	emit  func(Entry)
	line  []byte // of the line being read, the first maxLine bytes
	begun bool   // some bytes of a line were read
	lines int    // complete lines so far

	parts [3]part // lines of a CRI log file that go on, by stream

	open    bool // entry may go on
	state   state
	entry   Entry
	message []byte // of the entry, the first maxLine bytes
}

// part is what is there of a line that comes in parts.
type part struct {
	text []byte
	line int // where it began, 0 if there is none
}

// state says what the lines behind the first one of an entry are.
type state uint8

const (
	single state = iota // there are none, but for indented ones
	lines               // more of the message
	block               // more of a value with line breaks
	death               // what the Go runtime says of a death, before the stack
	stack               // a dump of goroutines
)

// write takes the next bytes of the log.
func (p *parser) write(data []byte) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		piece := data
		if i >= 0 {
			piece = data[:i]
		}
		if room := maxLine - len(p.line); room > 0 {
			p.line = append(p.line, piece[:min(len(piece), room)]...)
		}
		p.begun = true
		if i < 0 {
			return
		}
		p.endLine()
		data = data[i+1:]
	}
}

// end takes what was read as all there is.
func (p *parser) end() {
	if p.begun {
		p.endLine()
	}
	for stream := range p.parts {
		if last := p.parts[stream]; last.line > 0 {
			p.parts[stream] = part{}
			p.add(string(last.text), last.line)
		}
	}
	p.close()
}

func (p *parser) endLine() {
	p.lines++
	number := p.lines
	s := strip(strings.ToValidUTF8(string(p.line), "\uFFFD"))
	p.line, p.begun = p.line[:0], false
	if s.stream > 0 {
		before := &p.parts[s.stream]
		if before.line == 0 {
			before.line = number
		}
		if s.partial {
			before.text = appendUpTo(before.text, s.text, maxLine)
			return
		}
		if len(before.text) > 0 {
			s.text, number = string(appendUpTo(before.text, s.text, maxLine)), before.line
		}
		*before = part{}
	}
	p.add(s.text, number)
}

// appendUpTo appends as much of s as there is room for in limit bytes.
func appendUpTo(b []byte, s string, limit int) []byte {
	return append(b, s[:max(min(len(s), limit-len(b)), 0)]...)
}

// add takes a line without prefixes.
func (p *parser) add(line string, number int) {
	if p.open && p.belongs(line) {
		return
	}
	first, state, known := begin(line)
	if p.open && !known && p.goesOn(line) {
		return
	}
	if strings.TrimSpace(line) == "" {
		return
	}
	p.close()
	p.entry, p.state, p.open = first, state, true
	p.entry.Line = number
	p.message = appendUpTo(p.message[:0], first.Message, maxLine)
}

// belongs takes a line that can only be part of the open entry.
func (p *parser) belongs(line string) bool {
	switch {
	case p.state == block && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " >")):
		p.more(line)
		if line[0] == ' ' && !opensBlock(line) {
			p.state = lines
		}
		return true
	case p.state == death && saysMore(line):
		p.more(line)
		return true
	case goroutineLine(line):
		p.state = stack
		return true
	case p.state == stack && stackLine(line):
		if place, ok := framePlace(line); ok && p.entry.Source == "" {
			p.entry.Source = clip(place, maxSource)
		}
		return true
	}
	return false
}

// goesOn takes a line without a form of its own if the open entry may go on
// with it. The message of a klog entry goes on with every such line, but only as
// long as it is kept: what has no form may be of another logger, and its last
// line the one that tells.
func (p *parser) goesOn(line string) bool {
	switch {
	case p.state == stack:
		return false
	case line == "", p.state == death && stackLine(line):
		return true
	case p.state == single && line[0] != ' ' && line[0] != '\t', len(p.message) > maxMessage:
		return false
	case p.state == lines && opensBlock(line):
		p.state = block
	case p.state == block:
		p.state = lines // not a block after all
	}
	p.more(line)
	return true
}

func (p *parser) more(line string) {
	if len(p.message) < maxLine {
		p.message = appendUpTo(append(p.message, '\n'), line, maxLine)
	}
}

// close hands over the open entry.
func (p *parser) close() {
	if p.open {
		p.open = false
		p.emit(p.current())
	}
}

// current is the open entry with what is there of it: a message that may span
// lines is taken apart, and bounded.
func (p *parser) current() Entry {
	e := p.entry
	e.Message = strings.ToValidUTF8(string(p.message), "\uFFFD")
	if e.Format == Klog {
		e.klogPairs()
	}
	e.Message = clip(strings.TrimSpace(e.Message), maxMessage)
	return e
}

// begin makes an entry of what may be its first line. It is not known if
// the line has no form of its own, and may be the rest of an entry.
func begin(line string) (e Entry, s state, known bool) {
	if e, ok := klogHeader(line); ok {
		if opensBlock(line) {
			return e, block, true
		}
		return e, lines, true
	}
	if e, ok := deathLine(line); ok {
		return e, death, true
	}
	for _, read := range []func(string) (Entry, bool){jsonLine, logfmtLine, plainLine} {
		if e, known = read(line); known {
			return e, single, true
		}
	}
	return e, single, false
}
