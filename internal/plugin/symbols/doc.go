// Package symbols says what each exported symbol of NRI's Go packages pkg/api
// and pkg/stub shows about the capabilities that a plugin using it depends on.
// The readers of package plugin share it, so that a binary and its source are
// judged alike.
//
// A reader collects [Use] values (this field is read there, that method is
// called here) and the handlers it found, and [Requirements] makes of them what
// the plugin needs.
//
// Data that every runtime release with NRI hands out (names, identifiers,
// labels, annotations) has no entry: its use tells nothing apart. The same goes
// for the handler Synchronize, which every release calls.
//
// The facts were read from every release of the NRI library, v0.2.0 to v0.12.5.
package symbols
