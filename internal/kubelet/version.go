package kubelet

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// versionTimeout bounds a kubelet that is asked for its version. One that is
	// read from a slow disk takes a second.
	versionTimeout = 5 * time.Second
	// endTimeout bounds how long its end is waited for then. A program or a file on
	// a network file system that is gone can withstand even being killed.
	endTimeout = time.Second
	// maxVersionOutput bounds what it may print.
	maxVersionOutput = 4 << 10
)

// Version runs the executable of a kubelet with --version and gives what it says
// of itself, such as "v1.34.1" or "v1.30.4+k3s1". The file is /proc/PID/exe of a
// kubelet that runs, so that it is the one that runs, also if it has been replaced
// or is in a container.
//
// It is run only if it is an ELF executable that is named kubelet, and not one that
// says that it was built from another program; the file that was looked at is the
// one that is run. It is also not run if that gave it rights which its process has
// not got, because a name can be had by everybody: the process must be root's, or
// of the same user as this one, with all capabilities of this one and in its user
// namespace, and nobody else may be able to change the file.
// The error says if it is no kubelet, if it could not be run, or that it did not
// answer in time or not with a version. Linux only.
func Version(ctx context.Context, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	type answer struct {
		version string
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		v, err := askVersion(ctx, file)
		answered <- answer{v, err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		select {
		case a = <-answered:
		case <-time.After(endTimeout):
			a.err = fmt.Errorf("%s cannot be read or ended", file)
		}
	}
	if a.err != nil {
		return "", fmt.Errorf("version of the kubelet: %w", a.err)
	}
	return a.version, nil
}

// askVersion looks at the file and runs it.
func askVersion(ctx context.Context, file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	err = isKubelet(f, executableName(file))
	if err == nil {
		err = trusted(f, file)
	}
	if err != nil {
		return "", fmt.Errorf("it was not asked, because %s %w", file, err)
	}
	out, err := runVersion(ctx, f)
	if err != nil {
		return "", err
	}
	return parseVersion(out)
}

// executableName is the name of an executable; of /proc/PID/exe that of the file behind it.
func executableName(file string) string {
	if target, err := os.Readlink(file); err == nil {
		file = strings.TrimSuffix(target, " (deleted)")
	}
	return path.Base(file)
}

// isKubelet looks whether a file can be the executable of a kubelet. The kubelets
// of old releases have no build information, so that only another program's is
// proof.
func isKubelet(f *os.File, name string) error {
	if name != "kubelet" {
		return fmt.Errorf("is named %.100q, not kubelet", name)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is no regular file")
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return errors.New("is no ELF executable")
	}
	if e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return errors.New("is no ELF executable")
	}
	if built, err := buildinfo.Read(f); err == nil && built.Path != "" && path.Base(built.Path) != "kubelet" {
		return fmt.Errorf("was built from %.100q", built.Path)
	}
	return nil
}

// versionLine is the answer of a kubelet.
var versionLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Kubernetes (v[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+~_-]{0,100})$`)
})

// parseVersion reads what a kubelet printed: one line, "Kubernetes v1.34.1".
func parseVersion(out []byte) (string, error) {
	line, _, _ := bytes.Cut(out, []byte("\n"))
	m := versionLine().FindSubmatch(bytes.TrimRight(line, "\r"))
	if m == nil {
		if len(out) == 0 {
			return "", errors.New("it printed nothing")
		}
		return "", fmt.Errorf("it printed %s, want a line such as Kubernetes v1.34.1", strconv.QuoteToASCII(string(line[:min(len(line), 80)])))
	}
	return string(m[1]), nil
}

// readLine reads to the end of the first line, or to the end, or to the bound.
func readLine(r io.Reader) ([]byte, error) {
	var out []byte
	buf := make([]byte, 512)
	for len(out) < maxVersionOutput {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if bytes.IndexByte(out, '\n') >= 0 || errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
