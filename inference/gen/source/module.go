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
	Info string // the file with its time
}

// Fetch gets a module version with "go mod download", which uses the module
// cache and whatever the Go client is configured to use.
func Fetch(ctx context.Context, path, version string) (Module, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path+"@"+version)
	cmd.Dir = os.TempDir() // not within the module of this program
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, runErr := cmd.Output()
	var answer struct {
		Module
		Error string
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		if runErr == nil {
			runErr = err
		}
		return Module{}, fmt.Errorf("module %s@%s: %w: %s", path, version, runErr, strings.TrimSpace(stderr.String()))
	}
	if answer.Error != "" {
		return Module{}, fmt.Errorf("module %s@%s: %s", path, version, answer.Error)
	}
	return answer.Module, runErr
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
