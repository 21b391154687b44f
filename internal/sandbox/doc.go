// Package sandbox runs one foreign program apart from the machine, so that
// somebody can watch it and nothing of it stays behind.
//
// The program runs in a mount and a process namespace of its own; for a user
// who is not root in a user namespace too. Two processes of ours are involved:
// the outer one calls [Start] and holds the [Box]; the first process of the new
// namespaces, which is the same executable under another command line, calls
// [Enter] and holds the [Stage]. The stage prepares the directories, starts the
// program, and sends what it has to say through a pipe.
//
// # Promises
//
//   - Whatever the program forks ends with the stage, because the kernel ends a
//     process namespace with its first process; the stage ends with the outer
//     process, because the kernel kills it then.
//   - Mounts and the contents of the directories that [Spec] names are seen by
//     the program only, and are gone when it is. Where such a directory does not
//     exist, it is not made on the machine either.
//   - Everything else is the machine's own: the program has the rights of the
//     user, the network, the devices, and can write where the user can.
package sandbox

import "errors"

// ErrUnsupported is the cause of the error of [Start] on systems without Linux
// namespaces.
var ErrUnsupported = errors.New("a plugin is run in Linux namespaces: this needs Linux")

// Spec says what to run and what it sees.
type Spec struct {
	// Command is the program, as an absolute path, and its arguments.
	Command []string
	// Env is its environment in the form of os.Environ, Dir its directory.
	Env []string
	Dir string
	// Empty are absolute paths of directories that the program sees empty at
	// first. They need not exist.
	Empty []string
	// Copied are absolute paths of directories of which the program sees copies
	// of the regular files that this user can read, of at most 1 MiB each. Those
	// that do not exist are seen empty.
	Copied []string
}
