package report

import (
	"fmt"
	"io"
)

// Version is the document of the version command.
type Version struct {
	Head
	// Go is the toolchain the program was built with.
	Go string `json:"go"`
	// NRI is the newest version of the NRI library that was read.
	NRI string `json:"nri"`
	// Releases counts the releases of the table.
	Releases int `json:"releases"`
}

// Text writes the versions of the program and of the table, one a line.
func (v *Version) Text(w io.Writer, _ Style) error {
	_, err := fmt.Fprintf(w, "nri-compat %s (%s)\ntable %s (%s), %d releases, NRI up to %s\n",
		v.Tool.Version, v.Go, v.Table.Version, v.Table.Origin, v.Releases, v.NRI)
	return err
}
