// Package libprobe runs what the probes only read: for a version of the NRI
// library it builds a tiny runtime with a tiny plugin, a module of its own
// under testdata, and drives every adjustment and update through the real
// adaptation and spec generator. What ends the process is contained in a child.
package libprobe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// caseTimeout bounds one case in the child, the start of an adaptation included.
const caseTimeout = 30 * time.Second

// Outcome is what became of a case.
type Outcome struct {
	// Crashed is set if the case ended the process; Said is what it said then.
	Crashed bool
	Said    string
	// Before and Spec are the OCI spec of the container before and after it was
	// adjusted, Updates the first update that got out of the adaptation, as JSON.
	Before, Spec, Updates json.RawMessage
	// Evicted is set if an eviction got out of the adaptation.
	Evicted bool
	// Asked is set if the runtime got an update that the plugin asked for by
	// itself, while the plugin still waited.
	Asked bool
	// Error is what the library answered instead.
	Error string
}

// Build builds the probe with a version of the library, such as "v0.11.0",
// from the module in testdata/libprobe/nri-VERSION, into an empty directory.
// It returns the binary.
func Build(ctx context.Context, testdata, version, dir string) (string, error) {
	module := filepath.Join(testdata, "libprobe", "nri-"+version)
	options := "cdi.go"
	if data, err := os.ReadFile(filepath.Join(module, "options")); err == nil {
		options = strings.TrimSpace(string(data))
	}
	for from, to := range map[string]string{
		filepath.Join(module, "go.mod"):                         "go.mod",
		filepath.Join(module, "go.sum"):                         "go.sum",
		filepath.Join(testdata, "libprobe", "probe", "main.go"): "main.go",
		filepath.Join(testdata, "libprobe", "options", options): "options.go",
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o644); err != nil {
			return "", err
		}
	}
	binary := filepath.Join(dir, "probe")
	// WebAssembly has no part in this and takes the longest to build.
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "nri_no_wasm", "-o", binary, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("NRI %s: build the probe: %w\n%s", version, err, out)
	}
	return binary, nil
}

// Run plays cases in order. A case that ends the process is contained: the
// rest is played by another one.
func Run(ctx context.Context, binary string, cases []Case) (map[string]Outcome, error) {
	out := map[string]Outcome{}
	for len(cases) > 0 {
		done, said, err := run(ctx, binary, cases, out)
		if err != nil {
			return nil, err
		}
		cases = cases[done:]
		if len(cases) > 0 {
			out[cases[0].ID.String()] = Outcome{Crashed: true, Said: said}
			cases = cases[1:]
		}
	}
	return out, nil
}

// run plays cases in one process and returns how many it survived.
func run(ctx context.Context, binary string, cases []Case, out map[string]Outcome) (done int, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(cases))*caseTimeout)
	defer cancel()
	var in, stderr bytes.Buffer
	for _, c := range cases {
		line, err := json.Marshal(c.play())
		if err != nil {
			return 0, "", err
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(ctx, binary)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, "", err
	}
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer struct {
			ID string `json:"id"`
			Outcome
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil || done >= len(cases) || answer.ID != cases[done].ID.String() {
			cmd.Wait()
			return 0, "", fmt.Errorf("the probe answered %q: %w", lines.Text(), err)
		}
		out[answer.ID] = answer.Outcome
		done++
	}
	runErr := cmd.Wait()
	if ctx.Err() != nil {
		return 0, "", ctx.Err()
	}
	said = panicOf(stderr.String())
	if done < len(cases) && (runErr == nil || said == "") {
		return 0, "", fmt.Errorf("the probe ended after %d of %d cases without a panic: %v\n%s", done, len(cases), runErr, stderr.String())
	}
	return done, said, nil
}

// panicOf returns the message of a panic.
func panicOf(stderr string) string {
	for line := range strings.Lines(stderr) {
		if message, ok := strings.CutPrefix(line, "panic: "); ok {
			return strings.TrimSpace(message)
		}
	}
	return ""
}
