package binary

import (
	"bytes"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/internal/plugin/symbols"
)

// Where the analysis starts: at the methods, whose types the runtime's tables
// tell.

// seed notes the signatures of all methods that have to do with messages, and
// starts from those of the plugin.
func (fl *flow) seed() {
	ts := fl.p.types
	receivers := map[string]rtype{}
	ts.all(func(t rtype) {
		if ts.kind(t) != kindPointer {
			return
		}
		e := ts.elem(t)
		leads := fl.layout.leads(e)
		if leads {
			if pkg := ts.pkg(e); pkg != "" {
				receivers[escape(pkg)+".(*"+bareType(ts.name(e))+")"] = t
			}
		}
		ts.eachMethod(t, func(m method, name uint64) {
			if m.sig == 0 || m.code == 0 || !leads && !fl.layout.leadsSignature(m.sig) {
				return
			}
			if i := fl.p.entryAt(m.code); i >= 0 && fl.p.classes[i] != foreign {
				s := signature{recv: t, name: string(ts.text(name))}
				s.in, s.out = ts.signature(m.sig)
				fl.start(i, m.code, s)
			}
		})
	})
	fl.seedByName(receivers)
}

// seedByName does the same for methods that no interface asks for: the linker
// drops them from the tables of types, so that only their names are left.
func (fl *flow) seedByName(receivers map[string]rtype) {
	packages := map[string]bool{}
	for name := range receivers {
		pkg, _ := splitName([]byte(name))
		packages[string(pkg)] = true
	}
	for _, runs := range fl.p.packages {
		for _, run := range runs {
			if (run.class == pluginOwn || run.class == nriAPI) && packages[string(run.path)] {
				for i := run.first; i < run.end; i++ {
					fl.startByName(int(i), receivers)
				}
			}
		}
	}
}

func (fl *flow) startByName(i int, receivers map[string]rtype) {
	f, ok := fl.p.funcs.get(i)
	if !ok {
		return
	}
	name := fl.p.funcs.nameAt(fl.p.funcs.nameOffset(f))
	dot := bytes.LastIndexByte(name, '.')
	if dot < 1 || name[dot-1] != ')' {
		return
	}
	recv, ok := receivers[string(name[:dot])] // no copy is made for this
	if _, known := fl.signatures[f.entry]; !ok || known {
		return
	}
	s := signature{name: string(name[dot+1:]), recv: recv}
	if field, ok := strings.CutPrefix(s.name, "Get"); ok && fl.p.classes[i] == nriAPI {
		for _, x := range fl.p.types.fields(fl.p.types.elem(recv)) {
			if x.name == field {
				s.out = []rtype{x.typ}
			}
		}
	}
	if fl.concerns(s) {
		fl.start(i, f.entry, s)
	}
}

// concerns tells whether a method takes or returns something that leads to a
// message.
func (fl *flow) concerns(s signature) bool {
	return fl.layout.leads(s.recv) || slices.ContainsFunc(s.in, fl.layout.leads) || slices.ContainsFunc(s.out, fl.layout.leads)
}

// start notes a method's signature, and begins with it if it is the plugin's
// and takes a message.
func (fl *flow) start(i int, entry uint64, s signature) {
	fl.signatures[entry] = s
	params := append([]rtype{s.recv}, s.in...)
	if fl.p.classes[i] != pluginOwn || !slices.ContainsFunc(params, fl.layout.leads) {
		return
	}
	e := fl.entry(i)
	for n, v := range fl.layout.registers(params, len(fl.m.args)) {
		if v.kind == unknown {
			continue
		}
		r := fl.m.args[n]
		e.regs[r], e.fixed[r] = fl.parameter(i, r, s, v), true
	}
	fl.push(i)
}

// parameter gives a parameter an origin: the handlers that are given resources
// by themselves are known.
func (fl *flow) parameter(fn int, r reg, s signature, v value) value {
	if v.kind != pointer {
		return v
	}
	v.origin = fl.origins.place(originKey{fn, -1, int64(r)})
	if fl.p.api.names[v.typ] == "LinuxResources" {
		switch s.name {
		case "UpdateContainer":
			v.origin = origin(symbols.OfUpdateRequest)
		case "UpdatePodSandbox":
			v.origin = origin(symbols.OfPodUpdate)
		}
	}
	return v
}
