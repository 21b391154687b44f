package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The part of linux/unix_diag.h that is used.
const (
	udiagShowName   = 1 // UDIAG_SHOW_NAME
	udiagShowVFS    = 2 // UDIAG_SHOW_VFS
	udiagShowPeer   = 4 // UDIAG_SHOW_PEER
	unixDiagName    = 0 // UNIX_DIAG_NAME
	unixDiagVFS     = 1 // UNIX_DIAG_VFS: inode and device
	unixDiagPeer    = 2 // UNIX_DIAG_PEER: inode of the other end
	tcpEstablished  = 1 // the state of a connected unix socket
	tcpListen       = 10
	diagRequestSize = 24
	diagMessageSize = 16
)

// unixSocket is one socket in the kernel's list.
type unixSocket struct {
	name          string
	self          uint32 // the socket itself
	inode, device uint32 // of the file it is bound to; 0 if none
	peer          uint32 // socket at the other end; 0 if none
}

// dumpUnix asks for all unix sockets of the network namespace that are in a state.
func dumpUnix(state uint, found func(unixSocket)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return err
	}
	if err := unix.Sendto(fd, dumpRequest(state), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		sockets, done, err := parseDump(buf[:n])
		if err != nil {
			return err
		}
		for _, s := range sockets {
			found(s)
		}
		if done {
			return nil
		}
	}
}

// dumpRequest makes the request for the list.
func dumpRequest(state uint) []byte {
	const size = unix.NLMSG_HDRLEN + diagRequestSize
	b := make([]byte, 0, size)
	b = binary.NativeEndian.AppendUint32(b, size)
	b = binary.NativeEndian.AppendUint16(b, unix.SOCK_DIAG_BY_FAMILY)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b = binary.NativeEndian.AppendUint32(b, 1) // sequence
	b = binary.NativeEndian.AppendUint32(b, 0) // port: the kernel's
	b = append(b, unix.AF_UNIX, 0, 0, 0)       // family, protocol, padding
	b = binary.NativeEndian.AppendUint32(b, 1<<state)
	b = binary.NativeEndian.AppendUint32(b, 0) // inode: all
	b = binary.NativeEndian.AppendUint32(b, udiagShowName|udiagShowVFS|udiagShowPeer)
	return append(b, make([]byte, 8)...) // cookie
}

// parseDump reads one datagram of the answer; done tells that it was the last.
func parseDump(b []byte) (sockets []unixSocket, done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(b)
	if err != nil {
		return nil, false, fmt.Errorf("answer of the kernel: %w", err)
	}
	for _, m := range messages {
		switch m.Header.Type {
		case unix.NLMSG_DONE:
			return sockets, true, nil
		case unix.NLMSG_ERROR:
			if len(m.Data) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(m.Data)); code < 0 {
					return nil, false, fmt.Errorf("answer of the kernel: %w", unix.Errno(-code))
				}
			}
			return nil, false, errors.New("answer of the kernel: an error without a code")
		case unix.SOCK_DIAG_BY_FAMILY:
			if len(m.Data) < diagMessageSize {
				return nil, false, errors.New("answer of the kernel: a message that is too short")
			}
			s := parseSocket(m.Data[diagMessageSize:])
			s.self = binary.NativeEndian.Uint32(m.Data[4:])
			sockets = append(sockets, s)
		}
	}
	return sockets, false, nil
}

// parseSocket reads the attributes of one socket. What does not fit is left out.
func parseSocket(b []byte) unixSocket {
	var s unixSocket
	for len(b) >= unix.SizeofNlAttr {
		size := int(binary.NativeEndian.Uint16(b))
		if size < unix.SizeofNlAttr || size > len(b) {
			return s
		}
		value := b[unix.SizeofNlAttr:size]
		switch kind := binary.NativeEndian.Uint16(b[2:]); {
		case kind == unixDiagName:
			s.name = strings.TrimRight(string(value), "\x00")
		case kind == unixDiagVFS && len(value) >= 8:
			s.inode, s.device = binary.NativeEndian.Uint32(value), binary.NativeEndian.Uint32(value[4:])
		case kind == unixDiagPeer && len(value) >= 4:
			s.peer = binary.NativeEndian.Uint32(value)
		}
		// Attributes start at multiples of four.
		b = b[min((size+3)&^3, len(b)):]
	}
	return s
}
