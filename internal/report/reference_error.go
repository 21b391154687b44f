package report

import "strings"

// Fail notes that something could not be checked: the plugin of a reference, or
// for an empty one the check as a whole.
func (c *Check) Fail(ref string, err error) {
	text := err.Error()
	if text == "" {
		text = "unknown error"
	}
	c.Errors = append(c.Errors, ReferenceError{Ref: ref, Error: text})
}

// line words it for a person.
func (e ReferenceError) line() string {
	if e.Ref == "" || strings.HasPrefix(e.Error, e.Ref) {
		return plain(e.Error)
	}
	return plain(e.Ref) + ": " + plain(e.Error)
}
