package kubelet

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// trusted tells whether running an executable gives it no right that it has not
// got already. Anybody on a node, and any pod, can name a program kubelet and wait
// for somebody with more rights to run it. So the process behind file, which is
// its /proc/PID/exe, must have all the rights of this one. Its executable must
// also be nobody else's, because a process can become a program with more rights,
// and its old self again, while it is looked at.
func trusted(f *os.File, file string) error {
	if err := ownedSafely(f); err != nil {
		return err
	}
	theirs, err := rightsOf(path.Join(path.Dir(file), "status"))
	ours, ourErr := rightsOf("/proc/self/status")
	if err = errors.Join(err, ourErr); err != nil {
		return fmt.Errorf("has rights that cannot be seen: %w", err)
	}
	same, err := sameNamespace(path.Join(path.Dir(file), "ns/user"), "/proc/self/ns/user")
	switch {
	case err != nil:
		return fmt.Errorf("has a user namespace that cannot be seen: %w", err)
	case !same:
		return errors.New("is run in another user namespace")
	case theirs.uid != 0 && theirs.uid != ours.uid:
		return fmt.Errorf("is run by user %d, who is not root", theirs.uid)
	case ours.capabilities&^theirs.capabilities != 0:
		return fmt.Errorf("is run with fewer capabilities (%x) than it would get (%x)", theirs.capabilities, ours.capabilities)
	}
	// The process can have become another program since the file was opened.
	now, err := os.Stat(file)
	then, ourErr := f.Stat()
	if err := errors.Join(err, ourErr); err != nil || !os.SameFile(now, then) {
		return errors.New("is another program by now, or has ended")
	}
	return nil
}

// ownedSafely looks whether only root, or who runs this process, can change a file.
func ownedSafely(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errors.New("has an owner who is not known")
	case st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("belongs to user %d, not to root", st.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("can be changed by others than its owner (mode %#o)", info.Mode().Perm())
	}
	return nil
}

// rights are the effective user id and capabilities of a process.
type rights struct {
	uid          int
	capabilities uint64
}

// rightsOf reads /proc/PID/status.
func rightsOf(file string) (rights, error) {
	f, err := os.Open(file)
	if err != nil {
		return rights{}, err
	}
	defer f.Close()
	r := rights{uid: -1}
	seen := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Fields(lines.Text())
		switch {
		case len(field) > 2 && field[0] == "Uid:": // real, effective, …
			if r.uid, err = strconv.Atoi(field[2]); err != nil {
				return rights{}, fmt.Errorf("%s: %w", file, err)
			}
		case len(field) > 1 && field[0] == "CapEff:":
			if r.capabilities, err = strconv.ParseUint(field[1], 16, 64); err != nil {
				return rights{}, fmt.Errorf("%s: %w", file, err)
			}
			seen = true
		}
	}
	if r.uid < 0 || !seen {
		return rights{}, fmt.Errorf("%s does not tell the rights of the process", file)
	}
	return r, nil
}

// sameNamespace compares two namespaces. A kernel that has none of their kind has
// one for all.
func sameNamespace(a, b string) (bool, error) {
	first, err := os.Stat(a)
	second, ourErr := os.Stat(b)
	if errors.Is(err, fs.ErrNotExist) && errors.Is(ourErr, fs.ErrNotExist) {
		return true, nil
	}
	if err = errors.Join(err, ourErr); err != nil {
		return false, err
	}
	return os.SameFile(first, second), nil
}
