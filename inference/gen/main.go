// Command gen derives the rows of the table from the source of the runtimes:
//
//	go run ./inference/gen -containerd DIR -crio DIR -nri DIR -kubernetes all
//
// It reads every release in local git repositories, bare or not, in versions of
// containerd's Go modules (-module) and in those of Kubernetes (-kubernetes),
// compares what it finds with inference/table.json, and prints what would change.
// With -write it changes the file. See docs/table.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/inference/gen/collect"
	"github.com/nri-compat/nri-compat/inference/gen/rows"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case errors.Is(err, errDiffers):
		os.Exit(1)
	case err != nil:
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(2)
	}
}

// errDiffers ends a run that found differences and did not write them.
var errDiffers = errors.New("the table would change")

// options are the flags of a run.
type options struct {
	sources collect.Sources
	table   string
	only    list
	ids     []capability.ID
	show    bool
	write   bool
	because string
	day     string
}

// list is a flag that can be given several times, or with commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var modules, names, kubernetes list
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.sources.Containerd, "containerd", "", "git `directory` of containerd")
	flags.StringVar(&o.sources.CRIO, "crio", "", "git `directory` of CRI-O")
	flags.StringVar(&o.sources.NRI, "nri", "", "git `directory` of NRI, for releases that do not vendor it; without it the Go client fetches the module")
	flags.Var(&modules, "module", "`MODULE@VERSION` of containerd that the Go client fetches, for releases without a tag in -containerd")
	flags.Var(&kubernetes, "kubernetes", "`RELEASE` of Kubernetes that the Go client fetches, such as 1.34 or 1.34.1; all for those that the table has; or a directory with its modules")
	flags.StringVar(&o.table, "table", "inference/table.json", "table `file` to compare with and to write")
	flags.Var(&o.only, "release", "read only this `RUNTIME@VERSION`, such as containerd@2.4.3")
	flags.Var(&names, "capability", "compare and write only this `CAPABILITY` of releases that the table has")
	flags.BoolVar(&o.show, "show", false, "print everything that was found, with its evidence, instead of the differences")
	diff := flags.Bool("diff", true, "print what would change")
	flags.BoolVar(&o.write, "write", false, "write the table")
	flags.StringVar(&o.because, "because", "", "why rows of published releases change; kept in the table")
	flags.StringVar(&o.day, "date", time.Now().UTC().Format(time.DateOnly), "day to put into the table, YYYY-MM-DD")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.sources.Modules, o.sources.Kubernetes = modules, kubernetes
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: all input is named by flags", flags.Arg(0))
	case !*diff && !o.write && !o.show:
		return o, errors.New("nothing to do: use -diff, -show or -write")
	case o.because != "" && !o.write:
		return o, errors.New("-because is for -write")
	}
	if _, err := time.Parse(time.DateOnly, o.day); err != nil {
		return o, fmt.Errorf("invalid date %q: want YYYY-MM-DD", o.day)
	}
	for _, name := range names {
		id, err := capability.Parse(name)
		if err != nil {
			return o, err
		}
		o.ids = append(o.ids, id)
	}
	for _, name := range o.only {
		if _, _, err := parseRelease(name); err != nil {
			return o, err
		}
	}
	return o, nil
}

// parseRelease reads "containerd@2.4.3" and "cri-o@main".
func parseRelease(name string) (runtime string, v inference.Version, err error) {
	runtime, version, ok := strings.Cut(name, "@")
	if !ok || !slices.Contains(inference.Runtimes(), runtime) {
		return "", v, fmt.Errorf("release %q: write RUNTIME@VERSION with one of %s", name, strings.Join(inference.Runtimes(), ", "))
	}
	if err := v.UnmarshalText([]byte(strings.TrimPrefix(version, "v"))); err != nil || v.IsZero() {
		return "", v, fmt.Errorf("release %q: %q is no version", name, version)
	}
	return runtime, v, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	table, err := rows.Read(o.table)
	if err != nil {
		return err
	}
	wanted := func(runtime string, v inference.Version) bool {
		return len(o.only) == 0 || slices.ContainsFunc(o.only, func(name string) bool {
			r, w, _ := parseRelease(name)
			return r == runtime && w == v
		})
	}
	o.sources.Kubelets = table.Versions(inference.Kubelet)
	found, err := collect.New(ctx, o.sources, table.First, wanted, progress(stderr)).All()
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("none of the sources has a release that is asked for")
	}
	out := bufio.NewWriter(stdout)
	defer out.Flush()
	if o.show {
		for _, f := range found {
			rows.Show(out, f)
		}
		return nil
	}
	comparison := rows.Compare(table, found, o.ids...)
	comparison.Print(out)
	if !o.write {
		if comparison.Different+comparison.Unknown-comparison.Open+len(comparison.Facts)+len(comparison.Added) > 0 {
			return errDiffers
		}
		return nil
	}
	merged, err := comparison.Merge(o.because, o.day)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return merged.Write(o.table)
}

// progress shows on a terminal how far the run is.
func progress(w io.Writer) func(done, total int, what string) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(int, int, string) {}
	}
	return func(done, total int, what string) {
		fmt.Fprintf(w, "\r\x1b[K%d/%d %s", done, total, what)
		if done == total {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}
