package report

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nri-compat/nri-compat/capability"
	"github.com/nri-compat/nri-compat/inference"
)

// TestMatrixPages: a page of every kind of matrix is well-formed, small, and has
// a row and a description for everything in it.
func TestMatrixPages(t *testing.T) {
	table := inference.Builtin()
	ids := capability.All()
	runtimes, err := table.Select("containerd@>=2.0 <2.2")
	if err != nil {
		t.Fatal(err)
	}
	hostile := PluginNeeds{Name: "</script><b>\u202e\n", Needs: capability.Needs{Requirements: []capability.Requirement{{Capability: capability.AdjustCDIDevices}}}}
	unread := PluginNeeds{Name: "unread", Needs: capability.Needs{Gaps: []string{"packed"}}}
	for name, tt := range map[string]struct {
		m       *Matrix
		rows    int
		entries int
	}{
		"by line":    {NewMatrixByLine(Head{}, table, ids, nil), len(ids), len(ids)},
		"by release": {NewMatrixByRelease(Head{}, table, ids[:40], runtimes, nil), 40, 40},
		"of plugins": {NewMatrixOfPlugins(Head{}, table, []PluginNeeds{hostile, unread}, nil, nil), 2, 0},
		"of nothing": {NewMatrixByLine(Head{}, table, nil, nil), 0, 0},
	} {
		var b bytes.Buffer
		if err := Write(&b, tt.m, HTML, Style{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := wellFormed(HTML, b.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text := b.String()
		if rows, entries := strings.Count(text, " data-words="), strings.Count(text, `<section class="entry"`); rows != tt.rows || entries != tt.entries {
			t.Errorf("%s: %d rows, %d descriptions", name, rows, entries)
		}
		if len(text) > 1_000_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

// TestMatrixPageCells: each cell spans the columns it stands for, none is lost.
func TestMatrixPageCells(t *testing.T) {
	m := NewMatrixByLine(Head{}, inference.Builtin(), capability.All(), nil)
	for _, r := range m.Rows {
		n := 0
		for _, c := range m.pageRow(r, "").Cells {
			n += max(c.Span, 1)
			if len(c.Lines) == 0 || c.Lines[0].Text == "" {
				t.Errorf("%s has an empty cell", r.ID)
			}
		}
		if n != len(m.Columns) {
			t.Errorf("%s has %d columns of %d", r.ID, n, len(m.Columns))
		}
	}
}

// TestPageContrast: text can be read in both themes, by the measure of the Web
// Content Accessibility Guidelines (level AA, 4.5 to 1).
func TestPageContrast(t *testing.T) {
	text, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, _ := strings.Cut(string(text), "@media (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "\n}\n")
	colours := func(css string) map[string]string {
		out := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(css, -1) {
			out[m[1]] = m[2]
		}
		return out
	}
	for theme, css := range map[string]string{"light": light, "dark": dark} {
		c := colours(css)
		for _, pair := range [][2]string{
			{"ink", "page"}, {"ink", "card"}, {"soft", "page"}, {"soft", "card"}, {"soft", "mark"}, {"ink", "mark"}, {"accent", "page"}, {"accent", "card"}, {"no", "card"}, {"no", "mark"},
			{"yes", "yes-bg"}, {"partial", "partial-bg"}, {"conditional", "conditional-bg"}, {"missing", "missing-bg"},
			{"harmful", "harmful-bg"}, {"unknown", "unknown-bg"}, {"unknown", "card"},
		} {
			if c[pair[0]] == "" || c[pair[1]] == "" {
				t.Errorf("%s: no colour %v", theme, pair)
			} else if ratio := contrast(t, c[pair[0]], c[pair[1]]); ratio < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", theme, pair[0], pair[1], ratio)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	channel := func(shift int, weight float64) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.04045 {
			return weight * v / 12.92
		}
		return weight * math.Pow((v+0.055)/1.055, 2.4)
	}
	return channel(16, 0.2126) + channel(8, 0.7152) + channel(0, 0.0722)
}
