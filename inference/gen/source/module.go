package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Module is a module version that the Go client has fetched.
type Module struct {
	Dir  string
	Zip  string
	Info string // the file with its time
}

// fetchTime is how long the Go client may take for one module: Kubernetes has
// some 30 MB, and the client unpacks them.
const fetchTime = 10 * time.Minute

// Fetch gets a module version with "go mod download", which uses the module
// cache and whatever the Go client is configured to use. Nothing of the module is
// built, so it may need a newer Go than the one that is there: then the module has
// no directory, only the file that was fetched and checked.
func Fetch(ctx context.Context, path, version string) (Module, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path+"@"+version)
	cmd.Dir = os.TempDir() // not within the module of this program
	cmd.Env = append(os.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local")
	cmd.WaitDelay = 10 * time.Second // for what the client itself started
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, runErr := cmd.Output()
	if err := ctx.Err(); err != nil {
		return Module{}, fmt.Errorf("module %s@%s: %w", path, version, err)
	}
	var answer struct {
		Module
		Sum   string
		Error string
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		if runErr == nil {
			runErr = err
		}
		if said := strings.Join(strings.Fields(stderr.String()), " "); said != "" {
			runErr = fmt.Errorf("%w: %s", runErr, said)
		}
		return Module{}, fmt.Errorf("module %s@%s: %w", path, version, runErr)
	}
	if answer.Error != "" && answer.Sum != "" && answer.Zip != "" {
		return answer.Module, nil // it was fetched and checked, but not unpacked
	}
	if answer.Error != "" {
		return Module{}, fmt.Errorf("module %s@%s: %s", path, version, strings.Join(strings.Fields(answer.Error), " "))
	}
	return answer.Module, runErr
}

// Tree returns the files of the module.
func (m Module) Tree() (*Tree, error) {
	if m.Dir != "" {
		return Dir(m.Dir)
	}
	return Zip(m.Zip)
}

// Time is the time of the commit that a module version was made of.
func (m Module) Time() (time.Time, error) {
	data, err := os.ReadFile(m.Info)
	if err != nil {
		return time.Time{}, err
	}
	var info struct{ Time time.Time }
	if err := json.Unmarshal(data, &info); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", m.Info, err)
	}
	return info.Time.UTC(), nil
}
