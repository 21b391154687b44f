// Package standin plays a kubelet to a device plugin.
//
// [Kubelet] accepts the registration of a plugin, calls it as the device manager
// of a kubelet does, once each, and keeps what it sees. It never hands a device
// to anybody. [Observation.Findings] tells what that shows of the plugin.
//
// # Promises
//
//   - Every call has a deadline, every message the size limit of the kubelet
//     (4 MiB), and what is kept of a plugin that registers or reports without
//     end, or sends megabytes as a name, is bounded.
//   - It touches nothing outside of its directories. It makes its socket in one
//     and removes it. Unlike a kubelet it removes no other file there.
//
// The strings in an [Observation] are the first KiB of what the plugin sent, byte
// for byte. They may hold control characters; whoever prints them has to escape
// them.
package standin
