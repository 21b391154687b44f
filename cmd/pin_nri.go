package cmd

import (
	"errors"
	"io/fs"

	"github.com/nri-compat/nri-compat/internal/report"
)

// advise answers --nri-for.
func (o *pinOptions) advise(args []string) error {
	if err := o.acceptOutputs(&report.PinNRI{}); err != nil {
		return err
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	runtimes, err := selectAll(t, o.nriFor)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		if err := noWork(goModPath(args)); err != nil {
			return err
		}
	}
	current := ""
	file, err := readGoMod(goModPath(args))
	switch {
	case err == nil:
		current = file.Version(nriModule)
	case len(args) > 0 || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	d := report.NewPinNRI(o.head("pin-nri", t), o.nriFor, current, t.LookupAll(runtimes, nil))
	if err := o.write(d); err != nil {
		return err
	}
	if d.NRI == "" || len(d.Unknown) > 0 {
		return statusError(exitInconclusive)
	}
	return nil
}
