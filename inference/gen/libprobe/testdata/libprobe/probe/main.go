// Command probe is a tiny runtime with a tiny plugin around the NRI library of
// one version. It reads cases from standard input, one JSON object a line,
// plays each through the real adaptation and the real spec generator, and
// writes one result a line. If a case ends the process, it is the one after
// the last result.
//
// The plugin speaks the protocol itself, and messages are given as JSON, so
// that the same program is built with every version: a field that a version
// does not have is left out, as it would be on the wire.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	nrigen "github.com/containerd/nri/pkg/runtime-tools/generate"
	"github.com/containerd/ttrpc"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/opencontainers/runtime-tools/generate"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// testCase is what the plugin answers, and to what.
type testCase struct {
	ID string `json:"id"`
	// Adjust is a ContainerAdjustment, Update a ContainerUpdate that comes with
	// it, Evict a ContainerEviction.
	Adjust json.RawMessage `json:"adjust,omitempty"`
	Update json.RawMessage `json:"update,omitempty"`
	Evict  json.RawMessage `json:"evict,omitempty"`
	// Spec is the OCI spec of the container that is created.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Call is what the plugin calls by itself: "unsolicited" after its
	// registration, or "handler" from inside of CreateContainer.
	Call string `json:"call,omitempty"`
}

// result is what became of it.
type result struct {
	ID string `json:"id"`
	// Before and Spec are the OCI spec before and after it was adjusted; a
	// version of the spec may lack a part of what it was given.
	Before  json.RawMessage `json:"before,omitempty"`
	Spec    *rspec.Spec     `json:"spec,omitempty"`
	Updates json.RawMessage `json:"updates,omitempty"`
	Evicted bool            `json:"evicted,omitempty"`
	// Asked is set if the runtime got the update that the plugin asked for
	// while it still waited for the answer.
	Asked bool   `json:"asked,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	adaptation.SetPluginRequestTimeout(time.Second)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var c testCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		out, err := play(c)
		if err != nil {
			out = &result{Error: err.Error()}
		}
		out.ID = c.ID
		text, err := json.Marshal(out)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Stdout.Write(append(text, '\n'))
	}
}

// play starts an adaptation, connects the plugin, creates a container and
// applies what was adjusted.
func play(c testCase) (*result, error) {
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	p := &plugin{synchronized: make(chan struct{})}
	out := &result{}
	var asked atomic.Bool
	sync := func(ctx context.Context, cb adaptation.SyncCB) error {
		_, err := cb(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
		asked.Store(true)
		return nil, nil
	}
	socket := filepath.Join(dir, "s")
	r, err := adaptation.New("probe", "v0", sync, update,
		adaptation.WithSocketPath(socket), adaptation.WithPluginPath(dir), adaptation.WithPluginConfigPath(dir))
	if err != nil {
		return nil, err
	}
	if err := r.Start(); err != nil {
		return nil, err
	}
	defer r.Stop()
	if err := p.prepare(c); err != nil {
		return nil, err
	}
	conn, err := p.connect(socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if c.Call == "unsolicited" {
		err := p.ask()
		out.Asked = asked.Load()
		return out, err
	}
	if c.Call == "handler" {
		p.inHandler = func() {
			p.ask()
			out.Asked = asked.Load()
		}
	}

	spec := &rspec.Spec{Process: &rspec.Process{}, Linux: &rspec.Linux{Resources: &rspec.LinuxResources{}}}
	if len(c.Spec) > 0 {
		if err := json.Unmarshal(c.Spec, spec); err != nil {
			return nil, err
		}
	}
	if out.Before, err = json.Marshal(spec); err != nil {
		return nil, err
	}
	answer, err := create(r)
	if err != nil {
		return nil, err
	}
	if len(answer.Update) > 0 && answer.Update[0] != nil {
		if out.Updates, err = protojson.Marshal(answer.Update[0]); err != nil {
			return nil, err
		}
	}
	out.Evicted = len(answer.Evict) > 0
	gen := &generate.Generator{Config: spec}
	if err := nrigen.SpecGenerator(gen, options()...).Adjust(answer.Adjust); err != nil {
		return nil, err
	}
	out.Spec = spec
	return out, nil
}

// create creates a container. The plugin becomes active a moment after it was
// synchronized, and until then is not asked.
func create(r *adaptation.Adaptation) (*api.CreateContainerResponse, error) {
	request := func() *api.CreateContainerRequest {
		return &api.CreateContainerRequest{
			Pod:       &api.PodSandbox{Id: "pod"},
			Container: &api.Container{Id: "container", PodSandboxId: "pod", Annotations: map[string]string{"a": "b"}},
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		answer, err := r.CreateContainer(ctx, request())
		if err != nil || called.Swap(false) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the plugin was never asked: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// called is set by the plugin when it is asked.
var called atomic.Bool

// plugin answers with what the case says. Calls it does not know are never
// made: it subscribes to the creation of containers only.
type plugin struct {
	api.PluginService
	runtime      api.RuntimeService
	answer       *api.CreateContainerResponse
	synchronized chan struct{}
	inHandler    func()
}

func (p *plugin) prepare(c testCase) error {
	p.answer = &api.CreateContainerResponse{Adjust: &api.ContainerAdjustment{}}
	read := protojson.UnmarshalOptions{DiscardUnknown: true}
	for _, part := range []struct {
		text json.RawMessage
		into proto.Message
		use  func(proto.Message)
	}{
		{c.Adjust, p.answer.Adjust, func(proto.Message) {}},
		{c.Update, &api.ContainerUpdate{}, func(m proto.Message) { p.answer.Update = append(p.answer.Update, m.(*api.ContainerUpdate)) }},
		{c.Evict, &api.ContainerEviction{}, func(m proto.Message) { p.answer.Evict = append(p.answer.Evict, m.(*api.ContainerEviction)) }},
	} {
		if len(part.text) == 0 {
			continue
		}
		if err := read.Unmarshal(part.text, part.into); err != nil {
			return err
		}
		part.use(part.into)
	}
	return nil
}

func (p *plugin) connect(socket string) (net.Conn, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	mux := multiplex.Multiplex(conn)
	l, err := mux.Listen(multiplex.PluginServiceConn)
	if err != nil {
		return nil, err
	}
	server, err := ttrpc.NewServer()
	if err != nil {
		return nil, err
	}
	api.RegisterPluginService(server, p)
	go server.Serve(context.Background(), l)
	rc, err := mux.Open(multiplex.RuntimeServiceConn)
	if err != nil {
		return nil, err
	}
	p.runtime = api.NewRuntimeClient(ttrpc.NewClient(rc))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := p.runtime.RegisterPlugin(ctx, &api.RegisterPluginRequest{PluginName: "probe", PluginIdx: "00"}); err != nil {
		return nil, err
	}
	select {
	case <-p.synchronized:
		return conn, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the plugin was never synchronized: %w", ctx.Err())
	}
}

// ask asks for an update.
func (p *plugin) ask() error {
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	_, err := p.runtime.UpdateContainers(ctx, &api.UpdateContainersRequest{Update: []*api.ContainerUpdate{{ContainerId: "other"}}})
	return err
}

func (p *plugin) Configure(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) {
	return &api.ConfigureResponse{Events: 1 << (int32(api.Event_CREATE_CONTAINER) - 1)}, nil
}

func (p *plugin) Synchronize(context.Context, *api.SynchronizeRequest) (*api.SynchronizeResponse, error) {
	close(p.synchronized)
	return &api.SynchronizeResponse{}, nil
}

func (p *plugin) CreateContainer(context.Context, *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
	called.Store(true)
	if p.inHandler != nil {
		p.inHandler()
	}
	return p.answer, nil
}

// classOptions are the options that every version has.
func classOptions() []nrigen.GeneratorOption {
	return []nrigen.GeneratorOption{
		nrigen.WithBlockIOResolver(func(string) (*rspec.LinuxBlockIO, error) {
			weight := uint16(77)
			return &rspec.LinuxBlockIO{Weight: &weight}, nil
		}),
		nrigen.WithRdtResolver(func(class string) (*rspec.LinuxIntelRdt, error) {
			return &rspec.LinuxIntelRdt{ClosID: class}, nil
		}),
	}
}
