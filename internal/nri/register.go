package nri

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// The part of the ttrpc protocol that one call needs. The library's client is not
// used because it writes what it dislikes about the other side to the process's
// standard error, and there is no way to stop it.
const (
	ttrpcHeader   = 10 // length (4), stream (4), type, flags
	ttrpcRequest  = 1
	ttrpcResponse = 2
	runtimeStream = 1
)

// register calls RegisterPlugin over the connection to the runtime's service and
// waits for the answer. An answer that refuses is an errRejected; every other
// error means that the connection has ended or was not understood.
func register(runtime net.Conn) error {
	payload, err := proto.Marshal(&api.RegisterPluginRequest{PluginName: PluginName, PluginIdx: PluginIndex})
	if err != nil {
		return fmt.Errorf("encode registration: %w", err)
	}
	request, err := proto.Marshal(&ttrpc.Request{Service: runtimeService, Method: "RegisterPlugin", Payload: payload})
	if err != nil {
		return fmt.Errorf("encode registration: %w", err)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(request)))
	b = binary.BigEndian.AppendUint32(b, runtimeStream)
	b = append(b, ttrpcRequest, 0)
	if _, err := runtime.Write(append(b, request...)); err != nil {
		return fmt.Errorf("send registration: %w", err)
	}

	// A frame has to fit into the buffer, and none can be longer than all traffic.
	in := bufio.NewReaderSize(runtime, maxTraffic)
	var header [ttrpcHeader]byte
	for {
		if _, err := io.ReadFull(in, header[:]); err != nil {
			return fmt.Errorf("answer to registration: %w", err)
		}
		size := binary.BigEndian.Uint32(header[:])
		if size > maxTraffic {
			return fmt.Errorf("answer to registration: %d bytes long, at most %d are read", size, maxTraffic)
		}
		answer := make([]byte, size)
		if _, err := io.ReadFull(in, answer); err != nil {
			return fmt.Errorf("answer to registration: %w", err)
		}
		if header[8] != ttrpcResponse || binary.BigEndian.Uint32(header[4:]) != runtimeStream {
			continue // No answer to the only call there is.
		}
		var response ttrpc.Response
		if err := proto.Unmarshal(answer, &response); err != nil {
			return fmt.Errorf("answer to registration: %w", err)
		}
		if st := response.GetStatus(); st.GetCode() != int32(codes.OK) {
			return fmt.Errorf("%w: %s: %.200q", errRejected, codes.Code(st.GetCode()), st.GetMessage())
		}
		return nil
	}
}
