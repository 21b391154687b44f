package pluginlog

import (
	"reflect"
	"strings"
	"testing"
)

func scanned(t *testing.T, log string) []Entry {
	t.Helper()
	var all []Entry
	if err := Scan(strings.NewReader(log), func(e Entry) { all = append(all, e) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      []Entry
	}{
		{"klog", "I1125 09:01:30.600494       1 plugin.go:64] gpu: Starting plugin server\n" +
			"E1125 09:01:40.606674 1234567 plugin.go:156] gpu: Registration failed: rpc error\n", []Entry{
			{Severity: Info, Source: "plugin.go:64", Message: "gpu: Starting plugin server", Format: Klog, Line: 1},
			{Severity: Error, Source: "plugin.go:156", Message: "gpu: Registration failed: rpc error", Format: Klog, Line: 2},
		}},
		{"klog, structured", `E0520 07:49:57.337809       1 server.go:125] "handling request failed" err="failed registration process: \"x\"" logger="registrar" requestID=8 ok=true request={"a":"b c","d":[1, 2]} empty=""` + "\n", []Entry{
			{Severity: Error, Source: "server.go:125", Message: "handling request failed", Err: `failed registration process: "x"`, Format: Klog, Line: 1,
				Fields: []Field{{"logger", "registrar"}, {"requestID", "8"}, {"ok", "true"}, {"request", `{"a":"b c","d":[1, 2]}`}, {"empty", ""}}},
		}},
		{"klog, value with line breaks", "E0520 07:49:57.337809       1 a.go:1] \"failed\" err=<\n\tone\n\t\ttwo\n > pod=\"a/b\"\nI0520 07:49:57.337809       1 a.go:2] next\n", []Entry{
			{Severity: Error, Source: "a.go:1", Message: "failed", Err: "one\n\ttwo", Fields: []Field{{"pod", "a/b"}}, Format: Klog, Line: 1},
			{Severity: Info, Source: "a.go:2", Message: "next", Format: Klog, Line: 5},
		}},
		{"klog, two values with line breaks", "I0520 07:49:57.337809       1 a.go:1] \"m\" x=<\n\t1\n\t2\n > y=<\n\t3\n\t4\n >\n", []Entry{
			{Severity: Info, Source: "a.go:1", Message: "m", Fields: []Field{{"x", "1\n2"}, {"y", "3\n4"}}, Format: Klog, Line: 1},
		}},
		{"klog, a quoted word is no structure", `W0520 07:49:57.337809       1 a.go:1] "gpu" failed: x=y` + "\n", []Entry{
			{Severity: Warning, Source: "a.go:1", Message: `"gpu" failed: x=y`, Format: Klog, Line: 1},
		}},
		{"klog, more lines of the message", "E0520 07:49:57.337809       1 a.go:1] failed:\nnvidia-smi: not found\n\nE0520 07:49:57.337809       1 a.go:2] next\n", []Entry{
			{Severity: Error, Source: "a.go:1", Message: "failed:\nnvidia-smi: not found", Format: Klog, Line: 1},
			{Severity: Error, Source: "a.go:2", Message: "next", Format: Klog, Line: 4},
		}},
		{"klog.Fatal", "F0520 07:49:57.337809       1 main.go:9] cannot go on\ngoroutine 1 [running]:\nk8s.io/klog/v2.stacks(0x1)\n\t/go/klog.go:1140 +0x8a\nmain.main()\n\t/src/main.go:9 +0x1d\ncreated by x\n\ngoroutine 6 [select, 2 minutes]:\nmain.run({0x1, 0x2})\n\t/src/main.go:20 +0x5\nexit status 255\nafter\n", []Entry{
			{Severity: Fatal, Source: "main.go:9", Message: "cannot go on", Format: Klog, Line: 1},
			{Message: "after", Format: Plain, Line: 13},
		}},
		{"what only looks like klog", "I1325 09:01:30.600494       1 plugin.go:64] month\nX1125 09:01:30.600494       1 plugin.go:64] letter\n" +
			"I1125 09:01:30.60049       1 plugin.go:64] digits\nI1125 09:01:30.600494       1 plugin.go] line\nI1125 09:01:30.600494       1 plugin.go:64]close\n" +
			"E1125 24:01:30.600494       1 plugin.go:64] hour\nI1125 09:01:30.600494  x    1 plugin.go:64] thread\n", []Entry{
			{Message: "I1325 09:01:30.600494       1 plugin.go:64] month", Format: Plain, Line: 1},
			{Message: "X1125 09:01:30.600494       1 plugin.go:64] letter", Format: Plain, Line: 2},
			{Message: "I1125 09:01:30.60049       1 plugin.go:64] digits", Format: Plain, Line: 3},
			{Message: "I1125 09:01:30.600494       1 plugin.go] line", Format: Plain, Line: 4},
			{Message: "I1125 09:01:30.600494       1 plugin.go:64]close", Format: Plain, Line: 5},
			{Message: "E1125 24:01:30.600494       1 plugin.go:64] hour", Format: Plain, Line: 6},
			{Message: "I1125 09:01:30.600494  x    1 plugin.go:64] thread", Format: Plain, Line: 7},
		}},
		{"klog's JSON", `{"ts":1732525290600.494,"caller":"gpu/plugin.go:64","msg":"Starting","v":2}` + "\n" +
			`{"ts":1732525290601.0,"caller":"gpu/plugin.go:70","msg":"Registration failed","resource":"a/b","err":"rpc error: \"x\""}` + "\n", []Entry{
			{Severity: Info, Source: "plugin.go:64", Message: "Starting", Format: JSON, Line: 1},
			{Severity: Error, Source: "plugin.go:70", Message: "Registration failed", Err: `rpc error: "x"`, Fields: []Field{{"resource", "a/b"}}, Format: JSON, Line: 2},
		}},
		{"JSON of zap, slog, logrus and kubevirt", `{"level":"fatal","ts":"2026-01-01T00:00:00Z","caller":"a/b.go:3","msg":"m","error":"e","n":1.5,"o":{"x":null},"none":null}` + "\n" +
			`{"time":"2026-01-01T00:00:00Z","level":"ERROR","source":{"function":"main.main","file":"/src/x/main.go","line":12},"msg":"m","err":"e"}` + "\n" +
			`{"level":"warning","msg":"m","time":"t"}` + "\n" +
			`{"component":"virt-handler","level":"error","msg":"Error starting tun device plugin","pos":"device_controller.go:69","reason":"error registering","timestamp":"t"}` + "\n" +
			`{"severity":"INFO","message":"m"}` + "\n", []Entry{
			{Severity: Fatal, Source: "b.go:3", Message: "m", Err: "e", Fields: []Field{{"n", "1.5"}, {"o", `{"x":null}`}, {"none", ""}}, Format: JSON, Line: 1},
			{Severity: Error, Source: "main.go:12", Message: "m", Err: "e", Format: JSON, Line: 2},
			{Severity: Warning, Message: "m", Format: JSON, Line: 3},
			{Severity: Error, Source: "device_controller.go:69", Message: "Error starting tun device plugin", Err: "error registering",
				Fields: []Field{{"component", "virt-handler"}, {"reason", "error registering"}}, Format: JSON, Line: 4},
			{Severity: Info, Message: "m", Format: JSON, Line: 5},
		}},
		{"JSON that is no log entry", `{"kind":"Pod"}` + "\n" + `{"msg":"cut` + "\n", []Entry{
			{Message: `{"kind":"Pod"}`, Format: Plain, Line: 1},
			{Message: `{"msg":"cut`, Format: Plain, Line: 2},
		}},
		{"logrus and slog", `time="2026-08-04T09:28:23+08:00" level=error msg="plugin exited" error="ttrpc: closed" pod=a/b` + "\n" +
			`time=2026-08-04T09:28:23.000+08:00 level=WARN+1 source=/src/main.go:7 msg=careful err=x` + "\n" +
			`time to go level=error` + "\n" + "level=x msg=y\n", []Entry{
			{Severity: Error, Message: "plugin exited", Err: "ttrpc: closed", Fields: []Field{{"pod", "a/b"}}, Format: Logfmt, Line: 1},
			{Severity: Warning, Source: "main.go:7", Message: "careful", Err: "x", Format: Logfmt, Line: 2},
			{Message: "time to go level=error", Format: Plain, Line: 3},
			{Message: "level=x msg=y", Format: Plain, Line: 4},
		}},
		{"at a terminal", "\x1b[31mERRO\x1b[0m[0008] Could not register device plugin: x  \n" +
			"2026-01-01T00:00:00.000Z\tERROR\tsetup\tmain.go:12\tcannot start\t{\"error\": \"e\"}\n" +
			"2026-01-01T00:00:00.000Z\tinfo\tstarted\n", []Entry{
			{Severity: Error, Message: "Could not register device plugin: x", Format: Plain, Line: 1},
			{Severity: Error, Source: "main.go:12", Message: "cannot start", Err: "e", Format: Plain, Line: 2},
			{Severity: Info, Message: "started", Format: Plain, Line: 3},
		}},
		{"plain", "2018/11/27 03:44:12 Could not register device plugin: context deadline exceeded\n2018/11/27 03:44:12.000001 main.go:7: x\nError: no\n  because of this\n\nUsage:\nwarning about nothing\n", []Entry{
			{Message: "Could not register device plugin: context deadline exceeded", Format: Plain, Line: 1},
			{Source: "main.go:7", Message: "x", Format: Plain, Line: 2},
			{Severity: Error, Message: "Error: no\n  because of this", Format: Plain, Line: 3},
			{Message: "Usage:", Format: Plain, Line: 6},
			{Message: "warning about nothing", Format: Plain, Line: 7},
		}},
		{"panic with GOTRACEBACK=system", "panic: x\n\ngoroutine 16 gp=0x1 m=3 mp=0x2 [running]:\npanic({0x1, 0x2})\n\truntime/panic.go:879 +0x16f fp=0x1 sp=0x2 pc=0x3\nruntime.mapassign_faststr(0x1?)\n\tinternal/runtime/maps/runtime_faststr.go:265 +0x54d fp=0x1 sp=0x2 pc=0x3\nmain.server.Allocate({0x40?}, 0x1?)\n\texample.com/gpu/main.go:79 +0x214 fp=0x1 sp=0x2 pc=0x3\ncreated by main.run in goroutine 10\n\texample.com/gpu/run.go:8 +0x11d\n", []Entry{
			{Severity: Fatal, Source: "main.go:79", Message: "panic: x", Format: Panic, Line: 1},
		}},
		{"panic", "starting\npanic: first [recovered]\n\tpanic: second\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1]\n\ngoroutine 1 [running]:\npanic({0x1, 0x2})\n\t/usr/go/src/runtime/panic.go:785 +0x1\nmain.(*server).run(...)\n\t/src/gpu/server.go:33\nmain.main()\n\t/src/gpu/main.go:9 +0x1d\nexit status 2\n", []Entry{
			{Message: "starting", Format: Plain, Line: 1},
			{Severity: Fatal, Source: "server.go:33", Message: "panic: first [recovered]\n\tpanic: second\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1]", Format: Panic, Line: 2},
		}},
		{"fatal error", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/src/main.go:5 +0x1\n", []Entry{
			{Severity: Fatal, Source: "main.go:5", Message: "fatal error: all goroutines are asleep - deadlock!", Format: Panic, Line: 1},
		}},
		{"signal", "SIGQUIT: quit\nPC=0x46b7e1 m=0 sigcode=0\n\ngoroutine 0 gp=0x1 m=0 mp=0x2 [idle]:\nruntime.futex()\n\t/usr/go/src/runtime/sys.s:1 +0x1\n\nrax    0xca\nrbx    0x0\n", []Entry{
			{Severity: Fatal, Message: "SIGQUIT: quit", Format: Panic, Line: 1},
		}},
		{"CRI log file", "2026-11-30T10:00:00.123456789Z stderr F E1125 09:01:40.606674       1 p.go:1] one\n" +
			"2026-11-30T10:00:00.123456789Z stderr P E1125 09:01:40.606674       1 p.go:2] tw\n2026-11-30T10:00:00.123456789Z stdout F other\n2026-11-30T10:00:00.123456789+01:00 stderr F o\n" +
			"2026-11-30T10:00:00.123456789Z stderr P open", []Entry{
			{Severity: Error, Source: "p.go:1", Message: "one\nother", Format: Klog, Line: 1},
			{Severity: Error, Source: "p.go:2", Message: "two\nopen", Format: Klog, Line: 2},
		}},
		{"kubectl and journald", "2026-11-30T10:00:00.123456789Z I1125 09:01:40.606674       1 p.go:1] one\r\n" +
			"[pod/gpu-plugin-x/plugin] W1125 09:01:40.606674       1 p.go:2] two\n" +
			"Nov 24 13:17:41 -ubuntu16 kubelet[1154]: E1124 13:17:41.949553    1154 cni.go:265] three\n" +
			"2026-11-30T10:00:00+0100 node-1 containerd[77]: time=\"t\" level=warning msg=four\n", []Entry{
			{Severity: Info, Source: "p.go:1", Message: "one", Format: Klog, Line: 1},
			{Severity: Warning, Source: "p.go:2", Message: "two", Format: Klog, Line: 2},
			{Severity: Error, Source: "cni.go:265", Message: "three", Format: Klog, Line: 3},
			{Severity: Warning, Message: "four", Format: Logfmt, Line: 4},
		}},
		{"Docker's files", `{"log":"E1125 09:01:40.606674       1 p.go:1] one\n","stream":"stderr","time":"2026-11-30T10:00:00.1Z"}` + "\n", []Entry{
			{Severity: Error, Source: "p.go:1", Message: "one", Format: Klog, Line: 1},
		}},
		{"nothing", "\n\n  \n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scanned(t, c.log)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", show(got), show(c.want))
			}
		})
	}
}

func show(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(describe(e) + "\n")
	}
	return b.String()
}
