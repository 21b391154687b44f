// Package binary reads what an NRI plugin needs from its executable, with no
// help from its author and without running it.
//
// It reads Go programs in ELF files for amd64 and arm64, built by Go 1.18 or
// later, stripped or not, position independent or not. Of Mach-O and PE files,
// and of other processors, it reads who the program is and leaves a gap for what
// it needs.
//
// # What it rests on
//
// Nothing here needs a symbol table or DWARF. The runtime of Go carries tables
// of all functions, of what was inlined where, and of types with their fields
// and methods. On these stand:
//
//   - handlers: the methods of the type handed to stub.New, by exact signature;
//   - calls: direct calls of API functions, and the trees of inlined ones;
//   - fields: which fields of API messages the plugin's code reads and writes,
//     by following types through registers and stack slots (see flow.go);
//   - updates: lists of them that handlers return, and calls that handlers make
//     before they return (see updates.go);
//   - the protocol: the descriptor of NRI's protocol in the program's data.
//
// That an API function is part of the program proves nothing (the linker often
// keeps all methods), nor does its absence (the compiler inlines).
//
// # What it promises
//
// A requirement means "can use": the using code is part of the program and is
// not part of NRI. Where nothing shows that it can run, it is marked unproven.
// What could not be looked at leaves a gap, so that an empty list of
// requirements without a gap means that there are none. No content of a file
// makes it panic or use memory out of proportion: it holds the loaded segments
// without the code, and a few MiB. Code is read in pieces, by as many goroutines
// as there are processors; what they find does not depend on their order.
package binary
