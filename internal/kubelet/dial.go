package kubelet

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// maxMessage bounds what a kubelet may answer. A node with thousands of devices
// lists them in less.
const maxMessage = 4 << 20

// dial makes a client for a unix socket. The path is used as it is; nothing is
// resolved and no proxy is asked. The error says that there is no such socket.
func dial(socket string) (*grpc.ClientConn, error) {
	info, err := os.Stat(socket)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s: is no socket", socket)
	}
	return grpc.NewClient("passthrough:///localhost",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	)
}

// errorMessage is what an error of a call says, cut to a length for one line.
func errorMessage(err error) string {
	const most = 300
	text := status.Convert(err).Message()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…" // not half a letter
	}
	return text
}
