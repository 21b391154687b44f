// Package inference tells what a container runtime release does about each
// NRI capability, and a kubelet about each of a device plugin or DRA driver,
// from a table of releases that is part of the program.
//
// # Where the answers come from
//
// The table has one row for every release of containerd from 1.7.0-beta.1 and
// of CRI-O from 1.26.0 on, one for every minor release of the kubelet from 1.10
// on, and for every capability the ranges of releases,
// within each release line, in which it works, is dropped, depends on a
// setting, or does harm. All of it was read from the source code at the tags
// of the releases; a part was also run. Every [capability.Answer] carries the
// pull request and the source files that show it.
//
// # What is never done
//
// Nothing is extrapolated silently. [Table.Lookup] says by its [Match] how the
// runtime that was asked for relates to the row that answers: a release that
// the table does not have is answered from the nearest older release of the
// same line and marked so; a line the table does not have is unknown in every
// respect, whatever came before it.
//
// The package does no I/O besides reading an [io.Reader] that it is given.
package inference
