// Package capability is the vocabulary of nri-compat: the things a node plugin
// can depend on, what a plugin needs of them, what a runtime does about them,
// and the verdict that follows from joining the two.
//
// # Words
//
// A capability ([ID]) is one thing a plugin can depend on. Its name starts with
// its kind: ADJUST_ (a change to a container at creation), UPDATE_ (a change
// later on), INPUT_ (data the plugin is given), EVENT_ (a call that really
// arrives), SUBSCRIBE_ (a registration with that event bit is accepted), PROTO_
// (behaviour of the protocol) and the single EXTRA_CONTAINER_STATUS.
//
// Those are the capabilities of the NRI family, which are up to the container
// runtime. What is up to the kubelet, for device plugins and DRA drivers, starts
// with DEVICE_, PODRES_ (the pod resources API), PODS_ (the pods API) or DRA_.
// Some of these say what a kubelet puts up with, such as
// DEVICE_REGISTER_BEFORE_SERVE: a plugin that does not serve when it registers
// needs a kubelet that allows it. [Kind.Family] tells the families apart.
//
// A [State] is what a runtime does about a capability, an [Effect] is what
// happens to a plugin that uses one that is not there, a [Requirement] is what
// a plugin needs, and [Check] joins requirements with the answers of a
// [Provider] into a [Report] with one [Verdict]. Requirements of which one is
// enough, such as the versions of a service that a driver offers, are
// alternatives: they have the same [Requirement.OneOf].
//
// # Promises
//
// The zero value of every answer is "unknown": something that could not be
// found out is never reported as supported and never as not needed.
//
// The package uses the standard library only, does no I/O and reads no clock.
// Everything in it is safe for concurrent use; no method changes its receiver.
//
// # Numbers
//
// Numbers 0 to 26 are those of the draft Capability enum of containerd/nri#265,
// so that a [Set] has the draft's wire form. Numbers up to 255 are left to that
// enum. Numbers from [FirstOwn] on are this project's; they are never sent to a
// runtime and never change their meaning.
package capability
