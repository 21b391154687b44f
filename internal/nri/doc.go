// Package nri speaks the NRI wire protocol. It is the only package that knows
// ttrpc and the containerd/nri library.
//
// # What Probe does
//
// [Probe] finds out which container runtime listens on an NRI socket. A runtime
// introduces itself to every plugin that registers, in the Configure request, so
// the probe registers as a plugin, keeps what it was told, and answers Configure
// with an error that says what it was. The runtime then drops the connection
// before the plugin becomes active.
//
// # What Probe promises
//
//   - It never subscribes: no event mask is ever returned, not even the empty
//     one, which every runtime reads as "all events" and which NRI v0.10.0 and
//     later also take as the wish to validate every container.
//   - It never stays connected without registering, which would keep all other
//     plugins waiting until the runtime's registration timeout.
//   - It serves Configure before it registers, because runtimes call Configure
//     without waiting for their answer to RegisterPlugin to be read.
//   - It ends within [MaxTimeout], whatever the other side does, and reads at
//     most 64 KiB from it. A frame that announces more than the 4 MiB of the
//     protocol is refused, so memory stays bounded by one such frame.
//   - It leaves no goroutine and no file descriptor behind, here or in the
//     runtime. In the runtime's log it leaves the lines of [Identity.LogLines].
//   - Every failure is an [*Error] with a [Reason].
//
// The strings in an [Identity] are what the runtime sent, byte for byte. They
// may hold control characters; whoever prints them has to escape them.
package nri
