package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
)

// draLibrary stands in for k8s.io/dynamic-resource-allocation/kubeletplugin: it
// offers every service that no option turns off.
const draLibrary = `package kubeletplugin

import (
	"google.golang.org/grpc"
	healthv1 "k8s.io/kubelet/pkg/apis/dra-health/v1"
	healthv1alpha1 "k8s.io/kubelet/pkg/apis/dra-health/v1alpha1"
	drav1 "k8s.io/kubelet/pkg/apis/dra/v1"
	drav1beta1 "k8s.io/kubelet/pkg/apis/dra/v1beta1"
)

type Option func(*options)

type options struct{ v1, v1beta1 bool }

func NodeV1(on bool) Option      { return func(o *options) { o.v1 = on } }
func NodeV1beta1(on bool) Option { return func(o *options) { o.v1beta1 = on } }

type node struct{ drav1.UnimplementedDRAPluginServer }
type olderNode struct{ drav1beta1.UnimplementedDRAPluginServer }
type health struct{ healthv1.UnimplementedDRAResourceHealthServer }
type olderHealth struct{ healthv1alpha1.UnimplementedDRAResourceHealthServer }

func Start(opts ...Option) {
	o := options{true, true}
	for _, opt := range opts {
		opt(&o)
	}
	s := grpc.NewServer()
	if o.v1 {
		drav1.RegisterDRAPluginServer(s, &node{})
	}
	if o.v1beta1 {
		drav1beta1.RegisterDRAPluginServer(s, &olderNode{})
	}
	healthv1.RegisterDRAResourceHealthServer(s, &health{})
	healthv1alpha1.RegisterDRAResourceHealthServer(s, &olderHealth{})
}

// StartObjects is how the library starts up to v0.32.
func StartObjects(objects []any, opts ...Option) {
	o := options{true, true}
	for _, opt := range opts {
		opt(&o)
	}
	s := grpc.NewServer()
	for _, object := range objects {
		if object, ok := object.(drav1.DRAPluginServer); ok && o.v1 {
			drav1.RegisterDRAPluginServer(s, object)
		}
		if object, ok := object.(drav1beta1.DRAPluginServer); ok && o.v1beta1 {
			drav1beta1.RegisterDRAPluginServer(s, object)
		}
	}
}
`

// variant copies the test plugin kubelet-client with another main function, and
// with the stand-in for the library of DRA drivers.
func variant(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	copied := map[string]string{}
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(pluginsDir, "kubelet-client", name))
		if err != nil {
			t.Fatal(err)
		}
		copied[name] = string(text)
	}
	main, _, ok := strings.Cut(copied["main.go"], "\nfunc main() {\n")
	if !ok {
		t.Fatal("main.go has no main function")
	}
	main = strings.NewReplacer(
		"\t\"net\"\n", "\t\"os\"\n", "\t\"google.golang.org/grpc/credentials/insecure\"\n", "\t\"k8s.io/dynamic-resource-allocation/kubeletplugin\"\n",
		"\tpodresources \"k8s.io/kubelet/pkg/apis/podresources/v1\"\n", "", "\t\"context\"\n", "\t\"errors\"\n",
	).Replace(main)
	main += "\nvar _ = []any{errors.New, fmt.Sprint, log.Print, os.Getenv, grpc.NewServer, kubeletplugin.NodeV1}\n\n" + body
	own, requires, _ := strings.Cut(copied["go.mod"], "\n")
	library := "k8s.io/dynamic-resource-allocation"
	for name, text := range map[string]string{
		"main.go": main, "go.sum": copied["go.sum"], "library/kubeletplugin/start.go": draLibrary, "library/go.mod": "module " + library + "\n" + requires,
		"go.mod": own + "\n" + requires + "\nrequire " + library + " v0.37.0\n\nreplace " + library + " => ./library\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestServices: several versions of a service are alternatives, and where one of
// them may be left out that is said.
func TestServices(t *testing.T) {
	const (
		v1, v1beta1 = "drav1.RegisterDRAPluginServer(s, &driver{})\n", "drav1beta1.RegisterDRAPluginServer(s, &olderDriver{})\n"
		both        = "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"
		health      = "(DRA_HEALTH_V1/DRA_HEALTH_V1ALPHA1:DRA_HEALTH_V1) (DRA_HEALTH_V1/DRA_HEALTH_V1ALPHA1:DRA_HEALTH_V1ALPHA1) "
		gap         = "whether it always serves all of dra/v1, dra/v1beta1 could not be told"
	)
	for _, test := range []struct{ name, main, needs, gap string }{
		{"one", "func main() { s := grpc.NewServer()\n" + v1 + "}\n", "DRA_V1", ""},
		{"both", "func main() { s := grpc.NewServer()\n" + v1 + v1beta1 + "}\n", both, ""},
		{"both, each in a function", "func main() { s := grpc.NewServer(); newer(s); older(s) }\nfunc newer(s *grpc.Server) {\n" + v1 + "}\nfunc older(s *grpc.Server) {\n" + v1beta1 + "}\n", both, ""},
		{"both in a literal", "func main() { run := func() error { s := grpc.NewServer()\n" + v1 + v1beta1 + "return nil }\nif os.Getenv(\"X\") != \"\" { log.Fatal(run()) } }\n", both, ""},
		{"both under one condition", "func main() { if os.Getenv(\"X\") != \"\" { register(grpc.NewServer()) } }\nfunc register(s *grpc.Server) {\n" + v1 + v1beta1 + "}\n", both, ""},
		{"returns before both", "func main() { if os.Getenv(\"X\") != \"\" { return }\ns := grpc.NewServer()\n" + v1 + v1beta1 + "}\n", both, ""},
		{"an error between them", "func main() { s := grpc.NewServer()\n" + v1 + "if err := errors.New(\"x\"); err != nil { return }\n" + v1beta1 + "}\n", both, ""},
		{"one under a condition", "func main() { s := grpc.NewServer()\n" + v1 + "if os.Getenv(\"X\") != \"\" {\n" + v1beta1 + "} }\n", both, gap},
		{"one called under a condition", "func main() { s := grpc.NewServer()\n" + v1 + "if os.Getenv(\"X\") != \"\" { older(s) } }\nfunc older(s *grpc.Server) {\n" + v1beta1 + "}\n", both, gap},
		{"one or the other", "func main() { s := grpc.NewServer()\nif os.Getenv(\"X\") != \"\" {\n" + v1 + "} else {\n" + v1beta1 + "} }\n", both, gap},
		{"returns between them", "func main() { s := grpc.NewServer()\n" + v1 + "if os.Getenv(\"X\") != \"\" { return }\n" + v1beta1 + "}\n", both, gap},
		{"returns if there is no error", "func main() { s := grpc.NewServer()\n" + v1 + "if err := errors.New(\"x\"); err != nil { log.Print(err) } else { return }\n" + v1beta1 + "}\n", both, gap},
		{"library", "func main() { kubeletplugin.Start() }\n", health + both, ""},
		{"library, on", "func main() { kubeletplugin.Start(kubeletplugin.NodeV1(true)) }\n", health + both, ""},
		{"library, one off", "func main() { kubeletplugin.Start(kubeletplugin.NodeV1beta1(false)) }\n", health + "DRA_V1", ""},
		{"library, a variable decides", "func main() { kubeletplugin.Start(kubeletplugin.NodeV1(os.Getenv(\"X\") != \"\")) }\n", health + both, gap},
		{"library, an option that may be there", "func main() { var opts []kubeletplugin.Option\nif os.Getenv(\"X\") != \"\" { opts = append(opts, kubeletplugin.NodeV1(false)) }\nkubeletplugin.Start(opts...) }\n", health + both, gap},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := InspectKubelet(t.Context(), variant(t, test.main), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s := needed(got[0].Requirements); s != test.needs {
				t.Errorf("needs %s, want %s", s, test.needs)
			}
			var want []string
			if test.gap != "" {
				want = []string{test.gap}
			}
			if !slices.Equal(got[0].Gaps, want) {
				t.Errorf("gaps %q, want %q", got[0].Gaps, want)
			}
		})
	}
}

// needed names requirements shortly: "A/B:X" is X in the group A/B, brackets are
// around what is only wanted.
func needed(reqs []capability.Requirement) string {
	var needs []string
	for _, r := range reqs {
		s := r.Capability.String()
		if r.OneOf != "" {
			s = r.OneOf + ":" + s
		}
		if r.Level == capability.Wants {
			s = "(" + s + ")"
		}
		needs = append(needs, s)
	}
	return strings.Join(needs, " ")
}

// TestServicesOfObjects: where the library looks what the objects implement that
// it is given, a service that none of them has is not offered, and of several it
// is not known which.
func TestServicesOfObjects(t *testing.T) {
	const (
		both  = "DRA_V1/DRA_V1BETA1:DRA_V1 DRA_V1/DRA_V1BETA1:DRA_V1BETA1"
		gap   = "whether it always serves all of dra/v1, dra/v1beta1 could not be told"
		newer = "type driver struct {\n\tdrav1.UnimplementedDRAPluginServer\n}\n"
		older = "type olderDriver struct {\n\tdrav1beta1.UnimplementedDRAPluginServer\n}\n"
		start = "var _ drav1.DRAPluginServer\nvar _ drav1beta1.DRAPluginServer\n\nfunc main() { kubeletplugin.StartObjects("
	)
	for _, test := range []struct{ name, drop, main, needs, gap string }{
		{"the newer", older, start + "[]any{&driver{}}) }\n", "DRA_V1", ""},
		{"the older", newer, start + "[]any{&olderDriver{}}) }\n", "DRA_V1BETA1", ""},
		{"both", "", start + "[]any{&driver{}, &olderDriver{}}) }\n", both, gap},
		{"there are both", "", start + "[]any{&driver{}}) }\n", both, gap},
		{"both, one off", "", start + "[]any{&driver{}, &olderDriver{}}, kubeletplugin.NodeV1(false)) }\n", "DRA_V1BETA1", ""},
		{"of a type of the API", newer, start + "[]any{&olderDriver{}, &drav1.UnimplementedDRAPluginServer{}}) }\n", both, gap},
		{"from elsewhere", newer + "\n" + older, start + "objects) }\n\nvar objects []any\n", both, gap},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := variant(t, test.main)
			path := filepath.Join(dir, "main.go")
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), test.drop) {
				t.Fatal("the types are not there to be dropped", err)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(text), test.drop, "", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := InspectKubelet(t.Context(), dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s := needed(got[0].Requirements); s != test.needs {
				t.Errorf("needs %s, want %s", s, test.needs)
			}
			if s := strings.Join(got[0].Gaps, "; "); s != test.gap {
				t.Errorf("gaps %q, want %q", s, test.gap)
			}
		})
	}
}
