package binary

import "errors"

// The reasons why nothing can be said about a file. Errors of [Inspect] wrap
// one of them, or an error of reading the file.
var (
	// ErrNoAPI is returned for a Go program that does not carry the NRI API: it
	// is not an NRI plugin.
	ErrNoAPI = errors.New("not an NRI plugin: it carries no NRI API")
	// ErrRuntime is returned for a program that takes NRI plugins instead of
	// being one, such as containerd.
	ErrRuntime = errors.New("not an NRI plugin: it is a runtime that takes plugins")
	// ErrNotExecutable is returned for what is no executable at all, such as an
	// empty file, a text or an archive.
	ErrNotExecutable = errors.New("not an executable")
	// ErrScript is returned for a script; it may well start a plugin.
	ErrScript = errors.New("a script: name the plugin it starts")
	// ErrWasm is returned for a WebAssembly module.
	ErrWasm = errors.New("a WebAssembly module, which cannot be analysed: use its source or a manifest")
	// ErrNotGo is returned for an executable that was not built by Go's gc
	// compiler.
	ErrNotGo = errors.New("not built by Go, or its Go tables are gone: use its source or a manifest")
	// ErrPacked is returned for a packed executable.
	ErrPacked = errors.New("packed with UPX: unpack it (upx -d) and look again")
	// ErrTooOld is returned for a program built by Go before 1.18.
	ErrTooOld = errors.New("built by a Go release before 1.18, whose tables are not understood")
	// ErrTooLarge is returned for a program whose loaded part is larger than
	// any plugin.
	ErrTooLarge = errors.New("loaded part is larger than 512 MiB")
	// ErrCorrupt is returned for an executable that contradicts itself.
	ErrCorrupt = errors.New("damaged or cut short")
)
