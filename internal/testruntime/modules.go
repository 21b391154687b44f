package testruntime

import "regexp"

var refused = regexp.MustCompile(`403 Forbidden|404 Not Found|410 Gone|module lookup disabled|dial tcp`)

// ModuleRefused tells from what the go command printed that a module could not
// be downloaded, which is no fault of what was to be built.
func ModuleRefused(text string) bool { return refused.MatchString(text) }
