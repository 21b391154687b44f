package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is Chromium with a page of this program in it, and what it had to
// say about it.
type browser struct {
	ctx context.Context
	url string

	mu       sync.Mutex
	requests []string // all but the page itself
	messages []string // of the console, exceptions included
}

// newBrowser serves a page and opens it in a headless Chromium.
func newBrowser(t *testing.T, page string, scripts bool) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium: make chromium installs it on Debian")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/page.html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := &browser{url: server.URL + "/page.html"}
	b.start(t, path)
	if err := chromedp.Listen(b.ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, runtime.Enable, cdp.Empty{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	b.do(t, chromedp.Navigate(b.url), chromedp.WaitReady(chromedp.CSS("body")))
	return b
}

// start starts Chromium and opens a tab. Some starts crash in Chromium before it
// has seen a page, which says nothing about the page: they get another try.
func (b *browser) start(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	for try := 1; ; try++ {
		allocator, stop := chromedp.NewExecAllocator(ctx, append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
			chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1600, 1000),
		)...)
		tab, closeTab := chromedp.NewContext(allocator)
		err := chromedp.Do(tab)
		if err == nil {
			t.Cleanup(stop)
			t.Cleanup(closeTab)
			b.ctx = tab
			return
		}
		closeTab()
		stop()
		if try == 3 || ctx.Err() != nil {
			t.Fatal(err)
		}
		t.Logf("start %d of Chromium: %v", try, err)
	}
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		url, _, _ := strings.Cut(e.Request.URL, "#")
		if url != b.url && !strings.HasPrefix(url, "data:") {
			b.requests = append(b.requests, url)
		}
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			b.messages = append(b.messages, fmt.Sprintf("%s: %s %s", e.Type, a.Value, a.Description))
		}
	case *runtime.EventExceptionThrown:
		b.messages = append(b.messages, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.messages = append(b.messages, e.Entry.Text)
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// call sends a command of the devtools protocol.
func call[P, R any](t *testing.T, b *browser, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

// eval returns what an expression is in the page.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// quiet checks that the page did nothing but show itself.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) > 0 {
		t.Errorf("the page asked for %v", b.requests)
	}
	if len(b.messages) > 0 {
		t.Errorf("the console says %v", b.messages)
	}
}

// screenshot keeps a picture if NRI_COMPAT_SCREENSHOTS names a directory.
func (b *browser) screenshot(t *testing.T, name string, width, height int64, scheme string) {
	t.Helper()
	dir := os.Getenv("NRI_COMPAT_SCREENSHOTS")
	if dir == "" {
		return
	}
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	call(t, b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// page makes a page with the program.
func page(t *testing.T, args ...string) string {
	t.Helper()
	_, stdout, stderr := run(append(args, "-o", "html"), nil)
	if stdout == "" || stderr != "" {
		t.Fatalf("no page: %s", stderr)
	}
	return stdout
}

const shownRows = `document.querySelectorAll('.grid tbody tr[data-words]:not([hidden])').length`

func TestMatrixPageInBrowser(t *testing.T) {
	text := page(t, "matrix")
	if len(text) > 1_000_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
	b := newBrowser(t, text, true)
	all := eval[int](t, b, shownRows)
	if all < 150 {
		t.Fatalf("%d rows", all)
	}
	b.screenshot(t, "matrix-light", 1600, 1000, "light")
	b.screenshot(t, "matrix-dark", 1600, 1000, "dark")
	b.screenshot(t, "matrix-narrow", 390, 844, "light")

	t.Run("filter by text", func(t *testing.T) {
		b.do(t, chromedp.SendKeys(chromedp.CSS("#text"), "cdi dev"))
		if n := eval[int](t, b, shownRows); n < 1 || n > 10 {
			t.Errorf("%d rows", n)
		}
		if got := eval[string](t, b, `document.getElementById("count").textContent`); !strings.Contains(got, fmt.Sprintf("of %d rows", all)) {
			t.Errorf("count: %s", got)
		}
		b.do(t, chromedp.Evaluate[chromedp.Void](`text.value = ""; text.dispatchEvent(new Event("input", {bubbles: true}))`))
		if n := eval[int](t, b, shownRows); n != all {
			t.Errorf("%d of %d rows came back", n, all)
		}
	})
	t.Run("filter by kind, runtime and change", func(t *testing.T) {
		set := func(id, value string) {
			b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.type === "checkbox" ? e.checked = %q !== "" : e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})) })()`, id, value, value)))
		}
		set("kind", "SUBSCRIBE")
		n := eval[int](t, b, shownRows)
		if other := eval[int](t, b, `document.querySelectorAll('.grid tr[data-id]:not([hidden]):not([data-id^=SUBSCRIBE_])').length`); n == 0 || other != 0 {
			t.Errorf("%d rows, %d of another kind", n, other)
		}
		set("kind", "")
		set("changed", "on")
		if n := eval[int](t, b, shownRows); n == 0 || n >= all {
			t.Errorf("%d of %d rows changed", n, all)
		}
		set("changed", "")
		set("runtime", "cri-o")
		shown := `[...document.querySelector('.grid tbody tr[data-words]').cells].filter((c) => c.offsetWidth > 0).reduce((n, c) => n + c.colSpan, 0)`
		columns := `[...document.querySelectorAll('.grid thead tr:nth-child(2) th')].filter((c) => c.offsetWidth > 0).map((c) => c.dataset.runtime)`
		heads := eval[[]string](t, b, columns)
		if n := eval[int](t, b, shown); n != len(heads)+1 || len(heads) == 0 || slices.Contains(heads, "containerd") {
			t.Errorf("%d cells for %v", n, heads)
		}
		b.screenshot(t, "matrix-crio", 1600, 700, "light")
		set("runtime", "")
	})
	t.Run("time of a filter over all rows", func(t *testing.T) {
		// Each round filters everything away or back and lays the page out.
		times := eval[[]float64](t, b, `(() => { const out = []; for (let i = 0; i < 20; i++) {
			text.value = i % 2 ? "" : "sysctl"; const t0 = performance.now();
			text.dispatchEvent(new Event("input", {bubbles: true})); document.body.offsetHeight; out.push(performance.now() - t0); } return out })()`)
		var away, back []float64
		for i, ms := range times {
			if i%2 == 0 {
				away = append(away, ms)
			} else {
				back = append(back, ms)
			}
		}
		// A budget of wall time would measure what else the machine does.
		t.Logf("filter and layout, best of %d: %.1f ms away, %.1f ms back", len(away), slices.Min(away), slices.Min(back))
	})
	t.Run("click a cell", func(t *testing.T) {
		b.do(t, chromedp.Click(chromedp.CSS(`tr[data-id="ADJUST_LINUX_SYSCTL"] td.harmful a`)), chromedp.WaitVisible(chromedp.CSS("#panel")))
		got := eval[string](t, b, `document.getElementById("panel").innerText`)
		for _, want := range []string{"ADJUST_LINUX_SYSCTL", "2.2.1 to 2.2.9", "crash", "containerd v2.2"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in the panel:\n%s", want, got)
			}
		}
		if got := eval[string](t, b, `[...document.querySelectorAll("#panel tr.here td:first-child")].map((td) => td.textContent).join()`); got != "1.7.0 to 2.2.0,2.2.1 to 2.2.9" {
			t.Errorf("the releases of the cell are not marked: %s", got)
		}
		if got := eval[string](t, b, `location.hash`); got != "#ADJUST_LINUX_SYSCTL" {
			t.Errorf("the address is %s", got)
		}
		b.screenshot(t, "matrix-panel-light", 1600, 1000, "light")
		b.screenshot(t, "matrix-panel-narrow", 390, 844, "dark")
		b.do(t, chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible(chromedp.CSS("#panel")))
		for eval[string](t, b, `location.hash`) != "" { // until the page has been told that the panel is closed
		}
		if got := eval[string](t, b, `document.activeElement.closest("tr")?.dataset.id ?? ""`); got != "ADJUST_LINUX_SYSCTL" {
			t.Errorf("the focus went to %q", got)
		}
	})
	t.Run("keyboard", func(t *testing.T) {
		press := func(key string) string {
			b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true}))`, key)))
			return eval[string](t, b, `(() => { const c = document.activeElement.closest("td,th"); return c.closest("tr").dataset.id + " " + c.innerText.trim() })()`)
		}
		if got := press("Home"); got != "ADJUST_LINUX_SYSCTL ADJUST_LINUX_SYSCTL" {
			t.Errorf("home leads to %s", got)
		}
		right := press("ArrowRight")
		if !strings.HasPrefix(right, "ADJUST_LINUX_SYSCTL ") || !strings.HasSuffix(right, "dropped") {
			t.Errorf("right leads to %s", right)
		}
		if down, up := press("ArrowDown"), press("ArrowUp"); strings.HasPrefix(down, "ADJUST_LINUX_SYSCTL ") || up != right {
			t.Errorf("down leads to %s, and up again to %s", down, up)
		}
		if n := eval[int](t, b, `document.querySelectorAll('.grid tbody a[tabindex="0"]').length`); n != 1 {
			t.Errorf("%d links of the grid take the tab key", n)
		}
		b.do(t, chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true}))`))
		if got := eval[string](t, b, `document.activeElement.id`); got != "text" {
			t.Errorf("the focus is on %q", got)
		}
	})
	t.Run("permalink", func(t *testing.T) {
		b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+"#ADJUST_CDI_DEVICES"), chromedp.WaitVisible(chromedp.CSS("#panel")))
		if got := eval[string](t, b, `document.getElementById("panel-title").textContent`); got != "ADJUST_CDI_DEVICES" {
			t.Errorf("the panel shows %q", got)
		}
		b.screenshot(t, "matrix-panel-dark", 1600, 1000, "dark")
	})
	b.mu.Lock()
	b.requests = slices.DeleteFunc(b.requests, func(u string) bool { return u == "about:blank" })
	b.mu.Unlock()
	b.quiet(t)
}

// TestPagesWithoutScripts: everything is there and can be reached.
func TestPagesWithoutScripts(t *testing.T) {
	b := newBrowser(t, page(t, "matrix", "--capabilities", "ADJUST_*"), false)
	b.screenshot(t, "matrix-noscript", 1200, 1400, "light")
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#details")), chromedp.WaitNotVisible(chromedp.CSS("#tools")), chromedp.WaitNotVisible(chromedp.CSS("#panel")),
		chromedp.Click(chromedp.CSS(`tr[data-id="ADJUST_CDI_DEVICES"] td:nth-child(2) a`)), chromedp.WaitVisible(chromedp.CSS("#ADJUST_CDI_DEVICES")))
	b.quiet(t)
}

func TestCheckPageInBrowser(t *testing.T) {
	b := newBrowser(t, page(t, "check", "--requires", "ADJUST_CDI_DEVICES,ADJUST_MOUNTS,ADJUST_LINUX_SYSCTL", "--wants", "INPUT_IP_ADDRESSES",
		"--runtime", "containerd@all", "--runtime", "cri-o@1.36.3", "--runtime", "containerd@9.9.9"), true)
	b.screenshot(t, "check-light", 1400, 900, "light")
	b.screenshot(t, "check-dark", 1400, 900, "dark")
	b.screenshot(t, "check-narrow", 390, 844, "light")
	b.do(t, chromedp.Click(chromedp.CSS(`td.missing a`)), chromedp.WaitVisible(chromedp.CSS("#panel")))
	if got := eval[string](t, b, `document.getElementById("panel").innerText`); !strings.Contains(got, "Instead") {
		t.Errorf("the panel says %s", got)
	}
	b.screenshot(t, "check-panel", 1400, 900, "light")
	b.quiet(t)
}
