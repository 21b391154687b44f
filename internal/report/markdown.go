package report

import (
	"io"
	"strings"
)

// mdTable writes a GitHub-flavoured Markdown table. The table library's own
// Markdown does not escape its cells.
func mdTable(w io.Writer, header []string, rows [][]string) error {
	var b strings.Builder
	b.WriteString(mdRow(header) + "\n")
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, row := range rows {
		b.WriteString(mdRow(row) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mdRow is one line of a table.
func mdRow(cells []string) string {
	var b strings.Builder
	b.WriteString("|")
	for _, c := range cells {
		b.WriteString(" " + mdText(c) + " |")
	}
	return b.String()
}

// mdText makes foreign text harmless in Markdown, in a table cell too: what
// would mark up, link, mention or break a line loses its meaning.
func mdText(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		switch r {
		case '\\', '`', '*', '[', ']', '|', '#', '~', '@':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
