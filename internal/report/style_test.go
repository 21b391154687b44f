package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestGrid(t *testing.T) {
	var b bytes.Buffer
	err := grid(&b, Style{}, []string{"CRI-O ≥", "nriVersion", "WHY"}, [][]string{
		{"a", "plugin.Foo", strings.Repeat("long ", 40) + "end"},
		{"a longer cell", "", "x\ny\x1b[31m"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "CRI-O ≥        nriVersion  WHY\n" +
		"a              plugin.Foo  " + strings.Repeat("long ", 40) + "end\n" +
		"a longer cell              x\\x0ay\\x1b[31m\n"
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}
