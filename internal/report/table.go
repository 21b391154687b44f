package report

import (
	"bytes"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// grid writes rows in columns: two spaces between them, no borders, nothing
// behind the last one, headers as they are given. It is the only user of the
// table library, whose defaults rewrite headers, wrap and cut cells.
func grid(w io.Writer, style Style, header []string, rows [][]string) error {
	var b bytes.Buffer
	none := tw.Off
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: none, BetweenRows: none, ShowHeader: none, ShowFooter: none},
				Lines:      tw.Lines{ShowTop: none, ShowBottom: none, ShowHeaderLine: none, ShowFooterLine: none},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
		tablewriter.WithTrimSpace(tw.Off),
	)
	if len(header) > 0 {
		t.Header(header)
	}
	for _, row := range rows {
		cells := make([]string, len(row)) // the library keeps the slice
		for i, c := range row {
			cells[i] = plain(c)
		}
		if err := t.Append(cells); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		line = style.fit(line)
		if i == 0 && len(header) > 0 {
			line = style.bold(line)
		} else {
			line = style.statuses(line)
		}
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}
