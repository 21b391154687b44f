package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/net/html"
	"sigs.k8s.io/yaml"
)

// wellFormed checks a report by the rules of its format.
func wellFormed(f Format, text []byte) error {
	switch f {
	case YAML:
		return wellFormedDocument(text)
	case JSON:
		return errors.Join(noControls(text, "\n"), validateJSON(checkSchemaFile(), text))
	case SARIF:
		return errors.Join(noControls(text, "\n"), validateJSON(sarifSchemaFile(), text))
	case JUnit:
		return wellFormedJUnit(text)
	case CSV:
		return wellFormedCSV(text)
	case GitHub:
		return wellFormedGitHub(text)
	case HTML:
		return wellFormedHTML(text)
	}
	return noControls(text, "\n")
}

var sarifSchemaFile = sync.OnceValue(func() *jsonschema.Schema { return mustCompile("../../testdata/schema/vendor/sarif-2.1.0.json") })
var checkSchemaFile = sync.OnceValue(func() *jsonschema.Schema { return mustCompile("../../testdata/schema/check.v1.json") })

func mustCompile(path string) *jsonschema.Schema {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		panic(err)
	}
	return c.MustCompile("schema.json")
}

func validateJSON(s *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func wellFormedDocument(text []byte) error {
	text, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	return validateJSON(checkSchemaFile(), text)
}

// noControls finds what a terminal, a log or a reader could take for more than
// text.
func noControls(text []byte, allowed string) error {
	if !utf8.Valid(text) {
		return errors.New("no UTF-8")
	}
	for i, r := range string(text) {
		if unsafeRune(r) && !strings.ContainsRune(allowed, r) {
			return fmt.Errorf("control character %U at %d", r, i)
		}
	}
	return nil
}

// junitElements is the schema of JUnit XML as its readers share it (the
// Jenkins and the Surefire one): attributes and children of each element.
var junitElements = map[string]struct {
	required, optional, children []string
}{
	"testsuites": {nil, []string{"name", "tests", "failures", "errors", "skipped", "time", "disabled"}, []string{"testsuite"}},
	"testsuite": {[]string{"name", "tests", "failures", "errors"}, []string{"skipped", "time", "timestamp", "hostname", "id", "package"},
		[]string{"properties", "testcase", "system-out", "system-err"}},
	"testcase":   {[]string{"name", "classname"}, []string{"time", "file", "line"}, []string{"failure", "error", "skipped", "system-out", "system-err"}},
	"failure":    {nil, []string{"message", "type"}, nil},
	"error":      {nil, []string{"message", "type"}, nil},
	"skipped":    {nil, []string{"message"}, nil},
	"system-out": {}, "system-err": {},
}

// wellFormedJUnit checks elements, attributes and that the counts are those of
// the cases.
func wellFormedJUnit(text []byte) error {
	if err := noControls(text, "\n"); err != nil {
		return err
	}
	dec := xml.NewDecoder(bytes.NewReader(text))
	var stack []string
	for {
		token, err := dec.Token()
		if err != nil {
			if len(stack) > 0 || err.Error() != "EOF" {
				return err
			}
			break
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			e, ok := junitElements[name]
			if !ok || len(stack) == 0 && name != "testsuites" ||
				len(stack) > 0 && !slices.Contains(junitElements[stack[len(stack)-1]].children, name) {
				return fmt.Errorf("<%s> in %v", name, stack)
			}
			var have []string
			for _, a := range token.Attr {
				have = append(have, a.Name.Local)
				if !slices.Contains(append(slices.Clone(e.required), e.optional...), a.Name.Local) {
					return fmt.Errorf("attribute %s of <%s>", a.Name.Local, name)
				}
			}
			for _, a := range e.required {
				if !slices.Contains(have, a) {
					return fmt.Errorf("no attribute %s of <%s>", a, name)
				}
			}
			stack = append(stack, name)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		}
	}
	return junitCounts(text)
}

func junitCounts(text []byte) error {
	var all junitSuites
	if err := xml.Unmarshal(text, &all); err != nil {
		return err
	}
	sum := junitSuite{}
	for _, s := range all.Suites {
		counted := s
		counted.Failures, counted.Errors, counted.Skipped = 0, 0, 0
		counted.count()
		if counted.Tests != s.Tests || counted.Failures != s.Failures || counted.Errors != s.Errors || counted.Skipped != s.Skipped {
			return fmt.Errorf("suite %s counts wrongly", s.Name)
		}
		for _, c := range s.Cases {
			if c.Name == "" || c.Class == "" {
				return errors.New("a case without a name")
			}
		}
		sum.Tests, sum.Failures, sum.Errors, sum.Skipped = sum.Tests+s.Tests, sum.Failures+s.Failures, sum.Errors+s.Errors, sum.Skipped+s.Skipped
	}
	if sum.Tests != all.Tests || sum.Failures != all.Failures || sum.Errors != all.Errors || sum.Skipped != all.Skipped {
		return errors.New("the sum is wrong")
	}
	return nil
}

func wellFormedCSV(text []byte) error {
	if err := noControls(text, "\r\n"); err != nil {
		return err
	}
	r := csv.NewReader(bytes.NewReader(text))
	rows, err := r.ReadAll() // every row has as many fields as the first
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
				return fmt.Errorf("a cell like a formula: %.40q", cell)
			}
		}
	}
	return nil
}

// wellFormedGitHub checks that every line is one workflow command whose parts
// can be told apart, and that there are few.
func wellFormedGitHub(text []byte) error {
	if err := noControls(text, "\n"); err != nil {
		return err
	}
	command := regexp.MustCompile(`^::(error|warning|notice) ((file=[^,:%]*(%2C|%3A|%25|[^,:%])*,line=[0-9]+,)?title=([^,:%]|%2C|%3A|%25)+)::([^%]|%25)+$`)
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if !command.MatchString(strings.TrimSuffix(line, "\n")) {
			return fmt.Errorf("no workflow command: %.200q", line)
		}
	}
	if n == 0 || n > maxAnnotations+1 {
		return fmt.Errorf("%d annotations", n)
	}
	return nil
}

// htmlVoid are the elements without an end tag.
var htmlVoid = []string{"meta", "link", "br", "hr", "input", "img", "wbr", "col"}

// wellFormedHTML checks that elements nest, that ids are unique and links
// within the page lead somewhere, and that nothing is loaded from outside.
func wellFormedHTML(text []byte) error {
	if err := noControls(text, "\n\t"); err != nil {
		return err
	}
	var stack, links []string
	ids := map[string]bool{}
	for z := html.NewTokenizer(bytes.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.EndTagToken:
			if len(stack) == 0 || stack[len(stack)-1] != token.Data {
				return fmt.Errorf("</%s> in %v", token.Data, stack)
			}
			stack = stack[:len(stack)-1]
		case html.StartTagToken, html.SelfClosingTagToken:
			if !slices.Contains(htmlVoid, token.Data) && kind == html.StartTagToken {
				stack = append(stack, token.Data)
			}
			for _, a := range token.Attr {
				switch {
				case a.Key == "id" && ids[a.Val]:
					return fmt.Errorf("id %q twice", a.Val)
				case a.Key == "id":
					ids[a.Val] = true
				case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
					links = append(links, a.Val[1:])
				case a.Key == "src", a.Key == "style", strings.HasPrefix(a.Key, "on"):
					return fmt.Errorf("attribute %s of <%s>", a.Key, token.Data)
				case a.Key == "href" && token.Data != "a" && a.Val != "data:,":
					return fmt.Errorf("<%s> loads %s", token.Data, a.Val)
				}
			}
		}
	}
	if len(stack) > 0 {
		return fmt.Errorf("not closed: %v", stack)
	}
	for _, l := range links {
		if !ids[l] {
			return fmt.Errorf("#%s leads nowhere", l)
		}
	}
	return nil
}

// htmlShape counts the elements and attributes of a page: text that is
// escaped adds none.
func htmlShape(text []byte) string {
	count := map[string]int{}
	for z := html.NewTokenizer(bytes.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return fmt.Sprint(count) // maps print sorted
		}
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			token := z.Token()
			count[token.Data]++
			for _, a := range token.Attr {
				count[token.Data+" "+a.Key]++
			}
		}
		if kind == html.CommentToken {
			count["comment"]++
		}
	}
}
