package pluginlog

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func describe(e Entry) string {
	return fmt.Sprintf("%d %s %s %q %q err=%q %q", e.Line, e.Format, e.Severity, e.Source, e.Message, e.Err, e.Fields)
}

// TestTailKeepsWhatTells: of a log of any length the first and the last of what
// tells something is there, and the very end.
func TestTailKeepsWhatTells(t *testing.T) {
	var tail Tail
	io.WriteString(&tail, "2026/01/01 00:00:00 failed to dial device plugin: context deadline exceeded\n")
	for i := range 10000 {
		fmt.Fprintf(&tail, "I0101 00:00:00.000000       1 a.go:%d] working\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&tail, "E0101 00:00:00.000000       1 e.go:%d] failing\n", i)
		}
	}
	io.WriteString(&tail, "the end")
	entries := tail.Entries()
	if n := len(entries); n > keepFirst+keepTelling+keepLast+1 {
		t.Errorf("%d entries are kept", n)
	}
	if n := tail.Lines(); n != 11002 {
		t.Errorf("%d lines", n)
	}
	sources := map[string]bool{}
	for i, e := range entries {
		sources[e.Source] = true
		if i > 0 && e.Line <= entries[i-1].Line {
			t.Errorf("line %d is behind line %d", e.Line, entries[i-1].Line)
		}
	}
	for _, want := range []string{"e.go:0", "e.go:200", "e.go:9990", "e.go:9550", "a.go:9999"} {
		if !sources[want] {
			t.Errorf("%s is not there", want)
		}
	}
	if got := entries[0].Message; !strings.HasPrefix(got, "failed to dial") {
		t.Errorf("first: %q", got)
	}
	if got := entries[len(entries)-1].Message; !strings.HasSuffix(got, "working\nthe end") {
		t.Errorf("last: %q", got)
	}
}

// TestTailIsBounded: lines, messages and fields without end take no memory
// without end.
func TestTailIsBounded(t *testing.T) {
	var tail Tail
	long := strings.Repeat("x", 1<<20)
	for range 200 {
		io.WriteString(&tail, "E0101 00:00:00.000000       1 a.go:1] "+long+"\n"+strings.Repeat("more\n", 1<<14))
		io.WriteString(&tail, `E0101 00:00:00.000000       1 a.go:1] "m" err="`+long[:50000]+`" `+strings.Repeat(`key="`+long[:100]+`" `, 100)+"\n")
		io.WriteString(&tail, "2026-11-30T10:00:00.123456789Z stderr P "+long[:8000]+"\n")
	}
	for _, e := range tail.Entries() {
		size := len(e.Message) + len(e.Err) + len(e.Source)
		for _, f := range e.Fields {
			size += len(f.Key) + len(f.Value)
		}
		if limit := maxMessage + maxErr + maxFields + maxSource; size > limit {
			t.Fatalf("an entry of %d bytes: %.80s", size, describe(e))
		}
	}
}

func TestTailConcurrently(t *testing.T) {
	var tail Tail
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				io.WriteString(&tail, "E0101 00:00:00.000000       1 a.go:1] x\n")
				tail.Entries()
			}
		})
	}
	wg.Wait()
	if n := tail.Lines(); n != 800 {
		t.Errorf("%d lines", n)
	}
}

func TestScanError(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	err := Scan(io.MultiReader(strings.NewReader("one\ntwo"), iotest.ErrReader(broken)), func(Entry) { n++ })
	if !errors.Is(err, broken) || n != 2 {
		t.Errorf("%v, %d entries", err, n)
	}
}

// FuzzLog: any bytes in pieces of any size give the entries that they give at
// once; sizes are bounded, lines go up, and what is a reason is in the log.
func FuzzLog(f *testing.F) {
	for _, seed := range []string{
		"I1125 09:01:30.600494       1 plugin.go:64] gpu\nmore\n", "E0520 07:49:57.337809       1 a.go:1] \"m\" err=<\n\tone\n > k=\"v\"\n",
		`{"ts":1.5,"msg":"m","err":"e"}` + "\n", "time=\"t\" level=error msg=\"m\"\n", "panic: x\n\tpanic: y\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\nexit status 2\nafter",
		"2026-11-30T10:00:00.123456789Z stderr P a\n2026-11-30T10:00:00.123456789Z stderr F b\n", "Nov 24 13:17:41 h k[1]: x\r\n\x1b[31mERRO\x1b[0m[0008] x\n",
		`invalid plugin events: 0x7800, none of services supported by the plugin (["v1.DRAPlugin"]) are`, "2026-01-01T00:00:00.000Z\tERROR\tmain.go:12\tx\t{\"error\": \"e\"}\n",
		`E1125 09:01:40.606674       1 p.go:1] requested API version "v1beta1" is not supported by kubelet. Supported version is ["v1alpha"]`,
		`{"log":"panic: x\n","stream":"stderr","time":"t"}`, "F0520 07:49:57.337809       1 main.go:9] x\ngoroutine 1 [running]:\n\xff\xfe\x00",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, log []byte, piece uint8) {
		var whole []Entry
		if err := Scan(strings.NewReader(string(log)), func(e Entry) { whole = append(whole, e) }); err != nil {
			t.Fatal(err)
		}
		var tail Tail
		for rest := log; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			tail.Write(rest[:n])
			if piece%5 == 0 {
				tail.Entries() // looking changes nothing
			}
			rest = rest[n:]
		}
		if got := tail.Entries(); len(whole) <= keepLast && len(got)+len(whole) > 0 && !reflect.DeepEqual(got, whole) {
			t.Fatalf("in pieces of %d\n%s\nat once\n%s", int(piece)+1, show(got), show(whole))
		}
		for i, e := range whole {
			if e.Line < 1 || e.Line > strings.Count(string(log), "\n")+1 || e.Format == "" ||
				len(e.Message) > maxMessage || len(e.Err) > maxErr || len(e.Source) > maxSource || len(e.Fields) > maxPairs {
				t.Fatalf("entry %d: %s", i, describe(e))
			}
		}
		for _, r := range Reasons(whole) {
			if r.Text == "" || strings.Contains(r.Text, "\n") || len(r.Capabilities) > 0 && !r.Refusal {
				t.Fatalf("reason %q %v", r.Text, r.Capabilities)
			}
		}
	})
}
