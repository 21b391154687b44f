package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/internal/plugin/binary"
	"github.com/nri-compat/nri-compat/internal/plugin/found"
	"github.com/nri-compat/nri-compat/internal/plugin/source"
)

// A program can be an NRI plugin, or a device plugin, a DRA driver or a client
// of the kubelet, or both at once. Each family has readers of its own, whose
// answers are put together here.

// readExecutable reads an executable as a plugin of either family.
func readExecutable(ctx context.Context, r io.ReaderAt, size int64, path string) (found.Plugin, error) {
	nri, err := binary.Inspect(ctx, r, size, path)
	if err != nil && !errors.Is(err, binary.ErrNoAPI) {
		return found.Plugin{}, err
	}
	kubelet, kubeletErr := binary.InspectKubelet(ctx, r, size, path)
	switch {
	case err != nil && errors.Is(kubeletErr, binary.ErrNoKubeletAPI):
		return found.Plugin{}, err
	case err != nil:
		return kubelet, kubeletErr
	case errors.Is(kubeletErr, binary.ErrNoKubeletAPI):
		return nri, nil
	case ctx.Err() != nil:
		return found.Plugin{}, ctx.Err()
	case kubeletErr != nil:
		// That it is an NRI plugin is known all the same.
		nri.Gaps = append(nri.Gaps, fmt.Sprintf("whether it is a device plugin or a DRA driver too: %v", kubeletErr))
		return nri, nil
	}
	return join(nri, kubelet), nil
}

// readSource reads a module's programs as plugins of either family, sorted by
// import path.
func readSource(ctx context.Context, dir string, o source.Options) ([]found.Plugin, error) {
	list, err := source.Inspect(ctx, dir, o)
	if err != nil && !errors.Is(err, source.ErrNoUse) {
		return nil, err
	}
	if !mayUseKubelet(dir) {
		return list, err
	}
	more, kubeletErr := source.InspectKubelet(ctx, dir, o)
	switch {
	case errors.Is(kubeletErr, source.ErrNoUse) && err != nil:
		return nil, fmt.Errorf("%w, or an API of the kubelet", err)
	case errors.Is(kubeletErr, source.ErrNoUse):
		return list, nil
	case kubeletErr != nil:
		return nil, kubeletErr
	}
	for _, m := range more {
		i := slices.IndexFunc(list, func(p found.Plugin) bool { return p.Identity.Package == m.Identity.Package })
		if i < 0 {
			list = append(list, m)
		} else {
			list[i] = join(list[i], m)
		}
	}
	slices.SortFunc(list, func(a, b found.Plugin) int { return strings.Compare(a.Identity.Package, b.Identity.Package) })
	return list, nil
}

// mayUseKubelet tells whether a module asks for one that has the APIs of the
// kubelet, or cannot be seen not to. To list the packages a second time would
// be in vain for every other.
func mayUseKubelet(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err != nil || strings.Contains(string(text), "k8s.io/kube")
}

// join adds to an NRI plugin what it is to the kubelet.
func join(nri, kubelet found.Plugin) found.Plugin {
	nri.Kubelet = kubelet.Kubelet
	nri.Requirements = capability.Normalize(slices.Concat(nri.Requirements, kubelet.Requirements))
	nri.Gaps = slices.Concat(nri.Gaps, kubelet.Gaps)
	nri.Warnings = slices.Concat(nri.Warnings, kubelet.Warnings)
	return nri
}
