package standin

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// lookEvery is how often the plugins directory is looked at.
const lookEvery = 200 * time.Millisecond

// watch looks for sockets in the plugins directory, where DRA drivers and CSI
// drivers register, and device plugins may. As a kubelet it passes over hidden
// ones.
func (s *Kubelet) watch() {
	met, full := map[string]bool{}, false
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !full {
		// What cannot be read is not there yet.
		_ = filepath.WalkDir(s.o.Registry, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
			case path != s.o.Registry && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type() == fs.ModeSocket && !met[path]:
				if full = len(met) == maxRegistrations; full {
					s.change(func(o *Observation) { o.Ignored++ })
					return fs.SkipAll
				}
				met[path] = true
				done := s.hold()
				s.work.Go(func() {
					defer done()
					s.ask(path)
				})
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
	conn, err := dial(socket, "") // kubelets say "localhost" to device plugins only
	if err != nil {
		return
	}
	c := &connection{conn: conn}
	defer c.close()
	client := registration.NewRegistrationClient(conn)
	info, failed := s.info(c, client)
	if failed != "" {
		s.change(func(o *Observation) {
			o.Drivers = append(o.Drivers, Driver{Name: short(filepath.Base(socket)), Services: []string{}, Error: failed})
		})
		return
	}
	if info.Type != registration.DevicePlugin {
		driver := Driver{Name: short(info.Name), Type: short(info.Type), Services: bounded(info.SupportedVersions)}
		s.change(func(o *Observation) { o.Drivers = append(o.Drivers, driver) })
		s.notify(client, "")
		return
	}
	endpoint := info.Endpoint
	if endpoint == "" {
		endpoint = socket
	}
	reg := Registration{
		Resource: short(info.Name), Endpoint: short(endpoint), Version: short(strings.Join(info.SupportedVersions, ",")), Way: BySocket,
		Devices: []Device{}, Calls: []Call{},
	}
	reg.noteUnknown(info)
	v := s.begin(reg)
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

// info is the answer to GetInfo, or why there is none.
func (s *Kubelet) info(c *connection, client registration.RegistrationClient) (info *registration.PluginInfo, failed string) {
	if !c.wait(s.ctx, s.o.DialTimeout) {
		return nil, fmt.Sprintf("it did not serve within %s", s.o.DialTimeout)
	}
	ctx, cancel := context.WithTimeout(s.ctx, infoTimeout)
	defer cancel()
	info, err := client.GetInfo(ctx, &registration.InfoRequest{})
	switch {
	case err == nil:
		return info, ""
	case status.Code(err) == codes.DeadlineExceeded:
		return nil, fmt.Sprintf("no answer within %s, and no kubelet waits longer", infoTimeout)
	}
	return nil, short(status.Convert(err).Message())
}

// notify tells a plugin in the plugins directory how its registration ended.
func (s *Kubelet) notify(client registration.RegistrationClient, failed string) {
	ctx, cancel := context.WithTimeout(s.ctx, s.o.CallTimeout)
	defer cancel()
	// Whether it listens is its own business.
	_, _ = client.NotifyRegistrationStatus(ctx, &registration.RegistrationStatus{PluginRegistered: failed == "", Error: failed})
}
