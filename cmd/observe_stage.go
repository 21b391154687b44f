package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/nri-compat/nri-compat/internal/sandbox"
	"github.com/nri-compat/nri-compat/internal/standin"
	"github.com/spf13/cobra"
)

// stageCommand is the command line under which observe starts this program
// once more, as the first process of the plugin's namespaces.
const stageCommand = "stage"

// Where a plugin looks for the kubelet.
const (
	kubeletRoot  = "/var/lib/kubelet"
	devicePlugin = kubeletRoot + "/device-plugins"
	registry     = kubeletRoot + "/plugins_registry"
	podResources = kubeletRoot + "/pod-resources/kubelet.sock"
)

// sandboxSpec is what a plugin sees of the machine: everything, except for the
// kubelet, for the NRI socket, at which a program of both kinds would register
// for real, and that what it writes as CDI specifications is its own.
func sandboxSpec(command, env []string, dir string) sandbox.Spec {
	return sandbox.Spec{
		Command: command, Env: env, Dir: dir,
		Empty:  []string{kubeletRoot, "/var/run/nri"},
		Copied: []string{"/var/run/cdi", "/etc/cdi"},
	}
}

// stageConfig is what the stage is told to do.
type stageConfig struct {
	Behaviour standin.Behaviour `json:"behaviour"`
	// For is how long to watch at most.
	For time.Duration `json:"for"`
	// Restart asks for a restart of the stand-in after all was seen.
	Restart bool `json:"restart"`
}

// stageReport is what the stage tells, again and again.
type stageReport struct {
	Seen standin.Observation `json:"seen"`
	// Exit is how the plugin ended by itself, such as "exit status 2"; empty if
	// it did not.
	Exit string `json:"exit,omitempty"`
	// TimedOut is set if the time was up before all was seen, Cut if a signal ended
	// the run before that.
	TimedOut bool `json:"timedOut,omitempty"`
	Cut      bool `json:"cut,omitempty"`
	// Left are the names of processes that the plugin left running when it ended.
	Left []string `json:"left,omitempty"`
	// Stubborn is set if the plugin did not end on SIGTERM.
	Stubborn bool `json:"stubborn,omitempty"`
	// Done is set in the last report.
	Done bool `json:"done,omitempty"`
}

// stopAfter is how long a plugin may take to end on SIGTERM.
const stopAfter = 2 * time.Second

func newObserveStage(a *app) *cobra.Command {
	return &cobra.Command{
		Use: stageCommand, Hidden: true, Args: cobra.NoArgs,
		Short: "The first process of the namespaces of observe; for itself only",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if os.Getpid() != 1 {
				return usagef("%s is no command to call: observe starts it by itself", stageCommand)
			}
			if err := a.stage(cmd.Context()); err != nil {
				// Whoever waits has been told; here the output is the plugin's.
				return statusError(exitError)
			}
			return nil
		},
	}
}

// stage runs the plugin and plays the kubelet to it.
func (a *app) stage(ctx context.Context) error {
	var config stageConfig
	stage, err := sandbox.Enter(a.stdin, &config)
	if err != nil {
		return err
	}
	for _, dir := range []string{devicePlugin, registry, filepath.Dir(podResources), filepath.Join(kubeletRoot, "plugins")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return stage.Fail(err)
		}
	}
	standIn, err := standin.Listen(standin.Options{
		Dir: devicePlugin, Registry: registry, PodResources: podResources, Behaviour: config.Behaviour,
		Changed: func(o standin.Observation) { _ = stage.Send(stageReport{Seen: o}) }, // see Gone
	})
	if err != nil {
		return stage.Fail(err)
	}
	if err := stage.Run(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, config.For)
	defer cancel()
	go func() {
		select {
		case <-stage.Gone():
			cancel()
		case <-ctx.Done():
		}
	}()
	over := func() bool { return stage.Exit() != "" && len(stage.Alive()) == 0 }
	err = standIn.Wait(ctx, over)
	seen := standIn.Observation()
	// That a plugin has ended before is not because of a restart.
	if config.Restart && err == nil && seen.Registered() && !over() {
		var restarted standin.Restarted
		restarted, err = standIn.Restart(ctx, over)
		switch {
		case err == nil:
			seen.Restarted = &restarted
		case ctx.Err() == nil:
			return stage.Fail(err)
		}
	}
	// What the plugin does from now on it does because it is ended.
	out := stageReport{Seen: seen, Exit: stage.Exit(), Done: true}
	out.TimedOut = errors.Is(err, context.DeadlineExceeded)
	out.Cut = err != nil && !out.TimedOut
	out.Stubborn = !stage.Stop(stopAfter)
	out.Left = stage.Alive()
	if err := stage.Send(out); err != nil {
		return err
	}
	return standIn.Close()
}
