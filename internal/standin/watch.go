package standin

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// lookEvery is how often the plugins directory is looked at.
const lookEvery = 200 * time.Millisecond

// watch looks for sockets in the plugins directory, where DRA drivers and CSI
// drivers register, and device plugins may.
func (s *Kubelet) watch() {
	met := map[string]bool{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		// What cannot be read is not there yet.
		_ = filepath.WalkDir(s.o.Registry, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type() == fs.ModeSocket && !met[path] && len(met) < maxRegistrations {
				met[path] = true
				s.work.Go(func() { s.ask(path) })
			}
			return nil
		})
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ask asks a plugin in the plugins directory who it is, and meets it if it is a
// device plugin.
func (s *Kubelet) ask(socket string) {
	conn, err := dial(socket, "localhost")
	if err != nil {
		return
	}
	defer conn.Close()
	client := registration.NewRegistrationClient(conn)
	ctx, cancel := context.WithTimeout(s.ctx, s.o.CallTimeout)
	defer cancel()
	info, err := client.GetInfo(ctx, &registration.InfoRequest{}, grpc.WaitForReady(true))
	if err != nil || info.Type != registration.DevicePlugin {
		driver := Driver{Name: filepath.Base(socket), Services: []string{}}
		if err != nil {
			driver.Error = status.Convert(err).Message()
		} else {
			driver.Name, driver.Type, driver.Services = info.Name, info.Type, bounded(info.SupportedVersions)
		}
		s.change(func(o *Observation) { o.Drivers = append(o.Drivers, driver) })
		if err == nil {
			s.notify(client, "")
		}
		return
	}
	endpoint := info.Endpoint
	if endpoint == "" {
		endpoint = socket
	}
	v := s.begin(Registration{
		Resource: info.Name, Endpoint: endpoint, Version: strings.Join(info.SupportedVersions, ","), Way: BySocket,
		Devices: []Device{}, Calls: []Call{},
	})
	if v == nil {
		return
	}
	text := unacceptable(info.Name, info.SupportedVersions...)
	if text != "" {
		v.refuse(text, true)
	} else {
		text = v.synchronous(s.ctx, endpoint)
	}
	s.notify(client, text)
}

// notify tells a plugin in the plugins directory how its registration ended.
func (s *Kubelet) notify(client registration.RegistrationClient, failed string) {
	ctx, cancel := context.WithTimeout(s.ctx, s.o.CallTimeout)
	defer cancel()
	// Whether it listens is its own business.
	_, _ = client.NotifyRegistrationStatus(ctx, &registration.RegistrationStatus{PluginRegistered: failed == "", Error: failed})
}
