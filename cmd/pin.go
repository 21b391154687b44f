package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/gomod"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/spf13/cobra"
)

// maxGoMod bounds the go.mod and go.work files that are read.
const maxGoMod = 16 << 20

type pinOptions struct {
	*app
	kubernetes string
	check      bool
	diff       bool
	drop       bool
	nriFor     []string
}

func newPin(a *app) *cobra.Command {
	o := &pinOptions{app: a}
	c := &cobra.Command{
		Use:     "pin --kubernetes RELEASE | --check | --drop | --nri-for RUNTIME [GO.MOD]",
		GroupID: groupData,
		Short:   "Pin the Kubernetes modules of a go.mod to one release",
		Long: `Pin the Kubernetes modules of a go.mod to one release, so that
k8s.io/kubernetes can be imported: its go.mod requires k8s.io/api, k8s.io/kubelet
and others at v0.0.0 and replaces them by directories, which does not count for
who imports it ("unknown revision v0.0.0").

--kubernetes writes the replace directives, brings require lines of the same
modules to that release and drops replace directives that are not needed;
comments, order and whatever is replaced by something else stay. A module that
does not import k8s.io/kubernetes needs no pins, and its file stays as it is.
Run 'go mod tidy' afterwards. --diff shows what would change and writes nothing.

--check changes nothing: exit status 3 if the file is not as --kubernetes would
write it for the release it requires (or the one that is named), 4 if nothing is
wrong in the file itself but the release could not be read. --drop takes the
replace directives out again.

The release is read with the go command, from its module cache or from where it
gets modules; GOPROXY=off is fine if it was there before.

Where a go.work file is in effect (that of GOWORK, or one above), replace
directives in it and in other modules of the workspace count as well. What
contradicts the pins is told with its line, and is a drift for --check. Pins are
for a module by itself: a go.work file is never written.

--nri-for advises with which version of the NRI library to build a plugin that
is meant for some runtimes, and what is given up with it. It changes nothing.

GO.MOD is a file or the directory with it, by default the one here.`,
		Example: `  nri-compat pin --kubernetes 1.34.1 && go mod tidy
  nri-compat pin --check ./my-plugin
  nri-compat pin --nri-for 'containerd@>=1.7.26' --nri-for cri-o@1.33.x`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := c.Flags()
	f.StringVar(&o.kubernetes, "kubernetes", "", "`RELEASE` of Kubernetes, such as 1.34.1")
	f.BoolVar(&o.check, "check", false, "change nothing; exit with 3 if something would change")
	f.BoolVar(&o.diff, "diff", false, "show the change as a unified diff and do not write it")
	f.BoolVar(&o.drop, "drop", false, "take the replace directives out again")
	f.StringArrayVar(&o.nriFor, "nri-for", nil, "`RUNTIME` that a plugin is meant for: a release, line or range of one, repeatable")
	complete(c, "nri-for", releaseNames)
	return c
}

func (o *pinOptions) run(cmd *cobra.Command, args []string) error {
	switch pins := o.kubernetes != "" || o.check || o.drop || o.diff; {
	case len(o.nriFor) > 0 && pins:
		return usagef("--nri-for only gives advice: leave out the other flags")
	case len(o.nriFor) > 0:
		return o.advise(args)
	case o.drop && (o.check || o.kubernetes != ""):
		return usagef("--drop takes pins out: leave out --kubernetes and --check")
	case !o.drop && !o.check && o.kubernetes == "":
		return usagef("nothing to do: use --kubernetes, --check, --drop or --nri-for")
	}
	if err := o.acceptOutputs(&report.Pin{}); err != nil {
		return err
	}
	if o.kubernetes != "" {
		v, err := gomod.ParseVersion(o.kubernetes)
		if err != nil {
			return usage(err)
		}
		o.kubernetes = v
	}
	path := goModPath(args)
	if err := noWork(path); err != nil {
		return err
	}
	file, err := readGoMod(path)
	if err != nil {
		return err
	}
	o.log.Info("read go.mod", "file", path, fileSize(path), "kubernetes", file.Version(gomod.Kubernetes))
	ctx, cancel := o.deadline(cmd)
	defer cancel()
	p := &pinRun{pinOptions: o, file: file, doc: &report.Pin{
		Head: o.head("pin", inference.Builtin()), File: path, Complete: true,
		Changes: []report.PinChange{}, Kept: []string{}, Notes: []string{},
	}}
	if o.drop {
		err = p.dropPins()
	} else {
		err = p.pin(ctx, path)
	}
	if err == nil && !o.drop {
		err = p.workspace(path)
	}
	if err != nil {
		return err
	}
	return p.finish(path)
}

// goModPath is the file that the arguments name.
func goModPath(args []string) string {
	if len(args) == 0 {
		return "go.mod"
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		return filepath.Join(args[0], "go.mod")
	}
	return args[0]
}

func readGoMod(path string) (*gomod.File, error) {
	data, err := readModule(path)
	if err != nil {
		return nil, err
	}
	return gomod.Parse(path, data)
}

// readModule reads a go.mod or go.work file.
func readModule(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is no regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxGoMod+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxGoMod {
		return nil, fmt.Errorf("read %s: such a file has at most %d MB", path, maxGoMod>>20)
	}
	return data, nil
}
