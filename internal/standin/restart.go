package standin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// restartWait is how long a plugin may take to come back after a restart of the
// kubelet. The sample plugin of Kubernetes itself takes ten seconds.
const restartWait = 20 * time.Second

// Restarted is what became of the resources after a restart of the kubelet.
type Restarted struct {
	// Again are those that were registered again and listed their devices, Missing
	// those that were not within the time, Wait.
	Again   []string      `json:"again"`
	Missing []string      `json:"missing"`
	Wait    time.Duration `json:"wait"`
	// Ended is set if the plugin ended meanwhile. Many leave it to whoever runs them
	// to start them again.
	Ended bool `json:"ended,omitempty"`
}

// Restart ends the stand-in, does what every kubelet does when it starts, which
// is to remove all sockets from the directory of device plugins, and starts
// another one. It waits until all resources that were registered are again, for the
// time, or until over tells that the plugin does not run any more; it must run when
// this begins. The error is that of the context, if it ended first, or says that the
// stand-in could not be started.
func (s *Kubelet) Restart(ctx context.Context, over func() bool) (Restarted, error) {
	before := s.Observation().resources(func(r Registration) bool { return r.Refused == "" })
	if err := s.Close(); err != nil {
		return Restarted{}, err
	}
	if err := removeSockets(s.o.Dir); err != nil {
		return Restarted{}, fmt.Errorf("restart as a kubelet: %w", err)
	}
	o := s.o
	o.Changed = nil
	next, err := Listen(o)
	if err != nil {
		return Restarted{}, err
	}
	defer next.Close()
	patience := time.NewTimer(o.RestartWait)
	defer patience.Stop()
	look := time.NewTicker(o.Settle)
	defer look.Stop()
	for {
		listed := next.Observation().resources(func(r Registration) bool { return r.Updates > 0 })
		out := Restarted{Again: []string{}, Missing: []string{}, Wait: o.RestartWait}
		for _, resource := range before {
			if slices.Contains(listed, resource) {
				out.Again = append(out.Again, resource)
			} else {
				out.Missing = append(out.Missing, resource)
			}
		}
		if len(out.Missing) == 0 {
			return out, nil
		}
		if out.Ended = over(); out.Ended {
			return out, nil
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-patience.C:
			return out, nil
		case <-next.news:
		case <-look.C:
		}
	}
}

// resources are the resources of some registrations, each once, in their order.
func (o Observation) resources(which func(Registration) bool) []string {
	var out []string
	for _, r := range o.Registrations {
		if which(r) && !slices.Contains(out, r.Resource) {
			out = append(out, r.Resource)
		}
	}
	return out
}

// removeSockets removes the sockets of a directory, also where a link leads to one.
// Other files are left alone: kubelets from 1.33 on do so too, of those before most
// remove them, but for their checkpoint.
func removeSockets(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		// What cannot be looked at, such as a link to nowhere, no kubelet removes.
		if info, err := os.Stat(name); err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
