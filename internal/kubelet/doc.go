// Package kubelet is the wire to the kubelet of a node: its executable, which is
// asked for its version, and the sockets on which it serves.
//
// # Promises
//
// [Version] runs the executable of a kubelet with --version, which the kubelet
// answers before it reads any configuration. Nothing else is ever run, and
// nothing that does not look like a kubelet, or that would get rights by it. The
// program has no environment, no input and no terminal, its output is bounded, and
// when the call returns neither it nor a process of its group is left.
//
// [AskPodResources] makes two calls that the kubelet answers without changing
// anything; they count in its metrics of requests and of errors. [ProbeRegistration]
// is a registration that cannot succeed; see there for what it leaves behind.
//
// Everything has a deadline. What the other side sends is never trusted: it is
// cut to a length, and whoever prints it has to escape it.
package kubelet
