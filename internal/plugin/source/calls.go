package source

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
)

// given is an expression that is handed to the stub, or registered as a service
// of the protocol.
type given struct {
	expr    ast.Expr
	service bool
}

// event is the mention of an event constant of the API.
type event struct {
	handler string // the name of the handler for it
	capability.Evidence
}

// call handles a call: who is called, and what is handed over.
func (w *walker) call(c *ast.CallExpr) {
	if w.info.Types[c.Fun].IsType() {
		return // a conversion
	}
	if id, ok := ast.Unparen(c.Fun).(*ast.Ident); ok && len(c.Args) == 1 {
		if _, builtin := w.info.Uses[id].(*types.Builtin); builtin && id.Name == "new" {
			w.made(c)
		}
	}
	fn := callee(w.info, c)
	if fn != nil && fn.Pkg() != nil {
		recv := fn.Signature().Recv()
		switch {
		case w.stubs[fn.Pkg()] && recv == nil && fn.Name() == "New" && len(c.Args) > 0:
			w.f.given = append(w.f.given, given{c.Args[0], false})
			return
		case w.api[fn.Pkg()] && recv == nil && fn.Name() == "RegisterPluginService" && len(c.Args) == 2:
			w.f.given = append(w.f.given, given{c.Args[1], true})
			return
		case fn.Name() == "WithRequiredRuntimeCapabilities" && (w.stubs[fn.Pkg()] || w.api[fn.Pkg()]):
			w.declares(c)
		case recv != nil && w.api[fn.Pkg()]:
			w.markedArgument(fn, c)
		}
	}
	w.opaqueArguments(c, fn)
}

// declares handles the option of the draft containerd/nri#265 by which a plugin
// says what it requires.
func (w *walker) declares(c *ast.CallExpr) {
	args := c.Args
	if c.Ellipsis.IsValid() && len(args) == 1 {
		lit, ok := ast.Unparen(args[0]).(*ast.CompositeLit)
		if !ok {
			w.undeclared(c.Pos())
			return
		}
		args = lit.Elts
	}
	for _, arg := range args {
		tv := w.info.Types[arg]
		if tv.Value == nil || tv.Value.Kind() != constant.Int {
			w.undeclared(arg.Pos())
			continue
		}
		n, exact := constant.Int64Val(tv.Value)
		if !exact || n < 0 || n >= int64(capability.FirstOwn) {
			w.undeclared(arg.Pos())
			continue
		}
		ev := w.evidence(w.f, arg.Pos())
		ev.Kind, ev.Symbol = "registration", "stub.WithRequiredRuntimeCapabilities"
		w.f.declared = append(w.f.declared, capability.Requirement{
			Capability: capability.ID(n), Source: capability.Declared, Evidence: []capability.Evidence{ev},
		})
	}
}

func (w *walker) undeclared(at token.Pos) {
	w.f.gaps = append(w.f.gaps, fmt.Sprintf("a capability declared at %s is not a constant of the draft enum", w.shown(w.f, at)))
}

// subscribe notes the mention of an event, such as Event_RUN_POD_SANDBOX.
func (w *walker) subscribe(c *types.Const, at token.Pos) {
	words, ok := strings.CutPrefix(c.Name(), "Event_")
	if !ok {
		return
	}
	var name strings.Builder
	for _, word := range strings.Split(words, "_") {
		if word != "" {
			name.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	w.f.subscribed = append(w.f.subscribed, event{name.String(), w.evidence(w.f, at)})
}
