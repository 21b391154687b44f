package standin

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Register answers the registration of a device plugin. A kubelet from 1.25 on
// calls the plugin before it answers; an older one answers first.
func (s *Kubelet) Register(ctx context.Context, r *v1beta1.RegisterRequest) (*v1beta1.Empty, error) {
	reg := Registration{
		Resource: short(r.ResourceName), Endpoint: short(r.Endpoint), Version: short(r.Version), Way: ByCall,
		Told: pluginOptions(r.Options), Devices: []Device{}, Calls: []Call{},
	}
	reg.noteUnknown(r)
	v := s.begin(reg)
	if v == nil {
		return nil, status.Error(codes.ResourceExhausted, "the stand-in has seen enough registrations")
	}
	if text := unacceptable(r.ResourceName, r.Version); text != "" {
		v.refuse(text, true)
		return nil, status.Error(codes.Unknown, text)
	}
	socket := filepath.Join(s.o.Dir, r.Endpoint)
	if !s.o.Behaviour.ServeFirst && !s.o.Behaviour.Curious {
		s.work.Go(func() { v.meet(v.connect(socket, s.o.DialTimeout)) })
		return &v1beta1.Empty{}, nil
	}
	if text := v.synchronous(ctx, socket); text != "" {
		return nil, status.Error(codes.Unknown, text)
	}
	return &v1beta1.Empty{}, nil
}

// unacceptable tells why every kubelet refuses a registration; empty if none
// does.
func unacceptable(resource string, versions ...string) string {
	if !slices.Contains(versions, v1beta1.Version) {
		return fmt.Sprintf("requested API version %q is not supported by kubelet. Supported version is %q", short(strings.Join(versions, ",")), v1beta1.SupportedVersions)
	}
	if !extendedResource(resource) {
		return fmt.Sprintf("the ResourceName %q is invalid", short(resource))
	}
	return ""
}

// refuse notes that the registration was refused, and ends the look at it.
// always is set if every kubelet does.
func (v *visit) refuse(text string, always bool) {
	v.note(func(r *Registration) {
		r.Refused = text
		if always {
			r.Faults = append(slices.Clip(r.Faults), "every kubelet refuses the registration: "+text)
		}
	})
	v.end()
}

// synchronous calls the plugin before its registration is answered, and returns
// why it is refused; empty if it is not. A curious stand-in refuses nothing,
// and answers before the plugin gives up.
func (v *visit) synchronous(ctx context.Context, socket string) string {
	o := v.s.o
	wait := o.DialTimeout
	if deadline, ok := ctx.Deadline(); ok && o.Behaviour.Curious {
		wait = min(wait, time.Until(deadline)*3/4)
	}
	conn := v.connect(socket, wait)
	if conn.ready {
		v.note(func(r *Registration) { r.Served = ServedFirst })
		err := v.options(ctx, conn)
		if err != nil && !o.Behaviour.Curious {
			conn.close()
			text := short(fmt.Sprintf("failed to get device plugin options: %v", err))
			v.refuse(text, false)
			return text
		}
	} else if !o.Behaviour.Curious {
		conn.close()
		v.note(func(r *Registration) { r.Served = ServedNever })
		text := "failed to dial device plugin: context deadline exceeded"
		v.refuse(text, false)
		return text
	}
	v.s.work.Go(func() { v.meet(conn) })
	return ""
}

// meet is what happens after a registration has been accepted. The connection is
// kept until the stand-in ends, as a kubelet keeps it.
func (v *visit) meet(conn *connection) {
	defer conn.close()
	v.look(conn)
	v.end()
	<-v.s.ctx.Done()
}

// look looks at a plugin whose registration has been accepted.
func (v *visit) look(conn *connection) {
	b := v.s.o.Behaviour
	if !conn.ready {
		conn.ready = b.Curious && conn.wait(v.s.ctx, v.s.o.DialTimeout)
		if !conn.ready {
			v.note(func(r *Registration) { r.Served = ServedNever })
			return
		}
		v.note(func(r *Registration) { r.Served = ServedLate })
	}
	if b.Curious && v.registration().Answered == nil && !v.called("GetDevicePluginOptions") {
		_ = v.options(v.s.ctx, conn) // the call is noted
	}
	v.exercise(conn.client)
}

// registration is what is known of it so far.
func (v *visit) registration() Registration {
	v.s.mutex.Lock()
	defer v.s.mutex.Unlock()
	return v.s.seen.Registrations[v.index]
}

func (v *visit) called(method string) bool {
	return slices.ContainsFunc(v.registration().Calls, func(c Call) bool { return c.Method == method })
}

// options asks the plugin for its options.
func (v *visit) options(ctx context.Context, conn *connection) error {
	ctx, cancel := context.WithTimeout(ctx, v.s.o.CallTimeout)
	defer cancel()
	v.waits("GetDevicePluginOptions")
	opts, err := conn.client.GetDevicePluginOptions(ctx, &v1beta1.Empty{})
	v.call(ctx, "GetDevicePluginOptions", err, func(r *Registration) {
		r.Answered = pluginOptions(opts)
		if r.Answered == nil {
			r.Answered = &PluginOptions{}
		}
		r.noteUnknown(opts)
	})
	return err
}

// waits notes that a call is being made.
func (v *visit) waits(method string) {
	v.note(func(r *Registration) { r.Waiting = method })
}

// call notes a call that was made, and if it went well what came of it.
func (v *visit) call(ctx context.Context, method string, err error, result func(*Registration)) {
	if deadline, ok := ctx.Deadline(); err != nil && ok && time.Until(deadline) < 100*time.Millisecond {
		// Whichever of the two sides learns of the deadline first words it.
		err = status.Errorf(codes.DeadlineExceeded, "no answer within %s", v.s.o.CallTimeout)
	}
	v.note(func(r *Registration) {
		r.Waiting = ""
		c := Call{Method: method}
		if err != nil {
			c.Error, c.Code = short(status.Convert(err).Message()), status.Code(err).String()
		}
		r.Calls = append(slices.Clip(r.Calls), c)
		if err == nil {
			result(r)
		}
	})
}

// connection is one to a plugin.
type connection struct {
	conn   *grpc.ClientConn
	client v1beta1.DevicePluginClient
	ready  bool
}

// connect connects to a plugin and waits until it serves, at most for the time
// given.
func (v *visit) connect(socket string, wait time.Duration) *connection {
	authority := socket
	if v.s.o.Behaviour.Authority {
		authority = "localhost"
	}
	conn, err := dial(socket, authority)
	if err != nil {
		return &connection{} // the endpoint is no path at all
	}
	c := &connection{conn: conn, client: v1beta1.NewDevicePluginClient(conn)}
	c.ready = c.wait(v.s.ctx, wait)
	return c
}

// dial prepares a connection to a socket, which is made when it is needed and
// tried again soon when it fails. Without an authority it is the path, as grpc
// writes it.
func dial(socket, authority string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+socket,
		grpc.WithAuthority(authority),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.5, MaxDelay: time.Second},
			MinConnectTimeout: dialTimeout,
		}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}),
	)
}

// wait waits until the plugin serves; it tells whether it does.
func (c *connection) wait(ctx context.Context, wait time.Duration) bool {
	if c.conn == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		state := c.conn.GetState()
		switch state {
		case connectivity.Ready:
			return true
		case connectivity.Idle:
			c.conn.Connect()
		}
		if !c.conn.WaitForStateChange(ctx, state) {
			return false
		}
	}
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close() // it is only ever closed once
	}
}
