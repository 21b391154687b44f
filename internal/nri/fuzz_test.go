package nri

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/ttrpc"
	"google.golang.org/protobuf/proto"
)

// FuzzReadConfigure proves that an accepted introduction keeps the bounds that
// Identity promises, and that its capability mask survives encoding.
func FuzzReadConfigure(f *testing.F) {
	for _, req := range []*api.ConfigureRequest{
		introduce("containerd", "v2.2.1", nil),
		introduce("cri-o", "1.35.6", packed(1<<63, 2)),
		introduce("v2", "v2.0.2", append(unpacked(1, 2), packed(3)...)),
		{RuntimeName: "containerd", RegistrationTimeout: -1, RequestTimeout: 1 << 62, NRIVersion: "v0.12.3"},
	} {
		b, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0x12, 1, 'x', 0x3a, 1, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		var req api.ConfigureRequest
		if proto.Unmarshal(b, &req) != nil {
			return
		}
		id, err := readConfigure(&req)
		if err != nil {
			if !errors.Is(err, errIdentity) {
				t.Errorf("untyped error: %v", err)
			}
			return
		}
		if id.RuntimeName == "" || len(id.RuntimeName) > maxString || len(id.RuntimeVersion) > maxString ||
			len(id.NRIVersion) > maxString || len(id.Capabilities) > maxWords || len(id.UnknownFields) > maxWords {
			t.Errorf("out of bounds: %+v", id)
		}
		if !id.HasCapabilities && len(id.Capabilities) != 0 {
			t.Errorf("words without a mask: %v", id.Capabilities)
		}
		again, err := readConfigure(introduce("x", "", packed(id.Capabilities...)))
		if err != nil || len(again.Capabilities) != len(id.Capabilities) {
			t.Fatalf("mask %v became %v: %v", id.Capabilities, again.Capabilities, err)
		}
		for i, w := range id.Capabilities {
			if again.Capabilities[i] != w {
				t.Fatalf("mask %v became %v", id.Capabilities, again.Capabilities)
			}
		}
	})
}

// call encodes a request of ttrpc as it travels within the multiplexer.
func call(tb testing.TB, service, method string, payload []byte) []byte {
	tb.Helper()
	b, err := proto.Marshal(&ttrpc.Request{Service: service, Method: method, Payload: payload})
	if err != nil {
		tb.Fatal(err)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	header = binary.BigEndian.AppendUint32(header, 1) // stream
	return append(append(header, 1, 0), b...)         // type request, no flags
}

// FuzzFrames proves that an exchange ends with a usable answer or a typed error
// for everything that a peer can send.
func FuzzFrames(f *testing.F) {
	payload, err := proto.Marshal(introduce("containerd", "v2.2.1", packed(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame(1, call(f, pluginService, "Configure", payload)))
	f.Add(frame(1, call(f, pluginService, "Configure", []byte{0xff})))
	f.Add(frame(1, call(f, pluginService, "Synchronize", nil)))
	f.Add(frame(2, call(f, pluginService, "Configure", payload)))
	f.Add(append(frame(2, []byte("\x00\x00\x00\x02\x00\x00\x00\x01\x02\x00\x12\x00")), frame(0xffffffff, payload)...))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Add(frame(1, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer theirs.Close()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			_, _ = theirs.Write(b)
		}()
		ctx, cancel := context.WithTimeout(context.Background(), MaxTimeout)
		defer cancel()
		start := time.Now()
		req, err := exchange(ctx, ours)
		if err == nil {
			_, err = readConfigure(req)
		}
		if err != nil {
			if e := atSocket(ctx, "socket", err); e.Reason == "" || e.Detail == "" {
				t.Errorf("untyped error: %+v", e)
			}
		}
		if time.Since(start) > 2*MaxTimeout {
			t.Errorf("took %v", time.Since(start))
		}
		<-done
	})
}
