// Package adaptation starts the runtime half of NRI on a socket, for tests. The
// modules beside this one pin it to one release of github.com/containerd/nri
// each and hand over the options of that release.
//
// The process logs to standard error, one JSON object a line. It reads commands
// from standard input and answers each with one line of JSON on standard output:
//
//	create NAME   asks all plugins about the creation of a container
//	stats         counts plugins, open files and goroutines
//
// It ends when standard input ends.
package adaptation

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/sirupsen/logrus"
)

// Reply is the answer to a command.
type Reply struct {
	Error       string            `json:"error,omitempty"`
	Plugins     int               `json:"plugins"`
	Files       int               `json:"files"`
	Goroutines  int               `json:"goroutines"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Main runs until standard input ends. options gives the options for a private
// directory and a socket.
func Main(options func(dir, socket string) ([]nri.Option, error)) {
	name := flag.String("name", "", "runtime name to report")
	version := flag.String("version", "", "runtime version to report")
	socket := flag.String("socket", "", "path of the socket; its directory is used for everything else")
	flag.Parse()
	logrus.SetFormatter(&logrus.JSONFormatter{})
	if err := run(*name, *version, *socket, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name, version, socket string, options func(dir, socket string) ([]nri.Option, error)) error {
	opts, err := options(filepath.Dir(socket), socket)
	if err != nil {
		return err
	}
	sync := func(ctx context.Context, cb nri.SyncCB) error {
		_, err := cb(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) { return nil, nil }
	runtime, err := nri.New(name, version, sync, update, opts...)
	if err != nil {
		return err
	}
	if err := runtime.Start(); err != nil {
		return err
	}
	defer runtime.Stop()

	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, arg, _ := strings.Cut(in.Text(), " ")
		var reply Reply
		switch verb {
		case "create":
			reply = create(runtime, arg)
		case "stats":
			reply = stats(runtime)
		default:
			reply = Reply{Error: "unknown command " + verb}
		}
		if err := out.Encode(reply); err != nil {
			return err
		}
	}
	return in.Err()
}

// create asks the plugins about a new container.
func create(r *nri.Adaptation, name string) Reply {
	rpl, err := r.CreateContainer(context.Background(), &nri.CreateContainerRequest{
		Pod:       &nri.PodSandbox{Id: "pod-" + name, Name: "pod-" + name, Uid: "uid-" + name, Namespace: "default"},
		Container: &nri.Container{Id: name, PodSandboxId: "pod-" + name, Name: name},
	})
	if err != nil {
		return Reply{Error: err.Error()}
	}
	return Reply{Annotations: rpl.GetAdjust().GetAnnotations()}
}

// stats counts what plugins hold in the runtime. The plugin list is not exported
// by any release, but has the same name in all of them.
func stats(r *nri.Adaptation) Reply {
	r.Lock()
	plugins := reflect.ValueOf(r).Elem().FieldByName("plugins").Len()
	r.Unlock()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return Reply{Error: err.Error()}
	}
	return Reply{Plugins: plugins, Files: len(files), Goroutines: runtime.NumGoroutine()}
}
