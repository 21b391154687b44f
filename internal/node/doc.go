// Package node finds out what is on a node: the runtime process and its binary,
// the configuration that decides about NRI, the NRI plugins that are connected or
// installed, and the kubelet with the configuration that decides what it offers to
// device plugins.
//
// # Promises
//
// The package only reads. It writes no file, sends no signal, connects to no
// socket and starts no program. To see the plugins of pods with a network of
// their own it enters their network namespaces, with one thread of its own that
// ends afterwards.
//
// What could not be read is an error or a gap, never an empty answer: a missing
// file is told apart from an empty one, a key that is not set from one that is
// set to its default. Defaults belong to releases and are not known here.
//
// Every input is bounded: configuration files to 1 MiB and 256 files, command
// lines and cgroup files to 64 KiB.
//
// All functions work on a [Host], so that the files of a node can also be read
// when they are mounted elsewhere. A kubelet in a container is read as it sees its
// own files. The strings in the results are what the node holds, byte for byte;
// whoever prints them has to escape them.
package node
