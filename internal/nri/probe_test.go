package nri

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// unpacked encodes a capability mask as one field a word.
func unpacked(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = protowire.AppendTag(b, capabilitiesField, protowire.VarintType)
		b = protowire.AppendVarint(b, w)
	}
	return b
}

// packed encodes a capability mask as one field.
func packed(words ...uint64) []byte {
	var list []byte
	for _, w := range words {
		list = protowire.AppendVarint(list, w)
	}
	b := protowire.AppendTag(nil, capabilitiesField, protowire.BytesType)
	return protowire.AppendBytes(b, list)
}

// introduce makes a Configure request with unknown fields.
func introduce(name, version string, unknown []byte) *api.ConfigureRequest {
	req := &api.ConfigureRequest{RuntimeName: name, RuntimeVersion: version}
	req.ProtoReflect().SetUnknown(unknown)
	return req
}

func TestProbe(t *testing.T) {
	twoWords := []uint64{1<<41 | 1, 1 << 63}
	tests := map[string]struct {
		request *api.ConfigureRequest
		eager   bool
		want    Identity
	}{
		"before NRI v0.7.0": {
			request: introduce("cri-o", "1.31.13", nil),
			want:    Identity{RuntimeName: "cri-o", RuntimeVersion: "1.31.13", Bracket: Bracket{Before: "v0.7.0"}},
		},
		"before NRI v0.12.0": {
			request: &api.ConfigureRequest{RuntimeName: "v2", RuntimeVersion: "v2.0.2", RegistrationTimeout: 5000, RequestTimeout: 2000},
			want: Identity{
				RuntimeName: "v2", RuntimeVersion: "v2.0.2",
				RegistrationTimeout: 5 * time.Second, RequestTimeout: 2 * time.Second,
				Bracket: Bracket{From: "v0.7.0", Before: "v0.12.0"},
			},
		},
		"NRI version": {
			request: &api.ConfigureRequest{RuntimeName: "containerd", RuntimeVersion: "v2.4.2", NRIVersion: "v0.12.3", RegistrationTimeout: 5000, RequestTimeout: 2000},
			want: Identity{
				RuntimeName: "containerd", RuntimeVersion: "v2.4.2", NRIVersion: "v0.12.3",
				RegistrationTimeout: 5 * time.Second, RequestTimeout: 2 * time.Second,
				Bracket: Bracket{From: "v0.12.0"},
			},
		},
		"Configure before registration": {
			request: introduce("containerd", "1.7.20", nil),
			eager:   true,
			want:    Identity{RuntimeName: "containerd", RuntimeVersion: "1.7.20", Bracket: Bracket{Before: "v0.7.0"}},
		},
		"no version": {
			request: introduce("containerd", "", nil),
			want:    Identity{RuntimeName: "containerd", Bracket: Bracket{Before: "v0.7.0"}},
		},
		"control characters are kept": {
			request: introduce("containerd", "1.7.20\x1b[2J\n\u202e", nil),
			want:    Identity{RuntimeName: "containerd", RuntimeVersion: "1.7.20\x1b[2J\n\u202e", Bracket: Bracket{Before: "v0.7.0"}},
		},
		"mask in one field": {
			request: introduce("containerd", "v3", packed(0x7ffffff)),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3", HasCapabilities: true,
				Capabilities: []uint64{0x7ffffff}, Bracket: Bracket{Before: "v0.7.0"}},
		},
		"mask of more words than known": {
			request: introduce("containerd", "v3", packed(twoWords...)),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3", HasCapabilities: true,
				Capabilities: twoWords, Bracket: Bracket{Before: "v0.7.0"}},
		},
		"mask in several fields": {
			request: introduce("containerd", "v3", unpacked(twoWords...)),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3", HasCapabilities: true,
				Capabilities: twoWords, Bracket: Bracket{Before: "v0.7.0"}},
		},
		"mask in both forms": {
			request: introduce("containerd", "v3", append(unpacked(1), packed(2, 3)...)),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3", HasCapabilities: true,
				Capabilities: []uint64{1, 2, 3}, Bracket: Bracket{Before: "v0.7.0"}},
		},
		"mask without a word is a mask": {
			request: introduce("containerd", "v3", packed()),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3", HasCapabilities: true,
				Bracket: Bracket{Before: "v0.7.0"}},
		},
		"other unknown fields": {
			request: introduce("containerd", "v3", protowire.AppendFixed64(protowire.AppendTag(packed(1), 9, protowire.Fixed64Type), 1)),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3", HasCapabilities: true,
				Capabilities: []uint64{1}, UnknownFields: []int32{9}, Bracket: Bracket{Before: "v0.7.0"}},
		},
		"field 7 that is no mask": {
			request: introduce("containerd", "v3", protowire.AppendFixed64(protowire.AppendTag(nil, 7, protowire.Fixed64Type), 1)),
			want: Identity{RuntimeName: "containerd", RuntimeVersion: "v3",
				UnknownFields: []int32{7}, Bracket: Bracket{Before: "v0.7.0"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := &handmade{request: test.request, eager: test.eager}
			socket := listen(t, h.serve)
			got, err := Probe(t.Context(), Options{Socket: socket})
			if err != nil {
				t.Fatal(err)
			}
			test.want.Socket = socket
			test.want.LogLines = got.LogLines // Compared with real logs in real_test.go.
			if runtime.GOOS == "linux" {
				test.want.Peer = &Peer{PID: os.Getpid(), UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.masks) != 0 {
				t.Errorf("event masks returned: %v", h.masks)
			}
			if !test.eager && cmp.Diff([]string{"99-nri-compat-probe"}, h.plugins) != "" {
				t.Errorf("registered as %q", h.plugins)
			}
		})
	}
}

// TestFarewell proves that the runtime gets the whole answer before the probe
// hangs up.
func TestFarewell(t *testing.T) {
	h := &handmade{request: introduce("containerd", "v2.2.1", nil)}
	socket := listen(t, h.serve)
	for range 50 {
		if _, err := Probe(t.Context(), Options{Socket: socket}); err != nil {
			t.Fatal(err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, err := range h.answers {
		if st, ok := status.FromError(err); !ok || st.Code() != codes.Unknown || st.Message() != Farewell {
			t.Fatalf("Configure was answered with %v", err)
		}
	}
}

// frame makes one frame of the multiplexer.
func frame(conn uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, conn)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// write makes a peer that sends bytes and then waits for the other side to leave.
func write(b []byte) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Write(b)
		_, _ = io.Copy(io.Discard, conn)
	}
}

func TestProbeFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stale := socketPath(t)
	l, err := net.Listen("unix", stale)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	introducing := func(name, version string) string {
		return listen(t, (&handmade{request: introduce(name, version, nil)}).serve)
	}
	badUTF8 := &handmade{request: introduce("containerd", "v3", protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), "\xff"))}

	tests := map[string]struct {
		socket string
		reason Reason
		text   string // a part of the error's text
	}{
		"nothing there":           {filepath.Join(t.TempDir(), "none"), NoSocket, "no such socket: NRI is off"},
		"below a file":            {filepath.Join(file, "nri.sock"), NoSocket, "no such socket"},
		"a file":                  {file, NotSocket, "is a regular file, not a socket"},
		"a directory":             {t.TempDir(), NotSocket, "is a directory, not a socket"},
		"a path that is too long": {"/" + strings.Repeat("x", 200), NoSocket, "no such socket"},
		"nobody listens":          {stale, Refused, "nobody listens on this socket"},
		"never answers":           {listen(t, write(nil)), NoAnswer, "no introduction in time"},
		"closes at once":          {listen(t, func(net.Conn) {}), Closed, "hung up before it introduced itself"},
		"5 MB frame":              {listen(t, write(frame(1, make([]byte, 5<<20)))), NotNRI, "frame payload 5242880 bytes"},
		"5 MB in frames":          {listen(t, write(bytes.Repeat(frame(9, make([]byte, 1<<10)), 5<<10))), NotNRI, "more than 65536 bytes"},
		"5 MB to the watcher":     {listen(t, write(bytes.Repeat(frame(0xffffffff, make([]byte, 1<<10)), 5<<10))), NotNRI, "more than 65536 bytes"},
		"flood of empty frames":   {listen(t, write(bytes.Repeat(frame(1, nil), 100_000))), NotNRI, ""},
		"garbage":                 {listen(t, write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))), NotNRI, "does not speak NRI"},
		"half a frame":            {listen(t, write(frame(1, make([]byte, 100))[:50])), NoAnswer, ""},
		"empty name":              {introducing("", "v2.2.1"), BadIdentity, "runtime name: empty"},
		"long name":               {introducing(strings.Repeat("x", 257), "v2.2.1"), BadIdentity, "runtime name: 257 bytes long, at most 256"},
		"name of 1 MB":            {introducing(strings.Repeat("x", 1<<20), "v2.2.1"), NotNRI, "more than 65536 bytes"},
		"long version":            {introducing("containerd", strings.Repeat("x", 300)), BadIdentity, "runtime version: 300 bytes long"},
		"not UTF-8":               {listen(t, badUTF8.serve), BadIdentity, "cannot be read"},
		"mask cut off": {listen(t, (&handmade{request: introduce("containerd", "v3",
			protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), []byte{0x80}))}).serve), BadIdentity, "capability mask"},
		"mask of 2000 words":   {listen(t, (&handmade{request: introduce("containerd", "v3", packed(make([]uint64, 2000)...))}).serve), BadIdentity, "more than 1024 words"},
		"registration refused": {listen(t, (&handmade{refuse: errors.New("no more plugins")}).serve), Rejected, "no more plugins"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := resources(t)
			_, err := Probe(t.Context(), Options{Socket: test.socket, Timeout: 300 * time.Millisecond})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v, want an *Error", err)
			}
			if test.reason != "" && e.Reason != test.reason {
				t.Errorf("reason is %s, want %s: %v", e.Reason, test.reason, err)
			}
			if !strings.HasPrefix(err.Error(), test.socket+": ") || !strings.Contains(err.Error(), test.text) ||
				strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 600 {
				t.Errorf("error is %.700q, want one line with %q", err, test.text)
			}
			settled(t, before)
		})
	}
}

func TestProbeCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	socket := listen(t, func(c net.Conn) {
		cancel()
		_, _ = io.Copy(io.Discard, c)
	})
	_, err := Probe(ctx, Options{Socket: socket})
	var e *Error
	if !errors.As(err, &e) || e.Reason != Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestProbeFirst(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.sock")
	live := listen(t, (&handmade{request: introduce("cri-o", "1.26.1", nil)}).serve)
	closing := listen(t, func(net.Conn) {})
	id, err := probeFirst(t.Context(), []string{none, live})
	if err != nil || id.Socket != live {
		t.Errorf("probed %q: %v", id.Socket, err)
	}
	var e *Error
	if _, err := probeFirst(t.Context(), []string{none, none + "2"}); !errors.As(err, &e) || e.Socket != none || e.Reason != NoSocket {
		t.Errorf("no socket: %v", err)
	}
	// A runtime that is there but broken is not passed over.
	if _, err := probeFirst(t.Context(), []string{closing, live}); !errors.As(err, &e) || e.Socket != closing || e.Reason != Closed {
		t.Errorf("broken first: %v", err)
	}
}

func TestBracketString(t *testing.T) {
	for b, want := range map[Bracket]string{
		beforeTimeouts: "before v0.7.0",
		withTimeouts:   "v0.7.0 to v0.11.0",
		withVersion:    "v0.12.0 or later",
		{}:             "any version",
	} {
		if got := b.String(); got != want {
			t.Errorf("%#v is %q, want %q", b, got, want)
		}
	}
}
