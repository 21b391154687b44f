package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/manifest"
	"github.com/nri-compat/nri-compat/internal/pluginlog"
	"github.com/nri-compat/nri-compat/internal/report"
	"github.com/nri-compat/nri-compat/internal/sandbox"
	"github.com/nri-compat/nri-compat/internal/standin"
	"github.com/spf13/cobra"
)

type observeOptions struct {
	*app
	targetOptions
	kubelet  bool
	as       string
	manifest bool
	restart  bool
	args     []string // of the plugin
}

func newObserve(a *app) *cobra.Command {
	o := &observeOptions{app: a}
	c := &cobra.Command{
		Use:     "observe PLUGIN --kubelet [--as RELEASE] [-- ARGUMENTS...]",
		GroupID: groupCheck,
		Short:   "Run a device plugin against a stand-in for the kubelet, and tell what it uses",
		Long: `Run a device plugin against a stand-in for the kubelet, and tell what it uses.

This runs the plugin, with the rights of who calls it: do it on a test machine.
No other command runs a plugin.

PLUGIN is the path of an executable, in any language. It is started in a mount
and a process namespace of its own, as root or where users may make namespaces,
with /var/lib/kubelet and /var/run/nri empty and copies of the CDI
specifications in /etc/cdi and /var/run/cdi. There it finds the registration
socket of the stand-in, which accepts its registration, looks whether it serves,
compares the options in RegisterRequest with those of GetDevicePluginOptions,
reads a list of its devices, and calls GetPreferredAllocation, Allocate and
PreStartContainer once each, as far as the plugin wants to be called; and a pod
resources API without pods, of which it is noted what is called. When nothing new happens for a second, or after --timeout, the plugin is ended, with
everything that it has started. No process, mount or socket stays behind; what
the plugin does elsewhere on the machine is its own business.

Without --as the stand-in goes on where a kubelet would refuse the plugin, to see
as much as possible, and the report says where the plugin would work. With --as
it behaves like that release: it does not call what that release does not call,
and refuses what it refuses; then the plugin is checked against it.

A kubelet that starts removes all sockets from the directory of device plugins,
and every plugin has to notice and to register again. --restart does the same
after all was seen, and waits for twenty seconds.

What a plugin did not do in one run it may do in another: a device that is not
there, or an allocation of another kind, can need more than was seen.

Exit status 3 if the plugin used something that the release lacks, or does what
every kubelet refuses, 4 if not all could be seen.`,
		Example: `  sudo nri-compat observe ./bin/device-plugin --kubelet
  sudo nri-compat observe ./bin/device-plugin --kubelet --as kubelet@1.24.0
  sudo nri-compat observe ./bin/device-plugin --kubelet --manifest > nri-compat.yaml
  sudo nri-compat observe ./bin/device-plugin --kubelet -o json -- -v=4 --resource example.com/gpu`,
		Args: func(cmd *cobra.Command, args []string) error {
			plugins := args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				plugins, o.args = args[:dash], args[dash:]
			}
			switch {
			case len(plugins) == 0:
				return errors.New("no plugin: name an executable")
			case len(plugins) > 1:
				return fmt.Errorf("one plugin at a time, not %d: its arguments stand behind --", len(plugins))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := c.Flags()
	f.BoolVar(&o.kubelet, "kubelet", false, "play a kubelet to the plugin")
	f.StringVar(&o.as, "as", "", "`RELEASE` to behave like, such as kubelet@1.24.0")
	f.BoolVar(&o.restart, "restart", false, "restart the stand-in too, and see whether the plugin registers again")
	f.BoolVar(&o.manifest, "manifest", false, "write a nri-compat.yaml of what was used")
	o.addAssume(c)
	complete(c, "as", kubeletReleases)
	return c
}

func kubeletReleases() []string {
	var names []string
	for _, r := range inference.Builtin().Releases(inference.Kubelet) {
		names = append(names, r.Runtime+"@"+r.Version.String())
	}
	return names
}

func (o *observeOptions) run(ctx context.Context, plugin string) error {
	if err := o.acceptOutputs(&report.Observe{}); err != nil {
		return err
	}
	if !o.kubelet {
		return usagef("nothing to play to the plugin: say --kubelet, for device plugins")
	}
	if o.manifest && len(o.outputs.list) > 0 {
		return usagef("--manifest has one format only: leave out --output")
	}
	t, err := o.loadTable()
	if err != nil {
		return err
	}
	as, err := o.release(t)
	if err != nil {
		return err
	}
	behaviour := standin.Behaviour{Curious: true, ServeFirst: true, RegisterOptions: true, GetOptions: true, Preferred: true, Watcher: true, Authority: true}
	if as != nil {
		if behaviour, err = behaviourOf(*as); err != nil {
			return err
		}
	}
	path, err := executable(plugin)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the directory to run the plugin in is not there any more: change to one that is: %w", err)
	}
	progress := o.newProgress()
	progress.show(plugin, "running, for at most "+o.timeout.String())
	spec := sandboxSpec(append([]string{path}, o.args...), o.env, dir)
	var log pluginlog.Tail
	var output io.Writer = &log
	if o.verbose > 1 {
		output = io.MultiWriter(&log, o.stderr)
	}
	start := time.Now()
	seen, err := watch(ctx, spec, stageConfig{behaviour, o.timeout, o.restart}, output)
	progress.done()
	if err != nil {
		return err
	}
	o.log.Info("ran a plugin", "file", path, "registrations", len(seen.Seen.Registrations), "lines", log.Lines(), took(start))
	findings := o.findings(seen)
	doc := o.document(t, plugin, as, seen, findings, &log)
	if o.manifest {
		err = o.writeNeeds(doc.Plugin.Name, findings.Needs)
	} else {
		err = o.write(doc)
	}
	if err != nil {
		return err
	}
	return o.verdict(doc)
}

// writeNeeds writes what was used as a manifest, for readers that cannot tell
// it from the executable.
func (o *observeOptions) writeNeeds(name string, need capability.Needs) error {
	if len(need.Requirements) == 0 {
		// A manifest that requires nothing would make every check pass.
		return fmt.Errorf("no manifest: %s", strings.Join(need.Gaps, "; "))
	}
	return manifest.Write(o.stdout, found.Plugin{Name: name, Reader: "run", Requirements: need.Requirements, Gaps: need.Gaps})
}

// release is the kubelet of --as with its configuration, nil if none was asked
// for.
func (o *observeOptions) release(t *inference.Table) (*inference.Support, error) {
	if o.as == "" {
		if len(o.assume) > 0 || o.config != "" {
			return nil, usagef("--assume and --runtime-config are about a release: name it with --as, such as --as kubelet@1.30.0")
		}
		return nil, nil
	}
	releases, err := t.Select(o.as)
	if err != nil {
		return nil, usage(err)
	}
	if len(releases) != 1 || releases[0].Name != inference.Kubelet {
		return nil, usagef("--as %s: want one release of the kubelet, such as kubelet@1.24.0", o.as)
	}
	values, err := o.values(t)
	if err != nil {
		return nil, err
	}
	if values, err = o.withConfig(o.log, t, values, releases); err != nil {
		return nil, err
	}
	s := t.Lookup(releases[0], values)
	return &s, nil
}

// behaviourOf is how a release treats a device plugin, by the table.
func behaviourOf(s inference.Support) (standin.Behaviour, error) {
	var unknown error
	has := func(id capability.ID) bool {
		status := s.Answer(id).Status()
		if status == capability.StatusUnknown && unknown == nil {
			unknown = usagef("--as %s %s: what it does about %s is not known, so it cannot be played: name a release of the table, see 'nri-compat matrix --runtime kubelet@all'", s.Runtime.Name, s.Runtime.Version, id)
		}
		return status == capability.StatusOK
	}
	b := standin.Behaviour{
		ServeFirst:      !has(capability.DeviceRegisterBeforeServe),
		RegisterOptions: has(capability.DeviceRegisterOptions),
		GetOptions:      has(capability.DeviceGetOptions),
		Preferred:       has(capability.DevicePreferredAllocation),
		Watcher:         has(capability.DevicePluginwatcherRegistration),
		Authority:       has(capability.DeviceGRPCAuthorityLocalhost),
	}
	for _, id := range []capability.ID{capability.PodresV1alpha1List, capability.PodresV1List, capability.PodresGetAllocatable, capability.PodresGet} {
		if has(id) {
			b.PodResources = append(b.PodResources, id)
		}
	}
	if !has(capability.DevicePluginV1beta1) && unknown == nil {
		return b, usagef("--as %s %s: it takes no device plugins, so there is nothing to play", s.Runtime.Name, s.Runtime.Version)
	}
	return b, unknown
}

// executable returns the absolute path of a program that can be run.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s: not a file: observe runs an executable", path)
	case info.Mode()&0o111 == 0:
		return "", fmt.Errorf("%s: not executable: observe runs an executable", path)
	}
	return filepath.Abs(path)
}

// watch runs the plugin in its sandbox and returns what was last reported of
// it. What the plugin writes goes to log.
func watch(ctx context.Context, spec sandbox.Spec, config stageConfig, log io.Writer) (stageReport, error) {
	// A little more than the stage needs: what was learnt is worth waiting for.
	within, cancel := context.WithTimeout(ctx, config.For+stopAfter+3*time.Second)
	defer cancel()
	box, err := sandbox.Start(within, []string{"nri-compat", stageCommand}, spec, config, log, log)
	if err != nil {
		return stageReport{}, err
	}
	var last stageReport
	for !last.Done {
		var next stageReport
		if err = box.Next(&next); err != nil {
			if !errors.Is(err, io.EOF) {
				cancel() // there is nothing more to wait for
			}
			break
		}
		last = next
	}
	waitErr := box.Wait()
	if err == nil || errors.Is(err, io.EOF) {
		err = waitErr
	}
	if err == nil && (!last.Done || last.Cut) {
		// The stage was ended from outside: by us, or by the plugin, which can as root.
		last.TimedOut = errors.Is(within.Err(), context.DeadlineExceeded)
		last.Cut = !last.TimedOut
	}
	return last, err
}

func (o *observeOptions) verdict(doc *report.Observe) error {
	g := newGate(failOnUnknown)
	var v capability.Verdict
	if err := v.UnmarshalText([]byte(doc.Verdict)); err != nil {
		return err
	}
	g.add(v, false)
	return g.err()
}

// describeExit says how the plugin ended.
func describeExit(r stageReport) string {
	switch {
	case r.Exit != "":
		return strings.TrimSpace("by itself: " + r.Exit)
	case r.Stubborn:
		return "killed: it did not end on SIGTERM within " + stopAfter.String()
	case !r.Done:
		return "together with its namespaces"
	}
	return "on SIGTERM"
}
