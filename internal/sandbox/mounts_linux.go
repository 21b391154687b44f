package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	maxEntries = 4096    // of a directory that is shown again entry by entry
	maxCopied  = 1 << 20 // bytes of a copied file
	tmpfsSize  = "size=64m,mode=0755"
)

// prepare makes the directories of the spec in the mount namespace of this
// process.
func prepare(spec Spec) error {
	// What is mounted here must not be seen outside. What is unmounted outside
	// must go away here too, or a volume of a pod would stay busy.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keep mounts apart: %w", explain(err)) // some systems allow the namespace, and nothing in it
	}
	// A container's masks forbid a second proc to who is not root. The old one
	// does as well, except that it shows other process numbers.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	for _, dir := range spec.Empty {
		if err := empty(dir); err != nil {
			return err
		}
	}
	for _, dir := range spec.Copied {
		if err := copied(dir); err != nil {
			return err
		}
	}
	return nil
}

// empty makes a directory that exists and is empty, in this namespace only.
func empty(dir string) error {
	existing, missing := dir, ""
	for {
		real, err := filepath.EvalSymlinks(existing)
		if err == nil {
			existing = real
			break
		}
		if existing == "/" {
			return err
		}
		if link, err := os.Readlink(existing); err == nil {
			return fmt.Errorf("%s: the symbolic link %s leads to %s, which is not there: make it, or remove the link", dir, existing, link)
		}
		missing = filepath.Join(filepath.Base(existing), missing)
		existing = filepath.Dir(existing)
	}
	if missing == "" {
		return tmpfs(existing)
	}
	if existing == "/" {
		return fmt.Errorf("%s: there is no %s here", dir, filepath.Join("/", missing))
	}
	// To make it in place would leave it behind: its parent is replaced by a
	// directory that shows everything that is there, and can have more.
	if err := again(existing); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(existing, missing), 0o755)
}

func tmpfs(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, tmpfsSize); err != nil {
		return fmt.Errorf("mount a tmpfs on %s: %w", dir, err)
	}
	return nil
}

// again mounts a tmpfs over a directory and shows all of its entries in it.
func again(dir string) error {
	below, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer below.Close()
	entries, err := below.ReadDir(maxEntries + 1)
	if err != nil && err != io.EOF {
		return err
	}
	if len(entries) > maxEntries {
		return fmt.Errorf("%s has more than %d entries", dir, maxEntries)
	}
	if err := tmpfs(dir); err != nil {
		return err
	}
	for _, e := range entries {
		// Through the descriptor the path leads below the new mount.
		from := fmt.Sprintf("/proc/self/fd/%d/%s", below.Fd(), e.Name())
		to := filepath.Join(dir, e.Name())
		if err := show(from, to, e); errors.Is(err, fs.ErrNotExist) {
			// It has just been removed on the machine: /run is never quiet.
			if err := os.RemoveAll(to); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// show makes one entry appear at another place.
func show(from, to string, e os.DirEntry) error {
	if e.Type()&os.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	if e.IsDir() {
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
	} else if err := os.WriteFile(to, nil, 0o644); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s again: %w", to, err)
	}
	return nil
}

// copied makes a directory that has copies of the files that are in it.
func copied(dir string) error {
	files := map[string][]byte{}
	// What this user may not read the program could not read either.
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxCopied || len(files) == maxEntries {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		files[e.Name()] = text
	}
	if err := empty(dir); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
