package nri

import (
	"fmt"
	"time"
)

// Identity is what a runtime says of itself to a plugin, and what its socket
// tells about it.
type Identity struct {
	// Socket is the path of the socket that answered.
	Socket string
	// Peer is the process that listens on the socket; nil if the platform does
	// not tell.
	Peer *Peer

	// RuntimeName and RuntimeVersion are the strings of the Configure request,
	// unchanged: "containerd" and "v2.2.1", "cri-o" and "1.35.6". The name is
	// never empty, the version can be. Neither is longer than 256 bytes.
	RuntimeName    string
	RuntimeVersion string
	// NRIVersion is the NRI version that the runtime reports, such as "v0.12.0";
	// empty for runtimes with an NRI before v0.12.0. The value "0.0.0-unknown"
	// comes from runtimes that were built without module information.
	NRIVersion string
	// RegistrationTimeout and RequestTimeout are how long the runtime waits for
	// a plugin to register and to answer; zero for runtimes with an NRI before
	// v0.7.0, which do not say.
	RegistrationTimeout time.Duration
	RequestTimeout      time.Duration
	// Capabilities is the capability mask of containerd/nri#265, the words in
	// the order they were sent. HasCapabilities tells whether there was one: a
	// mask without any bit is not the same as no mask.
	Capabilities    []uint64
	HasCapabilities bool
	// UnknownFields are the numbers of the other fields of the request that
	// this program does not know, in the order they were sent.
	UnknownFields []int32

	// Bracket is the range of NRI versions that the presence of these fields
	// alone shows, without believing any of their values.
	Bracket Bracket
	// LogLines are the lines that the runtime has logged about the probe, in
	// order. A runtime can add one more that says that the connection was closed.
	// They show the process id of this process; a runtime with another PID
	// namespace shows the one it sees.
	LogLines []LogLine
}

// Peer is the process at the other end of a unix socket, as the kernel saw it
// when it began to listen (SO_PEERCRED).
type Peer struct {
	// PID is the process id in the PID namespace of this process; 0 if the
	// process is not visible from here.
	PID int
	UID uint32
	GID uint32
}

// Bracket is a range of NRI library versions: From and later, but before Before.
// An empty bound is open.
type Bracket struct {
	From   string
	Before string
}

// String gives the range in words: "before v0.7.0", "v0.7.0 to v0.11.0",
// "v0.12.0 or later".
func (b Bracket) String() string {
	switch b {
	case beforeTimeouts:
		return "before v0.7.0"
	case withTimeouts:
		return "v0.7.0 to v0.11.0"
	case withVersion:
		return "v0.12.0 or later"
	}
	return "any version"
}

// What each Configure request shows. The timeouts came with NRI v0.7.0, the
// version with v0.12.0; no release is between v0.11.0 and v0.12.0.
var (
	beforeTimeouts = Bracket{Before: "v0.7.0"}
	withTimeouts   = Bracket{From: "v0.7.0", Before: "v0.12.0"}
	withVersion    = Bracket{From: "v0.12.0"}
)

// bracket tells which versions can have sent the identity.
func bracket(id Identity) Bracket {
	switch {
	case id.NRIVersion != "":
		return withVersion
	case id.RegistrationTimeout != 0 || id.RequestTimeout != 0:
		return withTimeouts
	}
	return beforeTimeouts
}

// LogLine is one line of a runtime's log.
type LogLine struct {
	// Level is "info" or "error".
	Level string
	// Message is the message without time, level and other fields.
	Message string
}

// logLines gives what every version of the library logs about a plugin that
// registers and then fails to configure. pid is the plugin's process id as the
// runtime sees it, which is ours unless the two have different PID namespaces.
func logLines(b Bracket, pid int) []LogLine {
	name := PluginIndex + "-" + PluginName
	registered := fmt.Sprintf(`plugin "external:%s[%d]" registered as %q`, name, pid, name)
	if b == withVersion {
		registered += " (with NRI version unknown)"
	}
	return []LogLine{
		{Level: "info", Message: registered},
		{Level: "error", Message: "failed to start external plugin: failed to configure plugin: " +
			"rpc error: code = Unknown desc = " + Farewell},
	}
}
