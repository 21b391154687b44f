package standin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nri-compat/nri-compat/capability"
	"google.golang.org/grpc"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	// dialTimeout is how long a kubelet waits for a plugin to serve.
	dialTimeout = 10 * time.Second
	// callTimeout bounds the calls of a plugin. A kubelet waits for ever, except
	// for PreStartContainer, where it waits for 30 s.
	callTimeout = 10 * time.Second
	// infoTimeout is how long every kubelet waits for a plugin in its plugins
	// directory to say who it is.
	infoTimeout = time.Second
	// deviceWait is how long a plugin may take to list a healthy device after it
	// has sent a list without one.
	deviceWait = 3 * time.Second
	// settle is how long nothing new may happen before the stand-in believes
	// that nothing more will.
	settle = time.Second

	maxRegistrations = 32
	maxUpdates       = 1000
	maxDevices       = 16
)

// Options say where and how to play a kubelet.
type Options struct {
	// Dir is the directory of device plugins, Registry the plugins directory. They
	// must exist; without a Registry nobody looks there.
	Dir, Registry string
	// PodResources is the socket of the pod resources API; empty for none.
	PodResources string
	Behaviour    Behaviour
	// Changed is called with what has been seen so far after each step; may be
	// nil.
	Changed func(Observation)
	// The times replace the usual ones of the constants; for tests.
	DialTimeout, CallTimeout, DeviceWait, Settle, RestartWait time.Duration
}

// Behaviour is what kubelets do differently.
type Behaviour struct {
	// Curious makes the stand-in go on where a kubelet refuses, and use the
	// options of either way, to learn as much as possible of the plugin.
	Curious bool `json:"curious"`
	// ServeFirst: the kubelet calls the plugin while it registers, as from 1.25.
	ServeFirst bool `json:"serveFirst"`
	// RegisterOptions: the options of RegisterRequest count, as up to 1.24.
	RegisterOptions bool `json:"registerOptions"`
	// GetOptions: the options of GetDevicePluginOptions count, as from 1.25.
	GetOptions bool `json:"getOptions"`
	// Preferred: the kubelet calls GetPreferredAllocation, as from 1.19.
	Preferred bool `json:"preferred"`
	// Watcher: the kubelet looks into its plugins directory, as from 1.12.
	Watcher bool `json:"watcher"`
	// Authority: the kubelet calls with the authority "localhost", as from 1.26;
	// before with the path of the socket.
	Authority bool `json:"authority"`
	// PodResources are the methods of the pod resources API that it answers: some
	// of PODRES_V1_LIST and its like.
	PodResources []capability.ID `json:"podResources"`
}

// Kubelet plays a kubelet.
type Kubelet struct {
	v1beta1.UnsafeRegistrationServer
	o            Options
	server       *grpc.Server
	podResources *grpc.Server // nil for none
	ctx          context.Context
	cancel       context.CancelFunc
	work         sync.WaitGroup

	mutex sync.Mutex
	seen  Observation
	busy  int           // registrations and sockets that are being looked at
	news  chan struct{} // something happened
}

// Listen starts a stand-in that listens on kubelet.sock in its directory.
func Listen(o Options) (*Kubelet, error) {
	o.DialTimeout = orElse(o.DialTimeout, dialTimeout)
	o.CallTimeout = orElse(o.CallTimeout, callTimeout)
	o.DeviceWait = orElse(o.DeviceWait, deviceWait)
	o.Settle = orElse(o.Settle, settle)
	o.RestartWait = orElse(o.RestartWait, restartWait)
	socket := filepath.Join(o.Dir, filepath.Base(v1beta1.KubeletSocket))
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen as a kubelet: %w", err)
	}
	s := &Kubelet{o: o, server: grpc.NewServer(), news: make(chan struct{}, 1)}
	s.seen.Registrations = []Registration{}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	v1beta1.RegisterRegistrationServer(s.server, s)
	if o.PodResources != "" {
		if err := s.servePodResources(); err != nil {
			l.Close()
			return nil, err
		}
	}
	s.work.Go(func() { _ = s.server.Serve(l) }) // it ends when it is stopped
	if o.Registry != "" && (o.Behaviour.Watcher || o.Behaviour.Curious) {
		s.work.Go(s.watch)
	}
	return s, nil
}

func orElse(d, usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return d
}

// Close ends the stand-in: it stops to listen, removes its sockets and waits for
// the calls that are under way.
func (s *Kubelet) Close() error {
	s.cancel()
	s.server.Stop()
	err := s.closePodResources()
	s.work.Wait()
	if err := os.Remove(filepath.Join(s.o.Dir, filepath.Base(v1beta1.KubeletSocket))); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return err
}

// Wait waits until nothing more is to be seen: every registration has been
// looked at and for a while nothing new came, or over tells that the plugin does
// not run any more. The error is that of the context, if it ended first.
func (s *Kubelet) Wait(ctx context.Context, over func() bool) error {
	for {
		timer := time.NewTimer(s.o.Settle)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-s.news:
			timer.Stop()
		case <-timer.C:
			if s.idle() || over() {
				return nil
			}
		}
	}
}

// hold keeps the stand-in from being idle until its result is called.
func (s *Kubelet) hold() func() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.busy++
	return func() { s.change(func(*Observation) { s.busy-- }) }
}

// idle tells whether something was seen and all of it was looked at.
func (s *Kubelet) idle() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.busy == 0 && len(s.seen.Registrations)+len(s.seen.Drivers) > 0
}

// Observation returns what has been seen so far.
func (s *Kubelet) Observation() Observation {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.seen.clone()
}

// clone copies what later changes touch: the registrations, whose lists are
// only ever replaced.
func (o Observation) clone() Observation {
	o.Registrations = slices.Clone(o.Registrations)
	o.Drivers = slices.Clone(o.Drivers)
	return o
}

// change changes what has been seen, and tells about it.
func (s *Kubelet) change(f func(*Observation)) {
	s.mutex.Lock()
	f(&s.seen)
	now := s.seen.clone()
	s.mutex.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
	if s.o.Changed != nil {
		s.o.Changed(now)
	}
}

// begin notes a registration and returns what changes it; nil if there have
// been too many.
func (s *Kubelet) begin(r Registration) *visit {
	index := -1
	s.change(func(o *Observation) {
		if len(o.Registrations) == maxRegistrations {
			o.Ignored++
			return
		}
		index = len(o.Registrations)
		for i := range o.Registrations {
			if o.Registrations[i].Resource == r.Resource && o.Registrations[i].Refused == "" {
				o.Registrations[i].Replaced = true
			}
		}
		o.Registrations = append(o.Registrations, r)
		s.busy++
	})
	if index < 0 {
		return nil
	}
	return &visit{s: s, index: index}
}

// visit is the look at one registration.
type visit struct {
	s     *Kubelet
	index int
}

// note changes what is known of the registration.
func (v *visit) note(f func(*Registration)) {
	v.s.change(func(o *Observation) { f(&o.Registrations[v.index]) })
}

// end ends the look at it.
func (v *visit) end() {
	v.s.change(func(*Observation) { v.s.busy-- })
}
