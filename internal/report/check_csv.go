package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// CSV writes one row a plugin, runtime or run of releases, and capability, and
// nothing else; a result without capabilities has one row.
func (c *Check) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180
	err := out.Write([]string{
		"plugin", "runtime", "from", "to", "vendor", "match", "nri", "verdict",
		"capability", "level", "status", "state", "effect", "consequence", "waived", "file", "line", "oneOf", "counts",
	})
	if err != nil {
		return err
	}
	for _, p := range c.Plugins {
		for _, r := range c.Results {
			if r.Plugin != p.Name {
				continue
			}
			head := []string{
				r.Plugin, r.Runtime.Name, r.Runtime.From, r.Runtime.To, r.Runtime.Vendor, r.Runtime.Match,
				strings.Join(r.Runtime.NRI, " "), r.Verdict,
			}
			if len(r.Capabilities) == 0 {
				if err := out.Write(csvRow(head, make([]string, 11))); err != nil {
					return err
				}
			}
			for _, o := range r.Capabilities {
				if err := out.Write(csvRow(head, o.csv(p))); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (o Outcome) csv(p CheckPlugin) []string {
	waived := ""
	if o.Waived != nil {
		waived = o.Waived.line()
	}
	place := p.place(o)
	return []string{
		o.ID, o.Level, o.Status, o.State, o.Effect, o.Consequence, waived, place.File, strconv.Itoa(place.Line), o.OneOf, o.counted(),
	}
}

// csvRow joins the parts of a row in a form that spreadsheets take for text:
// they run what begins like a formula.
func csvRow(parts ...[]string) []string {
	var row []string
	for _, part := range parts {
		for _, cell := range part {
			cell = clip(plain(clip(cell, maxText)), maxText)
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				cell = "'" + cell
			}
			row = append(row, cell)
		}
	}
	return row
}
