package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/nri-compat/nri-compat/inference"
)

// Releases is the document of `table show`: the rows of the table.
type Releases struct {
	Head
	Releases []Release `json:"releases"`
	Changes  []Change  `json:"changes"`
}

// Change says why a row that was already published was changed.
type Change struct {
	Date     string `json:"date"`
	Releases string `json:"releases"`
	Because  string `json:"because"`
}

// NewReleases lists the rows of the table.
func NewReleases(head Head, t *inference.Table) *Releases {
	d := &Releases{Head: head, Releases: []Release{}, Changes: []Change{}}
	for _, r := range t.Releases("") {
		d.Releases = append(d.Releases, newRelease(t, r))
	}
	for _, c := range t.Changes() {
		d.Changes = append(d.Changes, Change(c))
	}
	return d
}

func (d *Releases) rows() (header []string, rows [][]string) {
	header = []string{"RUNTIME", "RELEASE", "DATE", "NRI", "DEFAULT", "NAME", "VERIFIED", "BUGS"}
	for _, r := range d.Releases {
		verified := "source"
		if r.Executed {
			verified = "source, executed"
		}
		byDefault := onOff(r.NRIEnabled)
		if r.NRI == "" {
			byDefault = ""
		}
		rows = append(rows, []string{r.Runtime, r.Version, r.Date, r.NRI, byDefault, r.Name, verified, fmt.Sprint(r.Bugs)})
	}
	return header, rows
}

// Text writes one release a line.
func (d *Releases) Text(w io.Writer, style Style) error {
	header, rows := d.rows()
	p := &printer{w: w}
	p.do(func(w io.Writer) error { return grid(w, style, header, rows) })
	for _, c := range d.Changes {
		p.linef("changed %s: %s: %s", c.Date, c.Releases, plain(c.Because))
	}
	p.linef("")
	p.linef("%d releases; %s", len(d.Releases), d.tableName())
	return p.err
}

// Markdown writes the same as a table.
func (d *Releases) Markdown(w io.Writer) error {
	header, rows := d.rows()
	return mdTable(w, header, rows)
}

// CSV writes a header row and one row a release.
func (d *Releases) CSV(w io.Writer) error {
	header, rows := d.rows()
	c := csv.NewWriter(w)
	c.UseCRLF = true
	if err := c.Write(header); err != nil {
		return err
	}
	return c.WriteAll(rows)
}
