package nri

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf tells which process listens at the other end of the connection; nil if
// the kernel does not say.
func peerOf(conn *net.UnixConn) *Peer {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	var cred *unix.Ucred
	err = raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || cred == nil {
		return nil
	}
	return &Peer{PID: int(cred.Pid), UID: cred.Uid, GID: cred.Gid}
}
