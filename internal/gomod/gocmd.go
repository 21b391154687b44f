package gomod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ReadRelease asks the go command for the go.mod of a Kubernetes release. It
// downloads nothing but that file, from wherever the go command is set up to
// get modules, and nothing at all if it is in the module cache. env has the
// form of os.Environ.
func ReadRelease(ctx context.Context, version string, env []string) (Release, error) {
	version, err := ParseVersion(version)
	if err != nil {
		return Release{}, err
	}
	// In a module of its own no directive of the user's go.mod plays a part.
	dir, err := os.MkdirTemp("", "nri-compat-pin-")
	if err != nil {
		return Release{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module pin\n"), 0o644); err != nil {
		return Release{}, err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", "-mod=mod", Kubernetes+"@"+version)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(env), "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local", "GO111MODULE=on", "PWD="+dir)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	if ctx.Err() != nil {
		return Release{}, fmt.Errorf("go list -m %s@%s: %w", Kubernetes, version, ctx.Err())
	}
	if errors.Is(runErr, exec.ErrNotFound) {
		return Release{}, fmt.Errorf("the go command is needed to read %s %s: %w", Kubernetes, version, runErr)
	}
	var module struct {
		Version string
		GoMod   string
	}
	// A release that needs a newer Go than the one here is an error to the go
	// command, but not before it has found its go.mod.
	if err := json.Unmarshal(stdout.Bytes(), &module); err != nil || module.GoMod == "" {
		return Release{}, &goError{fmt.Sprintf("%s %s: %s", Kubernetes, version, reason(stderr.String(), version, runErr)), stderr.String(), runErr}
	}
	if module.Version != version {
		return Release{}, fmt.Errorf("%s %s: the go command answers with %s", Kubernetes, version, module.Version)
	}
	text, err := os.ReadFile(module.GoMod)
	if err != nil {
		return Release{}, fmt.Errorf("%s %s: %w", Kubernetes, version, err)
	}
	return ParseRelease(version, text)
}

// goError is a failure of the go command in one line. It wraps how the command
// ended.
type goError struct {
	text   string
	stderr string
	err    error // nil if the command did not fail
}

func (e *goError) Error() string { return e.text }
func (e *goError) Unwrap() error { return e.err }

// Details is what the go command printed.
func (e *goError) Details() []string { return []string{e.stderr} }

// reason makes one sentence of what the go command printed.
func reason(stderr, version string, err error) string {
	text := strings.Join(strings.Fields(stderr), " ")
	text = strings.TrimPrefix(text, "go: ")
	text = strings.TrimPrefix(text, Kubernetes+"@"+version+": ")
	switch {
	case text != "":
		return text
	case err != nil:
		return "go list -m: " + err.Error()
	}
	return "go list -m finds no go.mod"
}
