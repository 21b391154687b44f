// Command plugin is a real NRI plugin for tests. It subscribes to the creation
// of containers and marks each with an annotation. To standard error it writes
// one JSON object a line: "connecting", "configured", "synchronized", "created
// NAME", "closed". It ends when the runtime closes the connection or, if the
// runtime did not start it, when standard input ends.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/sirupsen/logrus"
)

type plugin struct{ log *logrus.Logger }

func (p *plugin) Configure(context.Context, string, string, string) (api.EventMask, error) {
	p.log.Info("configured")
	return 0, nil
}

func (p *plugin) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	p.log.Info("synchronized")
	return nil, nil
}

func (p *plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	p.log.Info("created " + c.GetName())
	adjust := &api.ContainerAdjustment{}
	adjust.AddAnnotation("test.nri-compat.dev/seen", c.GetName())
	return adjust, nil, nil
}

func main() {
	socket := flag.String("socket", "", "NRI socket")
	name := flag.String("name", "witness", "plugin name")
	index := flag.String("idx", "10", "plugin index")
	flag.Parse()
	if err := run(*socket, *name, *index); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(socket, name, index string) error {
	log := logrus.New()
	log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: "2006-01-02T15:04:05.000000000Z07:00"})
	done := make(chan struct{})
	opts := []stub.Option{stub.WithOnClose(func() { log.Info("closed"); close(done) })}
	// A runtime that starts a plugin gives it a connection and a name.
	started := os.Getenv(api.PluginNameEnvVar) != ""
	if !started {
		opts = append(opts, stub.WithSocketPath(socket), stub.WithPluginName(name), stub.WithPluginIdx(index))
	}
	s, err := stub.New(&plugin{log}, opts...)
	if err != nil {
		return err
	}
	log.Info("connecting")
	if err := s.Start(context.Background()); err != nil {
		return err
	}
	if !started {
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	<-done
	return nil
}
