package kubelet

import (
	"cmp"
	"fmt"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference/gen/probe"
)

// verdict is short for what probes answer.
type verdict = probe.Verdict

func yes(in string, files ...string) verdict {
	return verdict{State: capability.Yes, In: in, Files: files}
}

func no(in string, files ...string) verdict {
	return verdict{State: capability.No, In: in, Files: files}
}

func unclear(format string, args ...any) verdict {
	return verdict{Why: fmt.Sprintf(format, args...)}
}

// yesIf is yes or no, depending on what was seen.
func yesIf(seen bool, in string, files ...string) verdict {
	if seen {
		return yes(in, files...)
	}
	return no(in, files...)
}

// all is the verdict of parts that are all needed. The first that is missing
// or not understood decides.
func all(parts ...verdict) verdict {
	out := verdict{State: capability.Yes}
	for _, p := range parts {
		if p.State != capability.Yes {
			return p
		}
		out.Files = append(out.Files, p.Files...)
		out.In = cmp.Or(out.In, p.In)
	}
	return out
}
