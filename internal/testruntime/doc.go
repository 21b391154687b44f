// Package testruntime builds and starts real container runtimes, the half of a real
// kubelet that device plugins meet, and a real plugin, for tests. Nothing but tests uses it.
//
// It builds the modules under testdata/runtimes with the ordinary Go client into
// .cache/runtimes of the repository, which git ignores; what is up to date there
// is not linked again. Everything it starts has a directory of its own, writes
// its log as JSON, ends with the test and, if the test failed, shows its log.
package testruntime
