package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// messagesFD is the descriptor that the outer process hands to the stage.
const messagesFD = 3

// opening is what the stage is told first: a [Spec], whose texts may have any
// bytes, which JSON strings may not, and the configuration.
type opening struct {
	Command [][]byte `json:"command"`
	Env     [][]byte `json:"env"`
	Dir     []byte   `json:"dir"`
	Empty   [][]byte `json:"empty"`
	Copied  [][]byte `json:"copied"`
	Config  any      `json:"config"`
}

func newOpening(s Spec, config any) opening {
	return opening{list[[]byte](s.Command), list[[]byte](s.Env), []byte(s.Dir), list[[]byte](s.Empty), list[[]byte](s.Copied), config}
}

func (o opening) spec() Spec {
	return Spec{list[string](o.Command), list[string](o.Env), string(o.Dir), list[string](o.Empty), list[string](o.Copied)}
}

// list converts the elements of a list.
func list[To, From string | []byte](from []From) []To {
	var to []To
	for _, x := range from {
		to = append(to, To(x))
	}
	return to
}

// Stage is the sandbox as seen from inside.
type Stage struct {
	spec    Spec
	gone    chan struct{}
	mutex   sync.Mutex
	pipe    *json.Encoder
	program *exec.Cmd
	ended   chan struct{}
}

// Enter is called by the first process of the namespaces: it reads from stdin
// what [Start] has written there, decodes the configuration into config, and
// prepares the directories. The error has been told to the outer process.
func Enter(stdin io.Reader, config any) (*Stage, error) {
	if os.Getpid() != 1 {
		return nil, fmt.Errorf("this is for the first process of a namespace only")
	}
	syscall.CloseOnExec(messagesFD) // the program has no business with it
	s := &Stage{gone: make(chan struct{}), pipe: json.NewEncoder(os.NewFile(messagesFD, "messages"))}
	in := json.NewDecoder(stdin)
	first := opening{Config: config}
	if err := in.Decode(&first); err != nil {
		return nil, s.Fail(err)
	}
	s.spec = first.spec()
	go func() {
		defer close(s.gone)
		_, _ = io.Copy(io.Discard, stdin) // until the outer process is gone
	}()
	if err := prepare(s.spec); err != nil {
		return nil, s.Fail(fmt.Errorf("directories of its own for the plugin: %w", err))
	}
	return s, nil
}

// Gone is closed when the outer process wants the sandbox to end, or has ended.
func (s *Stage) Gone() <-chan struct{} { return s.gone }

// Send sends a message to the outer process. An error means that it is gone.
func (s *Stage) Send(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.pipe.Encode(message{Data: data})
}

// Fail tells the outer process that there will be no program, and why. It
// returns the error.
func (s *Stage) Fail(err error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_ = s.pipe.Encode(message{Failed: err.Error()}) // if it is gone nobody wants to know
	return err
}

// Run starts the program. Its standard input is empty, its output is that of
// the stage.
func (s *Stage) Run() error {
	// Of a directory that is not there the error would blame the program.
	if _, err := os.Stat(s.spec.Dir); s.spec.Dir != "" && err != nil {
		return s.Fail(fmt.Errorf("start the plugin: its directory is not there any more: %w", err))
	}
	s.program = exec.Command(s.spec.Command[0], s.spec.Command[1:]...)
	s.program.Env, s.program.Dir = s.spec.Env, s.spec.Dir
	s.program.Stdout, s.program.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
	s.program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.program.Start(); err != nil {
		return s.Fail(fmt.Errorf("start the plugin: %w%s", err, s.why(err)))
	}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = s.program.Wait() // [Stage.Exit] tells how it ended
	}()
	return nil
}

// why says more of an error by which the program is not there.
func (s *Stage) why(err error) string {
	program := s.spec.Command[0]
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if _, err := os.Stat(program); err == nil {
		return ": the file is there, but what it names as its interpreter is not: install that, or link the program statically"
	}
	for _, dir := range slices.Concat(s.spec.Empty, s.spec.Copied) {
		if rest, err := filepath.Rel(dir, program); err == nil && filepath.IsLocal(rest) {
			return ": what is in " + dir + " is hidden from it: copy it to another directory"
		}
	}
	return ""
}

// Ended is closed when the program has ended; what it forked may live on.
func (s *Stage) Ended() <-chan struct{} { return s.ended }

// Exit tells how the program ended, such as "exit status 2" or "signal:
// killed"; empty while it runs.
func (s *Stage) Exit() string {
	select {
	case <-s.ended:
		return s.program.ProcessState.String()
	default:
		return ""
	}
}

// Alive lists the names of the processes of the sandbox other than the stage
// and the program itself: what the program has started and left running.
func (s *Stage) Alive() []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	self, _ := os.Readlink("/proc/self") // of no proc file system
	var names []string
	for _, e := range entries {
		number, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
		if err != nil {
			continue // it has just ended
		}
		name, inner, zombie := process(string(status))
		// Where no proc of its own could be mounted, or the program has unmounted it,
		// this one shows all processes of the machine, under other numbers.
		if self != "1" {
			if !sameNamespace(e.Name()) {
				continue
			}
			number = inner
		}
		if !zombie && number != 1 && number != s.program.Process.Pid {
			names = append(names, name)
		}
	}
	return names
}

// sameNamespace tells whether a process is known to be in the process namespace
// of this one.
func sameNamespace(number string) bool {
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false
	}
	its, err := os.Readlink(filepath.Join("/proc", number, "ns/pid"))
	return err == nil && its == ours
}

// process reads the status file of a process: its name, its number in its own
// namespace, and whether it has ended and nobody has asked how.
func process(status string) (name string, inner int, zombie bool) {
	for line := range strings.Lines(status) {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch field {
		case "Name":
			name = value
		case "State":
			zombie = strings.HasPrefix(value, "Z")
		case "NSpid":
			inner, _ = strconv.Atoi(value[strings.LastIndexAny(value, " \t")+1:])
		}
	}
	return name, inner, zombie
}

// Stop asks the program to end with SIGTERM and waits for that, at most for the
// time given. It tells whether the program ended by itself.
func (s *Stage) Stop(wait time.Duration) bool {
	select {
	case <-s.ended:
		return true
	default:
	}
	_ = s.program.Process.Signal(syscall.SIGTERM) // it may just have ended
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.ended:
		return true
	case <-timer.C:
		return false
	}
}
