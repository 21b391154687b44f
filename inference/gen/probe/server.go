package probe

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nri-compat/nri-compat/inference/gen/gitrepo"
	"github.com/nri-compat/nri-compat/inference/gen/source"
)

// server is the CRI service of a runtime. It is large and known by names only:
// which functions call which, and where the NRI layer is called.
type server struct {
	funcs  map[string][]*serverFunc // by name; methods of different types share one
	unread []string
	extra  map[string]*serverFunc // functions of other packages, by name
	// layer is where the NRI layer is, as evidence for what it does not have.
	layer string
}

// serverFunc is one function.
type serverFunc struct {
	name  string
	at    string // file:line
	calls map[string]bool
	// relays are the calls of methods of the NRI layer, such as c.nri.StopContainer.
	relays []serverCall
	// refreshes are the lines on which the state of a container is read anew.
	refreshes []int
	// reads are the names of getters and fields that are used, with a place;
	// kept for functions that convert resources.
	reads map[string]string
	// asks are the names that are compared with nil.
	asks map[string]bool
}

type serverCall struct {
	method string
	at     string
	line   int
}

// fileCache remembers what was read of a file by its hash.
type fileCache map[string][]*serverFunc

// readServer reads the CRI service in a directory, and single files besides.
func readServer(t *source.Tree, dir string, others []string, cache fileCache) (*server, error) {
	s := &server{funcs: map[string][]*serverFunc{}, extra: map[string]*serverFunc{}}
	for _, d := range append([]string{dir}, others...) {
		if d == "" {
			continue
		}
		entries, err := t.List(d)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Dir || !strings.HasSuffix(e.Name, ".go") || strings.HasSuffix(e.Name, "_test.go") || otherSystem(e.Name) {
				continue
			}
			name := path.Join(d, e.Name)
			funcs, err := serverFile(t, name, e.Hash, cache)
			if errors.Is(err, gitrepo.ErrMissing) || errors.Is(err, errSyntax) {
				s.unread = append(s.unread, name)
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, f := range funcs {
				if d == dir {
					s.funcs[f.name] = append(s.funcs[f.name], f)
				} else {
					s.extra[f.name] = f
				}
			}
		}
	}
	return s, nil
}

var errSyntax = errors.New("syntax error")

// otherSystem tells whether a file is by its name for another system than Linux.
func otherSystem(name string) bool {
	base := strings.TrimSuffix(name, ".go")
	return slices.ContainsFunc([]string{"_windows", "_freebsd", "_darwin", "_other", "_unsupported", "_solaris"}, func(suffix string) bool {
		return strings.HasSuffix(base, suffix)
	})
}

func serverFile(t *source.Tree, name, hash string, cache fileCache) ([]*serverFunc, error) {
	if funcs, ok := cache[name+hash]; ok {
		return funcs, nil
	}
	data, err := t.Read(name)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, errSyntax
	}
	var funcs []*serverFunc
	for _, d := range file.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
			funcs = append(funcs, newServerFunc(fset, decl))
		}
	}
	cache[name+hash] = funcs
	return funcs, nil
}

func newServerFunc(fset *token.FileSet, decl *ast.FuncDecl) *serverFunc {
	place := func(n ast.Node) (string, int) {
		p := fset.Position(n.Pos())
		return p.Filename + ":" + strconv.Itoa(p.Line), p.Line
	}
	f := &serverFunc{name: decl.Name.Name, calls: map[string]bool{}, reads: map[string]string{}, asks: map[string]bool{}}
	f.at, _ = place(decl)
	converts := strings.HasPrefix(f.name, "to") || strings.HasPrefix(f.name, "Update")
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := calledName(n)
			f.calls[name] = true
			at, line := place(n)
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasSuffix(selected(s.X), ".nri") {
				f.relays = append(f.relays, serverCall{name, at, line})
			}
			if name == "UpdateContainerStatus" {
				f.refreshes = append(f.refreshes, line)
			}
		case *ast.SelectorExpr:
			if converts {
				at, _ := place(n)
				f.reads[strings.TrimPrefix(n.Sel.Name, "Get")] = at
			}
		case *ast.BinaryExpr:
			if id, ok := n.Y.(*ast.Ident); ok && id.Name == "nil" && converts {
				f.asks[selected(n.X)] = true
			}
		}
		return true
	})
	return f
}

// reach returns the functions that can be reached from those of a name.
func (s *server) reach(name string) []*serverFunc {
	seen := map[string]bool{}
	queue := []string{name}
	var out []*serverFunc
	for len(queue) > 0 {
		name, queue = queue[0], queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, f := range s.funcs[name] {
			out = append(out, f)
			for call := range f.calls {
				queue = append(queue, call)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *serverFunc) int { return strings.Compare(a.at, b.at) })
	return out
}

// relay tells whether handling one of the requests calls one of some methods of
// the NRI layer. Of unclear methods it is not known what they relay.
func (s *server) relay(methods, unclear []string, handlers ...string) Verdict {
	found, doubt := "", ""
	if s.relayCount() == 0 {
		return unknown("the CRI service calls no NRI layer")
	}
	for _, handler := range handlers {
		reached := s.reach(handler)
		if len(reached) > 0 {
			found = handler
		}
		for _, f := range reached {
			for _, call := range f.relays {
				if slices.Contains(methods, call.method) {
					return yes(f.name, call.at)
				}
				if slices.Contains(unclear, call.method) {
					doubt = call.method
				}
			}
		}
	}
	switch {
	case len(s.unread) > 0:
		return unknown("%s could not be read", strings.Join(s.unread, ", "))
	case len(methods) == 0:
		return no("the NRI layer", s.layer)
	case found == "":
		return unknown("%s is not where it used to be", strings.Join(handlers, " or "))
	case doubt != "":
		return unknown("%s relays several events", doubt)
	}
	return no(found, s.funcs[found][0].at)
}

// relayCount counts the calls of the NRI layer.
func (s *server) relayCount() int {
	n := 0
	for _, fns := range s.funcs {
		for _, f := range fns {
			n += len(f.relays)
		}
	}
	return n
}

// anyRelay tells whether a method of the NRI layer is called anywhere.
func (s *server) anyRelay(method string) Verdict {
	var out *Verdict
	for _, name := range sortedKeys(s.funcs) {
		for _, f := range s.funcs[name] {
			for _, call := range f.relays {
				if call.method == method && out == nil {
					v := yes(f.name, call.at)
					out = &v
				}
			}
		}
	}
	switch {
	case out != nil:
		return *out
	case len(s.unread) > 0:
		return unknown("%s could not be read", strings.Join(s.unread, ", "))
	case s.relayCount() == 0:
		return unknown("the CRI service calls no NRI layer")
	}
	return no("the CRI service")
}

// refreshesStateAfterStart is partial if the state that plugins get to see
// after a start was read before it.
func (s *server) refreshesStateAfterStart() Verdict {
	for _, f := range s.funcs["StartContainer"] {
		started := -1
		for _, call := range f.relays {
			if call.method == "postStartContainer" {
				started = call.line
			}
		}
		if started < 0 {
			continue
		}
		if slices.ContainsFunc(f.refreshes, func(line int) bool { return line < started }) {
			return yes(f.name, f.at)
		}
		for _, relay := range s.funcs["postStartContainer"] {
			if len(relay.refreshes) > 0 {
				return yes(relay.name, relay.at)
			}
		}
		return partial(f.name, f.at)
	}
	return unknown("StartContainer, which relays PostStartContainer, is not where it used to be")
}

// readsCRI tells whether a function of the service reads a field of CRI resources.
func (s *server) readsCRI(function, field string) Verdict {
	fns := s.funcs[function]
	if len(fns) == 0 {
		return unknown("%s is not where it used to be", function)
	}
	if at, ok := fns[0].reads[field]; ok && field != "" {
		return yes(function, at)
	}
	return no(function, fns[0].at)
}

// relies is yes if a function uses a part of the resources without asking
// whether it is there.
func (s *server) relies(function, part string) Verdict {
	f := s.extra[function]
	if f == nil {
		if fns := s.funcs[function]; len(fns) > 0 {
			f = fns[0]
		}
	}
	if f == nil {
		return unknown("%s is not where it used to be", function)
	}
	if f.asks["resources."+part] {
		return no(function, f.at)
	}
	return yes(function, f.at)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
