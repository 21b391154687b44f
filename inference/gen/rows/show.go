package rows

import (
	"cmp"
	"fmt"
	"io"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// Show writes everything that was found out about a release.
func Show(w io.Writer, f Found) {
	row, problems := f.row()
	nri := inference.FamilyOf(f.Runtime) == capability.NRI
	fmt.Fprintf(w, "%s %s, %s", row.Runtime, cmp.Or(f.Patch, row.Version), cmp.Or(row.Date, "day not known"))
	if nri {
		fmt.Fprintf(w, ", NRI %s", row.NRI)
	}
	fmt.Fprintln(w)
	text := func(what, value, at, why string) {
		if why != "" {
			value = "not decided: " + why
		}
		fmt.Fprintf(w, "  %-34s %s  %s\n", what, value, at)
	}
	if nri {
		text("name sent to plugins", row.Name, f.Report.Name.At, problems["name"])
		text("version sent to plugins", f.Report.VersionForm.Value, f.Report.VersionForm.At, f.Report.VersionForm.Why)
	}
	fmt.Fprintln(w, "settings:")
	for _, s := range f.settings() {
		if s.Absent {
			text(s.Name, "the release has no such setting", "", s.Why)
			continue
		}
		text(s.Name, fmt.Sprintf("%q by default; %s", s.Value, s.Key), s.At, s.Why)
	}
	if nri {
		fmt.Fprintln(w, "configuration of NRI:")
	} else {
		fmt.Fprintln(w, "other feature gates that the code of plugins asks for:")
	}
	for _, s := range f.Report.Config {
		text(s.Key, s.Value, s.At, s.Why)
	}
	fmt.Fprintln(w, "capabilities:")
	for _, id := range inference.CapabilitiesOf(f.Runtime) {
		v := f.Report.Verdicts[id]
		text(id.String(), v.String(), evidence(v), v.Why)
	}
	fmt.Fprintln(w)
}
